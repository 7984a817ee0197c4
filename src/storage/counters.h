// SPDX-License-Identifier: BSD-3-Clause
//
// KeyspaceCounters: what one worker's commands found, for INFO stats.
//
// A command that is run again must not count twice, so a transaction counts into plain fields of its own while
// a command runs and calls Add() once when the command has finished for good.
//
// Thread: one writes (the worker's), any reads. A counter is never set back: CONFIG RESETSTAT remembers
// where it stood (server/stats.h).
#pragma once

#include <atomic>
#include <cstdint>

namespace cairn {

struct KeyspaceCounters {
  std::atomic<uint64_t> keyspace_hits{0};    // look-ups by reading commands that found a key
  std::atomic<uint64_t> keyspace_misses{0};  // and those that did not
  std::atomic<uint64_t> expired_keys{0};     // keys deleted because their time had passed

  // A relaxed increment by the only writer, which needs no locked instruction.
  static void Add(std::atomic<uint64_t>& counter, uint64_t n = 1) {
    counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
};

}  // namespace cairn
