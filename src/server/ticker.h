// SPDX-License-Identifier: BSD-3-Clause
//
// Ticker: what has to be done every so often whether or not anybody asks: expired keys are deleted, rates are
// sampled, and under `appendfsync everysec` the log is synced. Syncing may take long on a busy disk, so it has a
// thread of its own beside "tick".
//
// Thread: the owner's; the work is done on "tick" and "sync".
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "base/result.h"

namespace cairn {

class Announcer;
class ClientMemory;
class ClientPause;
class Conditions;
class Config;
class LatencyMonitor;
class OwnExpiries;
class RdbSaves;
class Replication;
class Stats;
class Store;
struct DebugSwitches;
class Transaction;

class Ticker {
 public:
  struct Parts {
    Store& store;
    Config& config;
    const Conditions& conditions;
    const DebugSwitches& debug;
    ClientMemory& client_memory;
    ClientPause& pause;
    RdbSaves& rdb_saves;
    Replication& replication;
    OwnExpiries& own_expiries;
    const Announcer& announcer;
    Stats& stats;
    LatencyMonitor& latency;
  };

  explicit Ticker(const Parts& parts);
  ~Ticker();
  void Stop();

 private:
  void RunTick();
  void RunSync();
  Status SyncLog();
  void ExpireKeys(Transaction& txn);
  Status ExpireOwn(Transaction& txn, uint64_t most);
  void NoteStalls();
  // Sleeps so long, or until the server ends: false then.
  bool Sleep(int64_t ms);

  const Parts parts_;
  uint64_t stalled_us_ = 0;  // as RocksDB had it at the last look; of "tick"
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread tick_;
  std::thread sync_;
};

}  // namespace cairn
