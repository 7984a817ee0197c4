// SPDX-License-Identifier: BSD-3-Clause
//
// Every change wakes a thread that waits for an event, whatever the timing.
#include "base/event.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/clock.h"

namespace cairn {
namespace {

constexpr int64_t kLongUs = 60'000'000;

TEST(EventTest, AConditionThatHoldsNeedsNoWait) {
  Event event;
  const int64_t began_us = MonotonicUs();
  EXPECT_TRUE(event.Await(kLongUs, [] { return true; }));
  EXPECT_LT(MonotonicUs() - began_us, kLongUs / 2);
}

TEST(EventTest, AWaitEndsAtItsTimeout) {
  Event event;
  EXPECT_FALSE(event.Await(1000, [] { return false; }));
}

// Two threads pass a number back and forth: a missed wake-up would end in the longest wait.
TEST(EventTest, NoChangeIsMissed) {
  constexpr int kRounds = 20000;
  Event event;
  std::atomic<int> turn{0};
  std::atomic<bool> in_time{true};
  const auto play = [&](int own) {
    for (int round = 0; round < kRounds && in_time; ++round) {
      const int wanted = 2 * round + own;
      if (!event.Await(kLongUs, [&] { return turn.load(std::memory_order_relaxed) == wanted; })) in_time = false;
      turn.store(wanted + 1, std::memory_order_relaxed);
      event.Notify();
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_TRUE(in_time);
  EXPECT_EQ(turn, 2 * kRounds);
}

}  // namespace
}  // namespace cairn
