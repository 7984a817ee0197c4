// SPDX-License-Identifier: BSD-3-Clause
//
// Cron: periodic work: deletes expired keys, samples rates, and under `appendfsync everysec` syncs the log. A sync may
// take long on a busy disk, so it has a thread of its own beside "cron".
//
// Thread: the owner's; the work is done on "cron" and "sync".
#pragma once

#include <cstdint>
#include <thread>

#include "base/mutex.h"
#include "base/result.h"
#include "server/memory_databases.h"
#include "server/size_limit.h"

namespace cairn {

class Notifier;
class ClientMemory;
class ClientPause;
class Conditions;
class Config;
class LatencyMonitor;
class WritableReplicaExpires;
class MemoryDatabaseSaves;
class RdbSaves;
class Replication;
class Stats;
class Store;
struct DebugSwitches;
class Transaction;

class Cron {
 public:
  struct Parts {
    Store& store;
    Config& config;
    Conditions& conditions;
    const DebugSwitches& debug;
    ClientMemory& client_memory;
    ClientPause& pause;
    RdbSaves& rdb_saves;
    MemoryDatabaseSaves& memory_database_saves;
    Replication& replication;
    WritableReplicaExpires& writable_replica_expires;
    const Notifier& notifier;
    Stats& stats;
    LatencyMonitor& latency;
    LiveSize& live_size;
  };

  explicit Cron(const Parts& parts);
  ~Cron();
  void Stop();

  SizeLimit& size_limit() { return size_limit_; }

 private:
  void RunCron();
  void RunSync();
  Status SyncLog();
  void ExpireKeys(Transaction& txn);
  Status ExpireOnWritableReplica(Transaction& txn, uint64_t most);
  void NoteStalls();
  // Keeps the process's memory within the budget.
  void PurgeAfterEvictions(int64_t now_us);
  void WatchMemory(int64_t now_us);
  // Sleeps for this time; returns false if the server ends.
  bool Sleep(int64_t ms);

  const Parts parts_;
  MemoryDatabases memory_databases_;
  SizeLimit size_limit_;
  // Used by "cron".
  uint64_t stalled_us_ = 0;  // RocksDB's counter at the last look
  uint64_t evicted_ = 0;     // clients, at the last look
  int64_t purged_us_ = 0;
  Mutex mutex_;
  CondVar wake_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread cron_thread_;
  std::thread sync_thread_;
};

}  // namespace cairn
