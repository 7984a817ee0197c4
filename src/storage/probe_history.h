// SPDX-License-Identifier: BSD-3-Clause
//
// ProbeHistory: tells whether an I/O thread should ask RocksDB for a row that is not in the key cache.
//
// Such a probe does not wait (storage/ready_reads.h). If the block is in memory, it saves the way over the slow lane.
// If it is not, it has cost a whole look-up for nothing: with data many times the memory, that is most of the I/O
// thread's time. So probes stop when nine of ten are refused, and then only one in sixteen is made, to learn when that
// changes.
//
// Thread: any. The counts are estimates, so updates that are lost to another thread do no harm.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace cairn {

class ProbeHistory {
 public:
  // Whether to probe for the row with this hash (Overlay::HashOf). A row for which the last answer was no gets a yes:
  // it has been fetched since.
  bool IsWorthAProbe(uint64_t hash) {
    if (refused_share_.load(std::memory_order_relaxed) < kMostRefused) return true;
    std::atomic<uint64_t>& skipped = skipped_[hash % kRows];
    if (skipped.load(std::memory_order_relaxed) == hash || hash / kRows % kSample == 0) {
      skipped.store(0, std::memory_order_relaxed);
      return true;
    }
    skipped.store(hash, std::memory_order_relaxed);
    return false;
  }

  // Notes the outcome of a probe.
  void Note(bool refused) {
    const uint32_t share = refused_share_.load(std::memory_order_relaxed);
    refused_share_.store(share - share / kWeight + (refused ? kWhole / kWeight : 0), std::memory_order_relaxed);
  }

 private:
  static constexpr uint32_t kWhole = 1 << 16;
  static constexpr uint32_t kMostRefused = kWhole / 10 * 9;
  static constexpr uint32_t kWeight = 32;  // the average goes over about this many probes
  static constexpr uint64_t kSample = 16;
  static constexpr size_t kRows = 1024;

  std::atomic<uint32_t> refused_share_{0};
  std::array<std::atomic<uint64_t>, kRows> skipped_{};  // hashes of the rows that were not probed last
};

}  // namespace cairn
