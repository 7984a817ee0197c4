// SPDX-License-Identifier: BSD-3-Clause
//
// RdbSaves: SAVE and BGSAVE. The data set as it is at the call becomes an RDB file in the data
// directory (`dbfilename`), while clients go on writing; one at a time.
//
// The file is a copy to take away, to Redis or to a backup. A start does not read it, since everything is in RocksDB
// already, but for the first one in a directory (server/reload.h).
//
// Thread: any may call; a background save has a thread of its own, "bgsave".
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "storage/store_snapshot.h"
#include "storage/transaction.h"

namespace cairn {

class Server;

class RdbSaves {
 public:
  explicit RdbSaves(Server& server) : server_(server) {}
  ~RdbSaves() { Stop(); }

  // Saves before it returns. The error is the reply.
  Status Save();
  Status StartInBackground();
  // Ends a save under way without a file.
  void Stop();

  std::string Path() const;

  bool in_background() const { return in_background_; }
  int64_t started_ms() const { return started_ms_; }        // of the background save under way
  int64_t last_duration_s() const { return last_duration_s_; }  // of the last one; -1: none

 private:
  // What a save is of.
  struct Moment {
    uint64_t changes_before = 0;
    std::shared_ptr<const StoreSnapshot> snapshot;
  };

  // From here on a save is running, until Write ends.
  Result<Moment> Begin();
  Status Write(Moment moment);
  Status WriteFile(Transaction& txn, const StoreSnapshot& snapshot);
  void RunInBackground(Moment moment);

  Server& server_;
  std::mutex mutex_;    // running_, thread_
  bool running_ = false;
  std::thread thread_;
  std::atomic<bool> in_background_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<int64_t> started_ms_{0};
  std::atomic<int64_t> last_duration_s_{-1};
};

}  // namespace cairn
