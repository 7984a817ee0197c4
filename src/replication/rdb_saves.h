// SPDX-License-Identifier: BSD-3-Clause
//
// RdbSaves: SAVE, BGSAVE and the save of SHUTDOWN. Writes the data set of the moment of the call to an RDB file in the
// data directory (`dbfilename`), while clients go on writing. Only one save runs at a time.
//
// The file is a copy for a backup or for Redis. A start does not read it, because RocksDB has the data; the exception
// is the first start in a directory (replication/reload.h). An object of this class can instead save the databases in
// memory only, into a file that each start loads (replication/memory_database_saves.h).
//
// Thread: any may call; a background save runs on its own thread, "bgsave".
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "base/result.h"
#include "replication/rdb_file_writer.h"
#include "stats/server_state.h"
#include "storage/store_snapshot.h"
#include "storage/transaction.h"

namespace cairn {

class Config;
class Store;

// kMemoryDatabases: the databases with storage-mode memory, in a file of their own, without functions.
enum class RdbSaveContent : unsigned char { kEverything, kMemoryDatabases };

class RdbSaves {
 public:
  RdbSaves(Store& store, Config& config, RdbSaveContent content = RdbSaveContent::kEverything)
      : store_(store), config_(config), content_(content) {}
  ~RdbSaves() { Stop(); }

  // Saves, and returns when the file is complete. An error is the reply, here and below; the log has the reason.
  Status Save();
  Status StartInBackground();
  // For a transaction: requests a background save that starts soon and includes the commits now in progress.
  Status Schedule();
  // Called periodically: starts the save that Schedule requested, unless a save is running.
  void StartScheduled();
  // The save at shutdown: aborts a background save without a file, and waits for any other save.
  Status SaveAtEnd();
  // Aborts a background save without a file. No save starts after this call.
  void Stop();

  std::string Path() const;
  // Deletes what a killed server has left of its saves. REQUIRES: no save has started.
  void DeleteUnfinished() const;

  // The times of saves, including those of other commands (replication/saving.h).
  SaveState& state() { return state_; }
  const SaveState& state() const { return state_; }

  bool in_background() const { return in_background_; }
  int64_t started_ms() const { return started_ms_; }            // of the running background save, by MonotonicMs()
  int64_t last_duration_s() const { return last_duration_s_; }  // of the last background save; -1: none

 private:
  // The data that a save writes.
  struct Moment {
    uint64_t changes_before = 0;
    std::shared_ptr<const StoreSnapshot> snapshot;
  };

  // Claims the right to save. No other caller gets it until Release.
  bool Claim();
  void Release();
  Result<Moment> TakeMoment();
  // REQUIRES for the next five: the save is claimed. WriteAndRelease releases it, RunInBackground on its own thread.
  Status Write(const Result<Moment>& moment);
  Status WriteAndRelease(const Result<Moment>& moment);
  Status WriteFile(Transaction& txn, const StoreSnapshot& snapshot);
  void StartThreadOf(std::optional<Moment> moment);
  // No moment: saves the data after the commits that are now in progress.
  void RunInBackground(const std::optional<Moment>& moment);
  RdbUseHint UseHint() const;

  Store& store_;
  Config& config_;
  const RdbSaveContent content_;
  SaveState state_;
  Mutex mutex_;
  CondVar released_;
  bool running_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // owned by the caller that claimed the save; at the end by Stop
  std::atomic<bool> in_background_{false};
  std::atomic<bool> scheduled_{false};
  std::atomic<bool> gives_background_up_{false};
  std::atomic<int64_t> started_ms_{0};
  std::atomic<int64_t> last_duration_s_{-1};
};

}  // namespace cairn
