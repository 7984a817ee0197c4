// SPDX-License-Identifier: BSD-3-Clause
//
// Globs match as in Redis, with its oddities, and no pattern makes the time explode.
#include "base/glob.h"

#include <gtest/gtest.h>

#include <string>

#include "base/clock.h"
#include "base/random.h"

namespace cairn {
namespace {

struct Case {
  std::string_view pattern;
  std::string_view text;
  bool matches;
};

void Expect(const Case& c, LetterCase letters = LetterCase::kExact) {
  EXPECT_EQ(GlobMatches(c.pattern, c.text, letters), c.matches)
      << "pattern \"" << c.pattern << "\", text \"" << c.text << "\"";
}

TEST(Glob, MatchesTheWholeText) {
  Expect({"abc", "abc", true});
  Expect({"abc", "abcd", false});
  Expect({"abcd", "abc", false});
  Expect({"a?c", "abc", true});
  Expect({"a?c", "ac", false});
  Expect({"a*c", "ac", true});
  Expect({"a*c", "abbbc", true});
  Expect({"a*c", "abbbcd", false});
  Expect({"*a*b*", "xxaxxbxx", true});
  Expect({"*a*b*", "xxbxxaxx", false});
  Expect({"*abc", "ababc", true});
}

TEST(Glob, ReadsClasses) {
  Expect({"h[ae]llo", "hello", true});
  Expect({"h[ae]llo", "hillo", false});
  Expect({"h[^e]llo", "hallo", true});
  Expect({"h[^e]llo", "hello", false});
  Expect({"h[a-b]llo", "hbllo", true});
  Expect({"h[b-a]llo", "hallo", true});
  Expect({"[a\\]b]", "]", true});
  Expect({"[a\\-z]", "m", false});
  Expect({"[a\\-z]", "-", true});
  Expect({"[--0]", ".", true});
  Expect({"x[]y", "xy", false});
}

// As in Redis, an unfinished class ends with the pattern, and an unfinished escape is a backslash.
TEST(Glob, AcceptsUnfinishedClassesAndEscapes) {
  Expect({"[ab", "b", true});
  Expect({"[ab", "c", false});
  Expect({"[", "[", false});
  Expect({"[^", "x", true});
  Expect({"[a-", "-", true});
  Expect({"a\\", "a\\", true});
  Expect({"a\\", "a", false});
}

TEST(Glob, TakesEscapedBytesLiterally) {
  Expect({"a\\*c", "a*c", true});
  Expect({"a\\*c", "abc", false});
  Expect({"\\[a]", "[a]", true});
  Expect({"\\?", "?", true});
  Expect({"\\?", "x", false});
}

// Redis's matcher ignores the pattern if the text is empty.
TEST(Glob, MatchesEmptyTextByTheEmptyPatternOnly) {
  Expect({"", "", true});
  Expect({"*", "", false});
  Expect({"**", "", false});
  Expect({"", "a", false});
}

TEST(Glob, IgnoresCaseWhenAsked) {
  Expect({"GET*", "getrange", true}, LetterCase::kIgnore);
  Expect({"GET*", "getrange", false});
  Expect({"[A-C]x", "bX", true}, LetterCase::kIgnore);
  Expect({"[A-C]x", "dX", false}, LetterCase::kIgnore);
}

TEST(Glob, HoldsBytesOfAllValues) {
  using std::string_view_literals::operator""sv;
  Expect({"a\0*"sv, "a\0b"sv, true});
  Expect({"\xff?", "\xff\xfe", true});
  Expect({"[\xf0-\xff]", "\xf8", true});
}

// The plain recursive definition: exponential, but obviously right.
bool Obvious(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    return Obvious(pattern.substr(1), text) || (!text.empty() && Obvious(pattern, text.substr(1)));
  }
  return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) && Obvious(pattern.substr(1), text.substr(1));
}

TEST(Glob, AgreesWithTheObviousDefinition) {
  Random random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string pattern;
    std::string text;
    for (uint64_t n = random.Below(9); n > 0; --n) pattern += "ab*?"[random.Below(4)];
    for (uint64_t n = 1 + random.Below(7); n > 0; --n) text += "ab"[random.Below(2)];
    Expect({pattern, text, Obvious(pattern, text)});
  }
}

// What follows the last star is compared with the end of the text, whatever its elements are.
TEST(Glob, MatchesTheEndOnce) {
  Expect({"a*b[x-z]", "abbby", true});
  Expect({"a*b[x-z]", "abbya", false});
  Expect({"*\\**[a]?", "x*yab", true});
  Expect({"*abc", "bc", false});
  Expect({"*a*aa", "aa", false});
  Expect({"*a*aa", "aaa", true});
  Expect({"*[a", "ba", true});
  const std::string most(2'000'000, 'a');
  const int64_t start_us = MonotonicUs();
  EXPECT_FALSE(GlobMatches("*" + most + "b", most + most));
  EXPECT_LT(MonotonicUs() - start_us, 5'000'000);
}

// A matcher that backtracks to every star would need longer than the age of the universe.
TEST(Glob, IsQuickWithHostilePatterns) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "a*";
  pattern += "b";
  const std::string text(20000, 'a');
  const int64_t start_us = MonotonicUs();
  EXPECT_FALSE(GlobMatches(pattern, text));
  EXPECT_LT(MonotonicUs() - start_us, 5'000'000);
}

}  // namespace
}  // namespace cairn
