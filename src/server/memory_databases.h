// SPDX-License-Identifier: BSD-3-Clause
//
// MemoryDatabases: keeps the databases in memory (storage-mode memory) within `memory-databases-limit`.
//
// Deleted and overwritten rows take memory until a compaction. So after a FLUSHDB and above the limit a thread
// compacts, and then evicts keys as `maxmemory-policy` says, until enough is free. If that does not help, commands that
// may grow a database in memory are refused (kFullMemory); at once a quarter above the limit, or at twice the limit
// with a policy that evicts. While a snapshot is held (BGSAVE, a first transfer) no deletion frees memory, so nothing
// is evicted.
//
// Thread: Watch belongs to "cron"; the rest to "memory-limit".
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "base/mutex.h"
#include "base/result.h"
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
  ~MemoryDatabases() { Stop(); }

  // Called ten times a second; cheap.
  void Watch();
  void Stop();

 private:
  uint64_t Limit() const;
  // Commands that may grow the databases are refused at once above this.
  uint64_t MostBytes(uint64_t limit) const;
  void Run();
  void MakeRoom();
  // Drops dead rows, unless none has died since the last call.
  Status Compact();
  // Evicts keys of about so many bytes from the databases in memory; sets `found` if there were any.
  Status Evict(uint64_t bytes, bool& found);

  Store& store_;
  Config& config_;
  Conditions& conditions_;
  Evictor evictor_;
  Mutex mutex_;
  CondVar wake_;
  bool must_look_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> is_ending_{false};
  uint64_t seen_flushes_ = 0;        // by Watch
  uint64_t compacted_sequence_ = 0;  // MemorySequence, and the flushes, at the last compaction
  uint64_t compacted_flushes_ = 0;
  std::thread thread_;  // started when it is needed first
};

}  // namespace cairn
