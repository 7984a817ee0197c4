// SPDX-License-Identifier: BSD-3-Clause
//
// XREADGROUP CLAIM with pending entries that are no longer in the stream: only one call walks over them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "command/dispatcher_fixture.h"

namespace cairn {
namespace {

class StreamClaim : public DispatcherFixture {
 protected:
  Verdict Run(const std::string& line, Lane lane) {
    out_.clear();
    return Dispatch(session_, Split(line), lane, out_).verdict;
  }
  // Makes entries 1-0 to 3000-0 pending, and keeps only the last one in the stream.
  void Fill() {
    for (int i = 1; i <= 3000; ++i) Run("XADD s " + std::to_string(i) + "-0 f v", Lane::kSlow);
    Run("XGROUP CREATE s g 0", Lane::kSlow);
    EXPECT_EQ(Verdict::kDone, Run("XREADGROUP GROUP g a COUNT 3000 STREAMS s >", Lane::kSlow));
    EXPECT_EQ(Verdict::kDone, Run("XTRIM s MAXLEN 1", Lane::kSlow));
  }

  std::string out_;
};

TEST_F(StreamClaim, ASecondCallDoesNotWalkOverTrimmedEntries) {
  Fill();
  EXPECT_EQ(Verdict::kWouldWait, Run("XREADGROUP GROUP g b CLAIM 0 STREAMS s >", Lane::kFast));
  for (const Lane lane : {Lane::kSlow, Lane::kFast}) {
    EXPECT_EQ(Verdict::kDone, Run("XREADGROUP GROUP g b CLAIM 0 STREAMS s >", lane));
    EXPECT_NE(std::string::npos, out_.find("3000-0")) << out_;
  }
  // They stay pending for other commands.
  Run("XPENDING s g", Lane::kSlow);
  EXPECT_TRUE(out_.starts_with("*4\r\n:3000\r\n$3\r\n1-0\r\n")) << out_;
  Run("XPENDING s g 2-0 2-0 1", Lane::kSlow);
  EXPECT_NE(std::string::npos, out_.find("$3\r\n2-0\r\n$1\r\na\r\n")) << out_;
  Run("XACK s g 1-0 2-0 3000-0", Lane::kSlow);
  EXPECT_EQ(":3\r\n", out_);
  Run("XGROUP DELCONSUMER s g a", Lane::kSlow);
  EXPECT_EQ(":2997\r\n", out_);
}

TEST_F(StreamClaim, ACallThatStaysBlockedDropsThemToo) {
  Fill();
  Run("XACK s g 3000-0", Lane::kSlow);
  Session blocked{2};
  const std::vector<std::string> words = Split("XREADGROUP GROUP g b BLOCK 0 CLAIM 0 STREAMS s >");
  EXPECT_EQ(Verdict::kParked, Dispatch(blocked, words, Lane::kSlow, out_).verdict);
  EXPECT_EQ(Verdict::kDone, Run("XREADGROUP GROUP g c CLAIM 0 STREAMS s >", Lane::kFast));
  EXPECT_EQ("*-1\r\n", out_);
}

}  // namespace
}  // namespace cairn
