// SPDX-License-Identifier: BSD-3-Clause
//
// A usage line fully describes its arguments.
#include "command/syntax.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

std::string Describe(const std::vector<Argument>& arguments);

// One argument in a notation that shows every field: name/type(inner){token}@spec?*+
std::string Describe(const Argument& argument) {
  std::string text = argument.name + "/" + std::string(ArgumentTypeName(argument.type));
  if (!argument.arguments.empty()) text += "(" + Describe(argument.arguments) + ")";
  if (!argument.token.empty()) text += "{" + argument.token + "}";
  if (argument.key_spec >= 0) text += "@" + std::to_string(argument.key_spec);
  if (argument.optional) text += "?";
  if (argument.multiple) text += "*";
  if (argument.multiple_token) text += "+";
  return text;
}

std::string Describe(const std::vector<Argument>& arguments) {
  std::string text;
  for (const Argument& argument : arguments) text += (text.empty() ? "" : " ") + Describe(argument);
  return text;
}

std::string Parse(CommandRow row) {
  const auto arguments = ParseSyntax(row);
  return arguments.ok() ? Describe(*arguments) : "error: " + std::string(arguments.status().text());
}

std::string Parse(std::string_view syntax) { return Parse(CommandRow{.syntax = syntax}); }

TEST(Syntax, NamesArgumentsAndInfersTheirTypes) {
  EXPECT_EQ(Parse(""), "");
  EXPECT_EQ(Parse("key value"), "key/key value/string");
  EXPECT_EQ(Parse("seconds pattern unix-time-seconds"), "seconds/integer pattern/pattern unix-time-seconds/unix-time");
  EXPECT_EQ(Parse("increment:double"), "increment/double");
  EXPECT_EQ(Parse("ip:port"), "ip:port/string");
}

TEST(Syntax, ReadsOptionsAndChoices) {
  EXPECT_EQ(Parse("[GET]"), "get/pure-token{GET}?");
  EXPECT_EQ(Parse("[NX | XX]"), "nx_xx/oneof(nx/pure-token{NX} xx/pure-token{XX})?");
  EXPECT_EQ(Parse("<LEFT | RIGHT>"), "left_right/oneof(left/pure-token{LEFT} right/pure-token{RIGHT})");
  EXPECT_EQ(Parse("[EX seconds | KEEPTTL]"), "ex_keepttl/oneof(seconds/integer{EX} keepttl/pure-token{KEEPTTL})?");
}

TEST(Syntax, GivesATokenTheArgumentsBehindIt) {
  EXPECT_EQ(Parse("[COUNT count]"), "count/integer{COUNT}?");
  EXPECT_EQ(Parse("[LIMIT offset count]"), "offset_count/block(offset/integer count/integer){LIMIT}?");
  EXPECT_EQ(Parse("[COUNT count [ANY]]"), "count_any/block(count/integer{COUNT} any/pure-token{ANY}?)?");
  EXPECT_EQ(Parse("STORE a FIELD b"), "a/string{STORE} b/string{FIELD}");
}

TEST(Syntax, ReadsRepetition) {
  EXPECT_EQ(Parse("key [key ...]"), "key/key*");
  EXPECT_EQ(Parse("[element ...]"), "element/string?*");
  EXPECT_EQ(Parse("<A a | B> [...]"), "a_b/oneof(a/string{A} b/pure-token{B})*");
  EXPECT_EQ(Parse("field value [field value ...]"), "field_value/block(field/string value/string)*");
  EXPECT_EQ(Parse("[WEIGHTS weight [weight ...]]"), "weight/integer{WEIGHTS}?*");
  EXPECT_EQ(Parse("[GET pattern [GET pattern ...]]"), "pattern/pattern{GET}?*+");
}

TEST(Syntax, FindsTheSpecOfEachKey) {
  EXPECT_EQ(Parse({.keys = {OneKey(kRO), OneKey(kOW, 2)}, .syntax = "source destination"}),
            "source/key@0 destination/key@1");
  EXPECT_EQ(Parse({.keys = {{.flags = kRO, .begin = 1, .last = 1}}, .syntax = "key1 key2 [LEN]"}),
            "key1/key@0 key2/key@0 len/pure-token{LEN}?");
  EXPECT_EQ(Parse({.keys = {OneKey(kOW), CountedKeys(kRO, 2)}, .syntax = "destination numkeys key [key ...]"}),
            "destination/key@0 numkeys/integer key/key@1*");
  EXPECT_EQ(Parse({.keys = {OneKey(kRO, 2)}, .syntax = "key"}), "key/key@0");
  EXPECT_EQ(Parse({.keys = {{.flags = kRO, .begin = 1, .keyword = "STREAMS", .last = -1, .limit = 2}},
                   .syntax = "STREAMS key [key ...] id [id ...]"}),
            "key_id/block(key/key@0* id/string*){STREAMS}");
  EXPECT_EQ(Parse({.keys = {KeysToEnd(kOW, 1, 2)}, .syntax = "key value [key value ...]"}),
            "key_value/block(key/key@0 value/string)*");
}

TEST(Syntax, RefusesMalformedLines) {
  for (const std::string_view bad : {"[a", "a]", "<a | b]", "[]", "[a | ]", "a ...", "[a ... b]"}) {
    EXPECT_TRUE(Parse(bad).starts_with("error: usage line")) << bad << " gave " << Parse(bad);
  }
}

}  // namespace
}  // namespace cairn
