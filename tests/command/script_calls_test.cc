// SPDX-License-Identifier: BSD-3-Clause
//
// A script may make millions of calls: all are counted, and a bounded part is kept until it ends.
#include "command/script_calls.h"

#include <gtest/gtest.h>

#include "server/families.h"

namespace cairn {
namespace {

class ScriptCallsTest : public testing::Test {
 protected:
  const CommandTable table_{AllFamilies()};
  const Command& command_ = *table_.Find("get");
  ScriptCalls calls_;
};

TEST_F(ScriptCallsTest, AllErrorsAreCountedAndFewTextsAreKept) {
  for (int i = 0; i < 1000; ++i) {
    calls_.Count(command_, 1, "-WRONGTYPE wrong " + std::to_string(i) + "\r\n");
    calls_.CountRejected(nullptr, "ERR unknown");
  }
  EXPECT_EQ(calls_.errors, (std::map<std::string, uint64_t, std::less<>>{{"ERR", 1000}, {"WRONGTYPE", 1000}}));
  EXPECT_EQ(calls_.SumOf(&command_).failed, 1000u);
  EXPECT_EQ(calls_.error_texts.size(), ScriptCalls::kMostErrorTexts);
  EXPECT_TRUE(calls_.HasError("WRONGTYPE wrong 999 script: 1234"));
  EXPECT_FALSE(calls_.HasError("WRONGTYPE wrong 1"));
}

TEST_F(ScriptCallsTest, AnErrorThatIsRepeatedDisplacesNoOther) {
  calls_.CountRejected(nullptr, "ERR first");
  for (int i = 0; i < 100; ++i) calls_.CountRejected(nullptr, "ERR second");
  EXPECT_TRUE(calls_.HasError("ERR first"));
}

TEST_F(ScriptCallsTest, ALongErrorIsCut) {
  const std::string error = "ERR " + std::string(100000, 'x');
  calls_.CountRejected(nullptr, error);
  EXPECT_EQ(calls_.error_texts.back().size(), ScriptCalls::kMostTextBytes);
  EXPECT_TRUE(calls_.HasError(error + " script: 1234"));
}

// MONITOR gets the calls when the script ends.
TEST_F(ScriptCallsTest, CallsBeyondTheLimitAreNotShown) {
  const std::string value(1000000, 'x');
  const std::string_view argv[] = {"get", value};
  for (int i = 0; i < 10; ++i) calls_.Show(command_, 3, argv);
  EXPECT_EQ(calls_.shown.size(), 4u);
  EXPECT_EQ(calls_.shown.back().argv.back(), value);
  EXPECT_LE(calls_.shown_bytes, ScriptCalls::kMostShownBytes);
  EXPECT_EQ(calls_.calls_not_shown, 6u);
}

TEST_F(ScriptCallsTest, DenialsBeyondTheLimitAreDropped) {
  for (int i = 0; i < 1000; ++i) calls_.Deny(DenialReason::kKey, std::string(10000, 'k'));
  EXPECT_EQ(calls_.denials.size(), ScriptCalls::kMostDenials);
  EXPECT_EQ(calls_.denials.back().object.size(), ScriptCalls::kMostTextBytes);
}

}  // namespace
}  // namespace cairn
