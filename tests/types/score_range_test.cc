// SPDX-License-Identifier: BSD-3-Clause
//
// Bounds are parsed as Redis parses them, including its oddities.
#include "types/score_range.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ScoreRange, ReadsNumbersAndParentheses) {
  const auto range = ParseScoreRange("(1.5", "3e2");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->min, 1.5);
  EXPECT_TRUE(range->min_exclusive);
  EXPECT_EQ(range->max, 300);
  EXPECT_FALSE(range->max_exclusive);
  EXPECT_FALSE(range->ReachesMin(1.5));
  EXPECT_TRUE(range->ReachesMax(300));
}

TEST(ScoreRange, ReadsInfinities) {
  const auto range = ParseScoreRange("-inf", "(+INF");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->min, -kInfinity);
  EXPECT_EQ(range->max, kInfinity);
  EXPECT_TRUE(range->ReachesMin(-kInfinity));
  EXPECT_FALSE(range->ReachesMax(kInfinity));
}

// strtod reads an empty text as 0, and a number that is too large as infinite.
TEST(ScoreRange, IsAsLenientAsRedis) {
  const auto range = ParseScoreRange("", "1e999");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->min, 0);
  EXPECT_EQ(range->max, kInfinity);
}

TEST(ScoreRange, RefusesTextsThatAreNotNumbers) {
  for (const char* bad : {"nan", "(nan", "abc", "1a", "((1", "[1", "1 "}) {
    EXPECT_FALSE(ParseScoreRange(bad, "1")) << bad;
    EXPECT_FALSE(ParseScoreRange("1", bad)) << bad;
  }
}

TEST(LexRange, ReadsTheFourKindsOfBounds) {
  const auto range = ParseLexRange("-", "+");
  ASSERT_TRUE(range);
  EXPECT_TRUE(range->ReachesMin(""));
  EXPECT_TRUE(range->ReachesMax("\xff\xff"));
  const auto inner = ParseLexRange("[b", "(d");
  ASSERT_TRUE(inner);
  EXPECT_TRUE(inner->ReachesMin("b"));
  EXPECT_FALSE(inner->ReachesMin("a"));
  EXPECT_TRUE(inner->ReachesMax("cz"));
  EXPECT_FALSE(inner->ReachesMax("d"));
}

TEST(LexRange, RefusesABoundWithoutASign) {
  for (const char* bad : {"", "b", "++", "-x", "5"}) {
    EXPECT_FALSE(ParseLexRange(bad, "+")) << bad;
    EXPECT_FALSE(ParseLexRange("-", bad)) << bad;
  }
}

TEST(LexRange, DetectsEmptyIntervals) {
  const char* const kEmpty[][2] = {{"+", "-"},   {"+", "+"},   {"-", "-"}, {"[b", "[a"},
                                   {"(a", "[a"}, {"[a", "(a"}, {"[a", "-"}};
  for (const auto& [min, max] : kEmpty) EXPECT_TRUE(ParseLexRange(min, max)->IsEmpty()) << min << max;
  EXPECT_FALSE(ParseLexRange("[a", "[a")->IsEmpty());
  EXPECT_FALSE(ParseLexRange("(", "+")->IsEmpty());
}

}  // namespace
}  // namespace cairn
