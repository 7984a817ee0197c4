// SPDX-License-Identifier: BSD-3-Clause
#include "storage/compaction_pace.h"

#include <gtest/gtest.h>
#include <rocksdb/rate_limiter.h>

#include "storage/tuning.h"

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

}  // namespace
}  // namespace cairn
