// SPDX-License-Identifier: BSD-3-Clause
//
// Lines are split into words as in Redis, and a quoted word is restored exactly.
#include "base/words.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

using Words = std::vector<std::string>;

TEST(WordsTest, BlanksAndQuotesSplitAsInRedis) {
  EXPECT_EQ(SplitWords(""), Words());
  EXPECT_EQ(SplitWords(" \t\r\n"), Words());
  EXPECT_EQ(SplitWords(" a  bc\td "), (Words{"a", "bc", "d"}));
  EXPECT_EQ(SplitWords("\"a b\" ''"), (Words{"a b", ""}));
  EXPECT_EQ(SplitWords("\"\\x41\\n\\q\\\"\" 'it\\'s \\n'"), (Words{"A\nq\"", "it's \\n"}));
  EXPECT_EQ(SplitWords("\"\\x4g\""), (Words{"x4g"}));
  EXPECT_EQ(SplitWords("pre\"quoted\""), (Words{"prequoted"}));
  EXPECT_EQ(SplitWords(std::string_view("a\0b", 3)), (Words{"a"}));
}

TEST(WordsTest, UnbalancedQuotesAreRefused) {
  for (const char* line : {"\"", "'", "\"a", "'a", "\"a\"b", "'a'b", "\"a\\\"", "'a\\'"}) {
    EXPECT_EQ(SplitWords(line), std::nullopt) << line;
  }
}

TEST(WordsTest, AnyBytesAreRestoredFromQuotes) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  for (const std::string& word : {all, std::string(), std::string("plain"), std::string("a\0b", 3)}) {
    EXPECT_EQ(SplitWords(QuoteWord(word)), Words{word});
    EXPECT_EQ(SplitWords(QuoteWordIfNeeded(word)), Words{word});
  }
  EXPECT_EQ(QuoteWordIfNeeded("plain-word:1"), "plain-word:1");
}

TEST(WordsTest, AnyBytesAreShownAndLongWordsCut) {
  EXPECT_EQ(ShowWord("plain-word:1"), "plain-word:1");
  EXPECT_EQ(ShowWord("a\x1b[2J"), "\"a\\x1b[2J\"");
  EXPECT_EQ(ShowWord(std::string(300, 'n')), std::string(128, 'n') + "...");
}

}  // namespace
}  // namespace cairn
