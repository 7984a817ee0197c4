// SPDX-License-Identifier: BSD-3-Clause
//
// CompactionPace: applies `compaction-rate-limit`, the bytes a second that flushes and compactions may write, as long
// as they keep up with the writes.
//
// With a limit below what the writes cause, files pile up in level 0 until RocksDB stops the writes, for seconds. So
// the limit rises with that number: it doubles with each file beyond a few, and there is none well before RocksDB would
// delay writes. So the rate settles where it keeps up (docs/decisions/compaction-pace.md).
//
// Thread: Follow belongs to one thread; the other functions to any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace rocksdb {
class RateLimiter;
}

namespace cairn {

// What waits for flushes and compactions; of the column family that has the most.
struct CompactionDebt {
  uint64_t level0_files = 0;
  uint64_t memtables = 0;  // that wait for a flush
};

// Whether compactions that can wait must make way for RocksDB's automatic ones, or that it will soon delay writes.
bool IsUrgent(const CompactionDebt& debt);
// Bytes a second; 0: no limit. `limit` is `compaction-rate-limit`, 0: none.
uint64_t PaceOf(const CompactionDebt& debt, uint64_t limit);

class CompactionPace {
 public:
  CompactionPace(std::shared_ptr<rocksdb::RateLimiter> limiter, uint64_t limit);

  // Sets `compaction-rate-limit`, in bytes a second; 0: none. Follow applies it.
  void SetLimit(uint64_t bytes_per_second) { limit_ = bytes_per_second; }
  // Sets the limiter's rate. Called some times a second.
  void Follow(const CompactionDebt& debt);
  // The present rate; 0: no limit.
  uint64_t rate() const { return rate_; }
  // IsUrgent, and whether nothing waits longer than usual, when Follow was called last.
  bool is_urgent() const { return is_urgent_; }
  bool is_calm() const { return is_calm_; }

 private:
  const std::shared_ptr<rocksdb::RateLimiter> limiter_;
  std::atomic<uint64_t> limit_;
  std::atomic<uint64_t> rate_{0};
  std::atomic<bool> is_urgent_{false};
  std::atomic<bool> is_calm_{true};
};

}  // namespace cairn
