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

}  // namespace

uint64_t PaceOf(const CompactionDebt& debt, uint64_t limit) {
  const uint64_t excess = std::max(std::max(debt.level0_files, kUsualFiles) - kUsualFiles,
                                   std::max(debt.memtables, kUsualMemtables) - kUsualMemtables);
  return excess >= kUrgent ? 0 : limit << excess;
}

CompactionPace::CompactionPace(std::shared_ptr<rocksdb::RateLimiter> limiter, uint64_t limit)
    : limiter_(std::move(limiter)), limit_(limit) {}

void CompactionPace::Follow(const CompactionDebt& debt) {
  const uint64_t rate = PaceOf(debt, limit_);
  if (rate == rate_.exchange(rate)) return;
  // RocksDB's limiter cannot be switched off, so "no limit" is a rate that no disk reaches.
  limiter_->SetBytesPerSecond(rate == 0 ? kUnlimitedRate
                                        : static_cast<int64_t>(std::min<uint64_t>(rate, kUnlimitedRate)));
}

}  // namespace cairn
