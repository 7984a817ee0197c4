// SPDX-License-Identifier: BSD-3-Clause
//
// The options that the SCAN family accepts, and the errors for others.
#include "command/scan_options.h"

#include <gtest/gtest.h>

#include <vector>

namespace cairn {
namespace {

using Words = std::vector<std::string_view>;

Result<ScanOptions> Parse(const Words& words, ScanOf of = ScanOf::kKeys) {
  Words argv = {"scan"};
  argv.insert(argv.end(), words.begin(), words.end());
  Args args(argv);
  return ParseScanOptions(args, of);
}

Result<uint64_t> ParseCursor(std::string_view text) {
  const Words argv = {"scan", text};
  Args args(argv);
  return ParseScanCursor(args);
}

TEST(ScanOptions, AreOptionalAndInAnyOrder) {
  const auto none = Parse({});
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->count, 10u);
  EXPECT_TRUE(none->Matches("anything"));

  const auto all = Parse({"TYPE", "Hash", "count", "3", "Match", "a*"});
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->count, 3u);
  EXPECT_EQ(all->type, Type::kHash);
  EXPECT_TRUE(all->Matches("ab"));
  EXPECT_FALSE(all->Matches("b"));
}

TEST(ScanOptions, AnUnknownTypeMatchesNothing) {
  const auto options = Parse({"type", "tree"});
  ASSERT_TRUE(options.ok());
  EXPECT_TRUE(options->has_type);
  EXPECT_EQ(options->type, Type::kNone);
}

TEST(ScanOptions, RefuseTheOptionsThatRedisRefuses) {
  EXPECT_EQ(Parse({"count"}).status().text(), errors::kSyntax);
  EXPECT_EQ(Parse({"count", "0"}).status().text(), errors::kSyntax);
  EXPECT_EQ(Parse({"count", "many"}).status().text(), errors::kNotAnInteger);
  EXPECT_EQ(Parse({"match", "a", "match"}).status().text(), errors::kSyntax);
  EXPECT_EQ(Parse({"type", "hash"}, ScanOf::kMembers).status().text(), errors::kSyntax);
}

// Redis reads cursors with strtoul, so a sign is allowed; some clients rely on an empty cursor being zero.
TEST(ScanCursor, IsReadLikeStrtoul) {
  EXPECT_EQ(*ParseCursor("0"), 0u);
  EXPECT_EQ(*ParseCursor(""), 0u);
  EXPECT_EQ(*ParseCursor("+7"), 7u);
  EXPECT_EQ(*ParseCursor("-1"), UINT64_MAX);
  EXPECT_EQ(*ParseCursor("18446744073709551615"), UINT64_MAX);
  for (const std::string_view bad : {"-", "x", " 1", "1 ", "1x", "18446744073709551616"}) {
    EXPECT_EQ(ParseCursor(bad).status().text(), errors::kInvalidCursor) << "\"" << bad << "\"";
  }
}

}  // namespace
}  // namespace cairn
