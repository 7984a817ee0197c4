// SPDX-License-Identifier: BSD-3-Clause
#include "storage/compaction_pace.h"

#include <gtest/gtest.h>
#include <rocksdb/rate_limiter.h>

#include <chrono>
#include <future>

#include "storage/tuning.h"
#include "store_fixture.h"

namespace cairn {
namespace {

constexpr uint64_t kLimit = 10 << 20;

TEST(CompactionPace, TheLimitAppliesWhileCompactionsKeepUp) {
  EXPECT_EQ(PaceOf({.level0_files = 0, .memtables = 0}, kLimit), kLimit);
  EXPECT_EQ(PaceOf({.level0_files = 6, .memtables = 10}, kLimit), kLimit);
}

TEST(CompactionPace, TheLimitDoublesWithEachFileBeyond) {
  EXPECT_EQ(PaceOf({.level0_files = 7, .memtables = 0}, kLimit), 2 * kLimit);
  EXPECT_EQ(PaceOf({.level0_files = 0, .memtables = 12}, kLimit), 4 * kLimit);
  EXPECT_EQ(PaceOf({.level0_files = 11, .memtables = 0}, kLimit), 32 * kLimit);
}

TEST(CompactionPace, NoLimitAppliesLongBeforeWritesWouldBeDelayed) {
  EXPECT_EQ(PaceOf({.level0_files = 12, .memtables = 0}, kLimit), 0u);
  EXPECT_EQ(PaceOf({.level0_files = 0, .memtables = 16}, kLimit), 0u);
}

TEST(CompactionPace, AHugeLimitDoesNotOverflow) {
  EXPECT_GE(PaceOf({.level0_files = 11, .memtables = 0}, (uint64_t{1} << 62) + 1), uint64_t{1} << 40);
}

TEST(CompactionPace, NoLimitIsNeverALimit) {
  for (uint64_t files = 0; files < 40; ++files) EXPECT_EQ(PaceOf({.level0_files = files, .memtables = 0}, 0), 0u);
}

TEST(CompactionPace, FollowSetsTheLimiter) {
  const std::shared_ptr<rocksdb::RateLimiter> limiter(rocksdb::NewGenericRateLimiter(kUnlimitedRate));
  CompactionPace pace(limiter, kLimit);
  EXPECT_EQ(pace.rate(), 0u);
  pace.Follow({});
  EXPECT_EQ(pace.rate(), kLimit);
  EXPECT_EQ(limiter->GetBytesPerSecond(), static_cast<int64_t>(kLimit));
  pace.Follow({.level0_files = 30, .memtables = 0});
  EXPECT_EQ(pace.rate(), 0u);
  EXPECT_EQ(limiter->GetBytesPerSecond(), kUnlimitedRate);
  pace.SetLimit(2 * kLimit);
  pace.Follow({});
  EXPECT_EQ(limiter->GetBytesPerSecond(), static_cast<int64_t>(2 * kLimit));
}

using CompactorOfStore = StoreFixture;

// RocksDB has one thread for compactions by default, and a step takes it.
TEST_F(CompactorOfStore, WaitsWhileAutomaticCompactionsAreUrgent) {
  CompactionPace& pace = store().engine().compaction_pace();
  pace.Follow({.level0_files = 20, .memtables = 0});
  auto done = std::async(std::launch::async, [this] { return store().compactor().Compact(ScopeOfAll()); });
  EXPECT_EQ(done.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
  EXPECT_TRUE(store().compactor().Progress().is_running);
  pace.Follow({.level0_files = 7, .memtables = 0});  // fewer, but more than usual
  EXPECT_EQ(done.wait_for(std::chrono::milliseconds(1200)), std::future_status::timeout);
  pace.Follow({.level0_files = 4, .memtables = 0});
  EXPECT_TRUE(done.get().ok());
  EXPECT_EQ(store().compactor().Progress().result, "ok");
}

TEST_F(CompactorOfStore, CanBeCancelledWhileItWaits) {
  store().engine().compaction_pace().Follow({.level0_files = 20, .memtables = 0});
  auto done = std::async(std::launch::async, [this] { return store().compactor().Compact(ScopeOfAll()); });
  while (!store().compactor().Cancel()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(done.get().Is(Code::kReply));
  EXPECT_EQ(store().compactor().Progress().result, "cancelled");
}

}  // namespace
}  // namespace cairn
