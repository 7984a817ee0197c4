// SPDX-License-Identifier: BSD-3-Clause
//
// LatencyHistogram: run times of a command, in buckets whose width grows with the value: below 64 us one bucket per
// microsecond, above that 32 buckets per power of two, so the error of a percentile is at most 3 percent.
//
//   value   0 .. 63   64 .. 127   128 .. 255   ...   up to 2^30 us (18 minutes), then the last one
//   width   1         2           4            ...
//
// Thread: one writes, any reads. Not here: the owners of histograms (stats/stats.h).
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace cairn {

class LatencyHistogram {
 public:
  static constexpr int kSubBits = 5;
  static constexpr int kMaxBits = 30;
  static constexpr int kBuckets = 64 + (kMaxBits - 6) * 32;

  static int BucketOf(uint64_t usec) {
    if (usec < 64) return static_cast<int>(usec);
    const int bits = std::bit_width(usec);  // at least 7
    if (bits > kMaxBits) return kBuckets - 1;
    const int sub = static_cast<int>(usec >> (bits - 1 - kSubBits)) & 31;
    return 64 + (bits - 7) * 32 + sub;
  }

  // The highest value in `bucket`.
  static uint64_t HighestOf(int bucket) {
    if (bucket < 64) return bucket;
    const int bits = 7 + (bucket - 64) / 32;
    const uint64_t sub = 32 + (bucket - 64) % 32;
    return ((sub + 1) << (bits - 1 - kSubBits)) - 1;
  }

  void Record(uint64_t usec) {
    std::atomic<uint64_t>& count = counts_[BucketOf(usec)];
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    sum_.store(sum_.load(std::memory_order_relaxed) + usec, std::memory_order_relaxed);
  }

  uint64_t count(int bucket) const { return counts_[bucket].load(std::memory_order_relaxed); }
  uint64_t sum_usec() const { return sum_.load(std::memory_order_relaxed); }

 private:
  std::array<std::atomic<uint64_t>, kBuckets> counts_{};
  std::atomic<uint64_t> sum_{0};
};

}  // namespace cairn
