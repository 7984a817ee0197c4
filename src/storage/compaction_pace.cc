// SPDX-License-Identifier: BSD-3-Clause
#include "storage/compaction_pace.h"

#include <rocksdb/rate_limiter.h>

#include <algorithm>
#include <utility>

#include "storage/tuning.h"

namespace cairn {
namespace {

// While flushes and compactions keep up, no more wait than these: a compaction starts at 4 files, a flush at 8
// memtables.
constexpr uint64_t kUsualFiles = 6;
constexpr uint64_t kUsualMemtables = 10;
// With this many more there is no limit.
constexpr uint64_t kUrgent = 6;
static_assert(kUsualFiles + 2 * kUrgent < kLevel0Slowdown && kUsualMemtables + 2 * kUrgent < kMostMemtables);

uint64_t ExcessOf(const CompactionDebt& debt) {
  return std::max(std::max(debt.level0_files, kUsualFiles) - kUsualFiles,
                  std::max(debt.memtables, kUsualMemtables) - kUsualMemtables);
}

}  // namespace

bool IsUrgent(const CompactionDebt& debt) { return ExcessOf(debt) >= kUrgent; }

uint64_t PaceOf(const CompactionDebt& debt, uint64_t limit) {
  // A higher limit is none, and shifting it would overflow.
  return IsUrgent(debt) ? 0 : std::min<uint64_t>(limit, kUnlimitedRate) << ExcessOf(debt);
}

CompactionPace::CompactionPace(std::shared_ptr<rocksdb::RateLimiter> limiter, uint64_t limit)
    : limiter_(std::move(limiter)), limit_(limit) {}

void CompactionPace::Follow(const CompactionDebt& debt) {
  is_urgent_ = IsUrgent(debt);
  is_calm_ = ExcessOf(debt) == 0;
  const uint64_t rate = PaceOf(debt, limit_);
  if (rate == rate_.exchange(rate)) return;
  // RocksDB's limiter cannot be switched off, so "no limit" is a rate that no disk reaches.
  limiter_->SetBytesPerSecond(rate == 0 ? kUnlimitedRate
                                        : static_cast<int64_t>(std::min<uint64_t>(rate, kUnlimitedRate)));
}

}  // namespace cairn
