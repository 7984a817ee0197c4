// SPDX-License-Identifier: BSD-3-Clause
//
// OpenTables: the number of tables and blob files that RocksDB has open, and its limit.
//
// RocksDB keeps all of them open (max_open_files -1), because opening one waits for the disk
// (docs/decisions/run-again.md). If the limit on open files does not allow that, RocksDB keeps the most recently used
// ones open, and a read of another goes to the slow lane to open it. A table opened under -1 cannot be closed before
// it is compacted away, so the switch is made before the limit is reached.
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/mutex.h"
#include "base/result.h"

namespace rocksdb {
class DB;
}

namespace cairn {

class OpenTables {
 public:
  // `most`: 0 means no limit.
  explicit OpenTables(uint64_t most) : most_(most) {}

  // Called by the file system.
  void OnOpen() { count_.fetch_add(1, std::memory_order_relaxed); }
  void OnClose() { count_.fetch_sub(1, std::memory_order_relaxed); }

  uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  // Whether RocksDB must close tables to open others.
  bool is_bound() const { return is_bound_.load(std::memory_order_relaxed); }
  // RocksDB's max_open_files for a database in this directory. Called before the database is opened.
  int MaxOpenFilesFor(const std::string& dir);
  // Sets RocksDB's limit when `coming` more tables would come close to it. Waits in that case; cheap otherwise.
  void BindIfNear(rocksdb::DB& db, uint64_t coming);
  // Changes the limit. On an error the old one stays.
  Status SetMost(rocksdb::DB& db, uint64_t most);

 private:
  bool IsNear(uint64_t count) const;
  Status Bind(rocksdb::DB& db) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<uint64_t> count_{0};
  std::atomic<uint64_t> most_;
  std::atomic<bool> is_bound_{false};
  Mutex mutex_;  // held to set RocksDB's limit
};

}  // namespace cairn
