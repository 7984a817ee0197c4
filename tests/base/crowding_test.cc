// SPDX-License-Identifier: BSD-3-Clause
//
// When a machine counts as crowded, and when the kernel is asked.
#include "base/crowding.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

class CrowdingTest : public ::testing::Test {
 protected:
  void Pass(int64_t us, bool works) {
    now_us_ += us;
    crowding_.Note(now_us_, [&](int64_t window_us) {
      last_window_us_ = window_us;
      return works;
    });
  }

  double idle_ = 1;
  int asked_ = 0;
  int64_t now_us_ = 5;
  int64_t last_window_us_ = 0;
  Crowding crowding_{[this] { return ++asked_, idle_; }, now_us_};
};

TEST_F(CrowdingTest, IsWhereLittleIsIdleAndTheCallerWorks) {
  idle_ = 0.1;
  Pass(300000, true);
  EXPECT_TRUE(crowding_.is_crowded());
  EXPECT_EQ(last_window_us_, 300000);
  idle_ = 0.3;
  Pass(300000, true);
  EXPECT_FALSE(crowding_.is_crowded());
}

TEST_F(CrowdingTest, WhoDoesLittleNeitherCrowdsNorAsks) {
  idle_ = 0;
  Pass(300000, false);
  EXPECT_FALSE(crowding_.is_crowded());
  EXPECT_EQ(asked_, 0);
}

TEST_F(CrowdingTest, IsLookedAtFourTimesASecondAtMost) {
  idle_ = 0;
  for (int i = 0; i < 1000; ++i) Pass(1000, true);
  EXPECT_TRUE(crowding_.is_crowded());
  EXPECT_EQ(asked_, 4);
}

}  // namespace
}  // namespace cairn
