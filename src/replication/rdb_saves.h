// SPDX-License-Identifier: BSD-3-Clause
//
// RdbSaves: SAVE, BGSAVE and what SHUTDOWN SAVE saves. The data set as it is at the call becomes an RDB file in the
// data directory (`dbfilename`), while clients go on writing; one at a time.
//
// The file is a copy to take away, to Redis or to a backup. A start does not read it, since everything is in RocksDB
// already, but for the first one in a directory (replication/reload.h).
//
// Thread: any may call; a background save has a thread of its own, "bgsave".
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "replication/rdb_file_writer.h"
#include "stats/server_state.h"
#include "storage/store_snapshot.h"
#include "storage/transaction.h"

namespace cairn {

class Config;
class Store;

class RdbSaves {
 public:
  RdbSaves(Store& store, Config& config) : store_(store), config_(config) {}
  ~RdbSaves() { Stop(); }

  // Saves before it returns. The error is the reply, here and below; the log says why.
  Status Save();
  Status StartInBackground();
  // For a transaction: a background save is to begin soon, of a moment when what is under way now is committed.
  Status Schedule();
  // Called every so often: begins what Schedule asked for, unless a save is running.
  void StartScheduled();
  // The save before the server ends: one in the background is ended without a file, any other one is waited for.
  Status SaveAtEnd();
  // Ends a save in the background without a file. None begins any more.
  void Stop();

  std::string Path() const;

  // When saves were made, also by other commands (replication/saving.h).
  SaveState& state() { return state_; }

  bool in_background() const { return in_background_; }
  int64_t started_ms() const { return started_ms_; }            // of the background save under way
  int64_t last_duration_s() const { return last_duration_s_; }  // of the last one; -1: none

 private:
  // What a save is of.
  struct Moment {
    uint64_t changes_before = 0;
    std::shared_ptr<const StoreSnapshot> snapshot;
  };

  // Whether the save is the caller's now; until Release it is nobody else's.
  bool Claim();
  void Release();
  Result<Moment> TakeMoment();
  // REQUIRES: the save is claimed, for these four. The second releases it, as the last does on its thread.
  Status Write(const Result<Moment>& moment);
  Status WriteAndRelease(const Result<Moment>& moment);
  Status WriteFile(Transaction& txn, const StoreSnapshot& snapshot);
  void StartThreadOf(std::optional<Moment> moment);
  // None: of the moment when what is under way is committed.
  void RunInBackground(const std::optional<Moment>& moment);
  RdbUseHint UseHint() const;

  Store& store_;
  Config& config_;
  SaveState state_;
  std::mutex mutex_;  // running_, stopping_
  std::condition_variable released_;
  bool running_ = false;
  bool stopping_ = false;
  std::thread thread_;  // whoever has claimed the save; at the end, Stop
  std::atomic<bool> in_background_{false};
  std::atomic<bool> scheduled_{false};
  std::atomic<bool> gives_background_up_{false};
  std::atomic<int64_t> started_ms_{0};
  std::atomic<int64_t> last_duration_s_{-1};
};

}  // namespace cairn
