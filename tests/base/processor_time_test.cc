// SPDX-License-Identifier: BSD-3-Clause
//
// How much of the machine is idle is read from the kernel's own counts, whatever it leaves out.
#include "base/processor_time.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace cairn {
namespace {

TEST(ProcessorTimeTest, WaitingForADiskIsIdleAndGuestsAreNotCountedTwice) {
  const ProcessorTicks ticks = ParseProcessorTicks("cpu  100 20 30 4000 500 6 7 8 90 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
  EXPECT_EQ(ticks.all, 100u + 20 + 30 + 4000 + 500 + 6 + 7 + 8);
  EXPECT_EQ(ticks.idle, 4500u);
}

TEST(ProcessorTimeTest, OtherTextIsNothing) {
  for (const char* text : {"", "cpu", "cpu0 1 2 3 4 5 6 7 8 9\n", "cpu  1 2 3\n", "cpu  1 2 3 x 5 6 7 8\n", "intr"}) {
    EXPECT_EQ(ParseProcessorTicks(text).all, 0u) << text;
  }
}

TEST(ProcessorTimeTest, AShareIsAShare) {
  IdleTime idle;
  for (int i = 0; i < 3; ++i) {
    usleep(50000);
    const double share = idle.Share();
    EXPECT_GE(share, 0);
    EXPECT_LE(share, 1);
  }
}

TEST(ProcessorTimeTest, AThreadsTimeIsThatOfItsWork) {
  const int64_t before_us = ThreadCpuUs();
  usleep(30000);
  const int64_t asleep_us = ThreadCpuUs();
  EXPECT_LT(asleep_us - before_us, 20000);
  while (ThreadCpuUs() < asleep_us + 5000) {
  }
  EXPECT_GE(ThreadCpuUs() - asleep_us, 5000);
}

}  // namespace
}  // namespace cairn
