// SPDX-License-Identifier: BSD-3-Clause
//
// When a compaction of everything starts by itself.
#include "storage/compaction_schedule.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

constexpr int64_t kHourMs = 3600 * 1000;

TEST(CompactionScheduleTest, IsDueAfterWritesOrHoursWithWrites) {
  const CompactionSchedule schedule{.after_writes = 1000, .interval_ms = 12 * kHourMs, .window = {}};
  CompactionReason reason;
  EXPECT_FALSE(IsDue(schedule, 999, 12 * kHourMs - 1, reason));
  ASSERT_TRUE(IsDue(schedule, 1000, 0, reason));
  EXPECT_EQ(reason, CompactionReason::kWrites);
  ASSERT_TRUE(IsDue(schedule, kLeastWritesToCompact, 12 * kHourMs, reason));
  EXPECT_EQ(reason, CompactionReason::kInterval);
  // A restart writes some rows of its own; an idle server must not compact for them.
  EXPECT_FALSE(IsDue(schedule, kLeastWritesToCompact - 1, 1000 * kHourMs, reason));
}

TEST(CompactionScheduleTest, ZeroIsNever) {
  CompactionReason reason;
  EXPECT_FALSE(IsDue({}, UINT64_MAX, INT64_MAX, reason));
}

TEST(CompactionScheduleTest, WindowEndsBeforeItsEndAndMaySpanMidnight) {
  const CompactionWindow night{60, 300};
  EXPECT_FALSE(night.Has(59));
  EXPECT_TRUE(night.Has(60));
  EXPECT_TRUE(night.Has(299));
  EXPECT_FALSE(night.Has(300));
  const CompactionWindow midnight{23 * 60, 60};
  EXPECT_TRUE(midnight.Has(23 * 60));
  EXPECT_TRUE(midnight.Has(0));
  EXPECT_FALSE(midnight.Has(60));
  EXPECT_FALSE(midnight.Has(12 * 60));
  EXPECT_TRUE(CompactionWindow().Has(0));
}

}  // namespace
}  // namespace cairn
