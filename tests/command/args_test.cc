// SPDX-License-Identifier: BSD-3-Clause
//
// Args: the first invalid argument is reported, and later ones change nothing.
#include "command/args.h"

#include <gtest/gtest.h>

#include <vector>

namespace cairn {
namespace {

using Words = std::vector<std::string_view>;

TEST(Args, ReadsFromLeftToRight) {
  const Words words = {"set", "k", "12", "1.5", "nx"};
  Args args(words);
  EXPECT_EQ(args.Bytes(), "k");
  EXPECT_EQ(args.Integer(), 12);
  EXPECT_EQ(args.Float(), 1.5);
  EXPECT_FALSE(args.Keyword("xx"));
  EXPECT_TRUE(args.Keyword("NX"));
  EXPECT_FALSE(args.More());
  EXPECT_TRUE(args.Done().ok());
}

TEST(Args, ReportsTheFirstErrorOnly) {
  const Words words = {"x", "abc", "def", "left over"};
  Args args(words);
  EXPECT_EQ(args.Integer(), 0);
  EXPECT_EQ(args.Float(), 0);
  EXPECT_EQ(args.left(), 0u);
  args.Fail("ERR another");
  EXPECT_EQ(args.Done().text(), errors::kNotAnInteger);
}

TEST(Args, ReportsMissingAndSuperfluousArgumentsAsASyntaxError) {
  const Words none = {"x"};
  Args missing(none);
  EXPECT_EQ(missing.Bytes(), "");
  EXPECT_EQ(missing.Done().text(), errors::kSyntax);
  const Words one = {"x", "y"};
  EXPECT_EQ(Args(one).Done().text(), errors::kSyntax);
  EXPECT_TRUE(Args(one).Check().ok());
}

TEST(Args, RefusesIntegersThatAreNotCanonical) {
  for (const std::string_view text : {"", " 1", "1 ", "+1", "01", "-0", "1e3", "0x1", "9223372036854775808"}) {
    const Words words = {"x", text};
    Args args(words);
    args.Integer();
    EXPECT_EQ(args.Done().text(), errors::kNotAnInteger) << "\"" << text << "\"";
  }
}

TEST(Args, RefusesIntegersOutOfRangeWithTheGivenText) {
  const Words words = {"x", "11"};
  Args args(words);
  args.IntegerIn(0, 10, "ERR too much");
  EXPECT_EQ(args.Done().text(), "ERR too much");
}

}  // namespace
}  // namespace cairn
