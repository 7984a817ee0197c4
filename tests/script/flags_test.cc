// SPDX-License-Identifier: BSD-3-Clause
//
// The first line of a script or a library, and the errors for an invalid one.
#include "script/flags.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(ScriptHead, WithoutAFirstLineOnlyTheCommandsAreChecked) {
  const Result<ScriptHead> head = ReadScriptHead("return 1");
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->flags, kNoShebang);
  EXPECT_EQ(head->size, 0u);
}

TEST(ScriptHead, ReadsFlagsAndLeavesTheNewlineInTheCode) {
  const std::string_view body = "#!lua flags=no-writes,allow-stale\nreturn 1";
  const Result<ScriptHead> head = ReadScriptHead(body);
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->flags, kNoWrites | kAllowStale);
  EXPECT_EQ(body.substr(head->size), "\nreturn 1");
}

TEST(ScriptHead, RefusesAnInvalidLineInRedissWords) {
  const auto refusal = [](std::string_view body) { return std::string(ReadScriptHead(body).status().text()); };
  EXPECT_EQ(refusal("#!lua"), "ERR Invalid script shebang");
  EXPECT_EQ(refusal("#!perl\n"), "ERR Unexpected engine in script shebang: #!perl");
  EXPECT_EQ(refusal("#!lua x=y\n"), "ERR Unknown lua shebang option: x=y");
  EXPECT_EQ(refusal("#!lua flags=No-Writes\n"), "ERR Unexpected flag in script shebang: No-Writes");
}

TEST(LibraryHead, AcceptsAQuotedNameAndAnyCaseOfTheEngine) {
  const Result<LibraryHead> head = ReadLibraryHead("#!LUA name=\"lib_1\"\ncode");
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->name, "lib_1");
}

TEST(LibraryHead, RefusesAnInvalidLineInRedissWords) {
  const auto refusal = [](std::string_view code) { return std::string(ReadLibraryHead(code).status().text()); };
  EXPECT_EQ(refusal("return 1"), "ERR Missing library metadata");
  EXPECT_EQ(refusal("#!lua name=x"), "ERR Invalid library metadata");
  EXPECT_EQ(refusal("#!lua\n"), "ERR Library name was not given");
  EXPECT_EQ(refusal("#!js name=x\n"), "ERR Engine 'js' not found");
  EXPECT_EQ(refusal("#!lua name=a-b\n"), "ERR " + std::string(kBadFunctionName));
}

TEST(ScriptFlagNames, AreInRedissOrder) {
  EXPECT_EQ(ScriptFlagNames(kAllowStale | kNoWrites), (std::vector<std::string_view>{"no-writes", "allow-stale"}));
}

}  // namespace
}  // namespace cairn
