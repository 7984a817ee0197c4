// SPDX-License-Identifier: BSD-3-Clause
//
// MemoryDatabases: keeps the databases in memory (storage-mode memory) within `memory-databases-limit`.
//
// Deleted and overwritten rows take memory until a compaction. So after a FLUSHDB and above the limit a thread
// compacts, and then evicts keys as `maxmemory-policy` says, until enough is free. If that does not help, commands that
// may grow a database in memory are refused (kFullMemory); at once a quarter above the limit, or at twice the limit
// with a policy that evicts. While a snapshot is held (BGSAVE, a first transfer) no deletion frees memory, so nothing
// is evicted, and compactions run for at most an eleventh of the time; during CLIENT PAUSE nothing is evicted either.
//
// Thread: Watch belongs to "cron"; the rest to "memory-limit".
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/woken_thread.h"
#include "server/evictor.h"

namespace cairn {

class Conditions;
class Config;
class Notifier;
class Store;

class MemoryDatabases {
 public:
  MemoryDatabases(Store& store, Config& config, Conditions& conditions, const Notifier& notifier)
      : store_(store), config_(config), conditions_(conditions), evictor_(store, config, conditions, notifier, true) {}

  // Called ten times a second; cheap.
  void Watch();
  void Stop() { thread_.Stop(); }

 private:
  uint64_t Limit() const;
  // Commands that may grow the databases are refused at once above this.
  uint64_t MostBytes(uint64_t limit) const;
  bool CanEvict() const;  // now
  void MakeRoom();
  // Drops dead rows, unless none has died since the last call, or a snapshot holds most of them and the last compaction
  // was a short time ago.
  Status Compact();
  // Evicts keys of about so many bytes from the databases in memory; sets `found` if there were any.
  Status Evict(uint64_t bytes, bool& found);

  Store& store_;
  Config& config_;
  Conditions& conditions_;
  Evictor evictor_;
  uint64_t seen_flushes_ = 0;        // by Watch
  uint64_t compacted_sequence_ = 0;  // MemorySequence, and the flushes, at the last compaction
  uint64_t compacted_flushes_ = 0;
  int64_t next_held_us_ = 0;  // while a snapshot is held, no compaction starts before this monotonic time
  WokenThread thread_{"memory-limit", [this] { MakeRoom(); }};
};

}  // namespace cairn
