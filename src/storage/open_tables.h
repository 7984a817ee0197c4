// SPDX-License-Identifier: BSD-3-Clause
//
// OpenTables: how many tables and blob files RocksDB has open, and how many it may.
//
// RocksDB keeps all of them open (max_open_files -1), because opening one waits for the disk
// (docs/decisions/run-again.md). Where the limit on open files does not allow that, it keeps those that were used last,
// and a read that needs another one goes to the slow lane to open it. RocksDB cannot close a table that it has opened
// under -1 before the table is compacted away, so the change comes before the limit is reached.
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/result.h"

namespace rocksdb {
class DB;
}

namespace cairn {

class OpenTables {
 public:
  // `most`: 0 is no limit.
  explicit OpenTables(uint64_t most) : most_(most) {}

  // Of the file system.
  void OnOpen() { count_.fetch_add(1, std::memory_order_relaxed); }
  void OnClose() { count_.fetch_sub(1, std::memory_order_relaxed); }

  uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  // Whether RocksDB closes tables to open others.
  bool is_bound() const { return is_bound_.load(std::memory_order_relaxed); }
  // RocksDB's max_open_files for a database in this directory. Called before it is opened.
  int MaxOpenFilesFor(const std::string& dir);
  // Binds RocksDB to the limit when `coming` more tables would bring it close. Waits then; cheap otherwise.
  void BindIfNear(rocksdb::DB& db, uint64_t coming);
  // Another limit. An error leaves the old one.
  Status SetMost(rocksdb::DB& db, uint64_t most);

 private:
  bool IsNear(uint64_t count) const;
  Status Bind(rocksdb::DB& db);

  std::atomic<uint64_t> count_{0};
  std::atomic<uint64_t> most_;
  std::atomic<bool> is_bound_{false};
  std::mutex mutex_;  // of those that set RocksDB's limit
};

}  // namespace cairn
