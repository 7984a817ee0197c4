// SPDX-License-Identifier: BSD-3-Clause
//
// The queues of blocked clients. A client that leaves must wake the next one, and must cost the same however many
// clients wait for the key.
#include "command/waiters.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace cairn {
namespace {

class Waiter : public Session {
 public:
  explicit Waiter(uint64_t id) : Session(id) {}
  void Wake() override { is_woken_ = true; }
  // Whether it was woken since the last call.
  bool TakeWake() { return std::exchange(is_woken_, false); }

 private:
  bool is_woken_ = false;
};

class WaitersTest : public testing::Test {
 protected:
  static constexpr uint32_t kStripe = 7;

  void Park(Session& session, const std::vector<std::string>& rows) {
    std::vector<Waiters::AwaitedKey> keys;
    for (const std::string& row : rows) keys.push_back({row, kStripe, false});
    waiters_.Park(session, keys, false);
  }
  void Change(const std::string& row) { waiters_.OnKeyChanged(kStripe, row, true); }

  Waiters waiters_;
  Waiter first_{1}, second_{2}, third_{3};
};

TEST_F(WaitersTest, ClientsAreWokenInTheOrderOfTheirArrival) {
  for (Waiter* waiter : {&first_, &second_, &third_}) Park(*waiter, {"k"});
  Change("k");
  Change("k");
  EXPECT_TRUE(first_.TakeWake());
  EXPECT_FALSE(second_.TakeWake());
  EXPECT_TRUE(waiters_.TakeTurn(first_));
  waiters_.Leave(first_);  // the second change may be for the next client
  EXPECT_TRUE(second_.TakeWake());
  Park(second_, {"k"});  // it found nothing and keeps its place
  Change("k");
  EXPECT_TRUE(second_.TakeWake());
  EXPECT_FALSE(third_.TakeWake());
  waiters_.Leave(second_);
  EXPECT_TRUE(third_.TakeWake());
  waiters_.Leave(third_);
  EXPECT_EQ(0u, waiters_.parked());
  EXPECT_FALSE(waiters_.IsInterested(kStripe));
}

TEST_F(WaitersTest, AKeyThatACommandNamesTwiceCountsOnce) {
  Park(first_, {"k", "other", "k"});
  EXPECT_EQ(2u, waiters_.totals().blocking_keys);
  Change("k");
  EXPECT_TRUE(first_.TakeWake());
  waiters_.Leave(first_);
  EXPECT_EQ(0u, waiters_.totals().blocking_keys);
  EXPECT_FALSE(waiters_.IsInterested(kStripe));
}

// The second client is woken by its other key while the first one has yet to run.
TEST_F(WaitersTest, AClientAwaitsTheTurnOfAnEarlierOne) {
  Park(first_, {"k"});
  Park(second_, {"k", "other"});
  Change("k");
  Change("other");
  EXPECT_TRUE(second_.TakeWake());
  EXPECT_FALSE(waiters_.TakeTurn(second_));
  Park(second_, {"k", "other"});
  EXPECT_FALSE(second_.TakeWake());
  waiters_.Leave(first_);
  EXPECT_TRUE(second_.TakeWake());
  EXPECT_TRUE(waiters_.TakeTurn(second_));
}

TEST_F(WaitersTest, AClientMayLeaveBeforeItsTurn) {
  for (Waiter* waiter : {&first_, &second_, &third_}) Park(*waiter, {"k"});
  Change("k");
  for (Waiter* waiter : {&second_, &third_}) {
    EXPECT_FALSE(waiters_.TakeTurn(*waiter));
    Park(*waiter, {"k"});
  }
  waiters_.Leave(second_);  // its timeout has passed
  EXPECT_FALSE(waiters_.TakeTurn(third_));
  Park(third_, {"k"});
  EXPECT_TRUE(third_.TakeWake());
  waiters_.Leave(first_);
  EXPECT_TRUE(third_.TakeWake());
  EXPECT_TRUE(waiters_.TakeTurn(third_));
}

// Each client compared with all the others would take half a minute.
TEST_F(WaitersTest, AnyNumberOfClientsMayWaitForAKey) {
  std::deque<Waiter> waiters;
  for (uint64_t id = 1; id <= 50'000; ++id) waiters.emplace_back(id);
  const int64_t start_us = MonotonicUs();
  for (Waiter& waiter : waiters) Park(waiter, {"k"});
  for (Waiter& waiter : waiters) {
    Change("k");
    EXPECT_TRUE(waiters_.TakeTurn(waiter));
    waiters_.Leave(waiter);
  }
  EXPECT_LT(MonotonicUs() - start_us, 5'000'000);
}

}  // namespace
}  // namespace cairn
