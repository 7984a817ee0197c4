// SPDX-License-Identifier: BSD-3-Clause
//
// A replica gathers where no processor is free and it works itself, and not while somebody waits for it.
#include "server/apply_turns.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

constexpr int64_t kSecondUs = 1000000;

class ApplyTurnsTest : public ::testing::Test {
 protected:
  // A turn of `window_us` with this much of the machine idle and this much work of the replica's.
  void Turn(int64_t window_us, double idle, int64_t work_us) {
    idle_ = idle;
    cpu_us_ += work_us;
    now_us_ += window_us;
    turns_.End(now_us_);
  }

  double idle_ = 1;
  int64_t cpu_us_ = 0;
  int64_t now_us_ = 7 * kSecondUs;
  ApplyTurns turns_{[this] { return idle_; }, [this] { return cpu_us_; }, now_us_};
};

TEST_F(ApplyTurnsTest, AtFirstItGathersNothing) { EXPECT_FALSE(turns_.Gathers()); }

TEST_F(ApplyTurnsTest, ItGathersWhereNoProcessorIsFree) {
  Turn(kSecondUs, 0.1, kSecondUs / 5);
  EXPECT_TRUE(turns_.Gathers());
  Turn(kSecondUs, 0.5, kSecondUs / 5);
  EXPECT_FALSE(turns_.Gathers());
}

TEST_F(ApplyTurnsTest, AReplicaThatDoesLittleGathersNothing) {
  Turn(kSecondUs, 0.0, kSecondUs / 100);
  EXPECT_FALSE(turns_.Gathers());
}

TEST_F(ApplyTurnsTest, ManySmallPiecesAreMeasuredTogether) {
  for (int piece = 0; piece < 20; ++piece) {
    EXPECT_FALSE(turns_.Gathers()) << piece;
    Turn(10000, 0.0, 3000);
  }
  for (int piece = 0; piece < 6; ++piece) Turn(10000, 0.0, 3000);
  EXPECT_TRUE(turns_.Gathers());
}

TEST_F(ApplyTurnsTest, WhoWaitsIsServedForAWhile) {
  Turn(kSecondUs, 0.0, kSecondUs / 5);
  EXPECT_FALSE(turns_.NoteReceived("*1\r\n$4\r\nPING\r\n", now_us_));
  EXPECT_TRUE(turns_.Gathers());
  EXPECT_TRUE(turns_.NoteReceived("*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n", now_us_));
  EXPECT_FALSE(turns_.Gathers());
  Turn(kSecondUs, 0.0, kSecondUs / 5);
  EXPECT_FALSE(turns_.Gathers());
  Turn(2 * kSecondUs, 0.0, kSecondUs / 5);
  EXPECT_TRUE(turns_.Gathers());
}

TEST_F(ApplyTurnsTest, WhereNothingIsGatheredNobodyLooksForTheWord) {
  EXPECT_FALSE(turns_.NoteReceived("GETACK", now_us_));
}

}  // namespace
}  // namespace cairn
