// SPDX-License-Identifier: BSD-3-Clause
//
// StoreSnapshot: the whole store as it was at one moment, readable while others write. A transaction reads from it
// with the usual code (Transaction::ReadFrom).
//
// RocksDB's snapshots alone are not enough: compaction filters and deleted files ignore them, so the rows of a
// collection that is deleted meanwhile would disappear. So while a snapshot is held, the store keeps dead rows
// (LazyFree::Hold); their disk space is freed after the last snapshot ends.
//
// Thread: any may read; one thread makes and ends it. It must not outlive the store.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/result.h"
#include "cache/row_ref.h"
#include "encoding/row_key.h"
#include "encoding/storage_mode.h"

namespace rocksdb {
class Snapshot;
}

namespace cairn {

class Engine;
class Store;

// kOffered: only the databases that this run offers, for a receiver with the same number, such as a replica, which
// would refuse keys of others. A warning in the log tells if databases are left out. kAll: all databases.
enum class SnapshotDatabases : unsigned char { kOffered, kAll };

class StoreSnapshot {
 public:
  static Result<std::unique_ptr<StoreSnapshot>> Take(Store& store,
                                                     SnapshotDatabases databases = SnapshotDatabases::kOffered);
  ~StoreSnapshot();
  StoreSnapshot(const StoreSnapshot&) = delete;
  StoreSnapshot& operator=(const StoreSnapshot&) = delete;

  // The sequence number of the last commit in the snapshot.
  uint64_t sequence() const;
  int databases() const { return static_cast<int>(keyspaces_.size()); }
  KeyspaceId keyspace(int db) const { return keyspaces_[static_cast<size_t>(db)]; }
  int64_t keys(int db) const { return keys_[static_cast<size_t>(db)]; }
  int64_t AllKeys() const;
  // A row of Space::kMeta; empty if there is none.
  Result<std::string> ReadNote(std::string_view name) const;

  // ---- storage/ only
  Result<RowRef> Get(const RowKey& row) const;
  // The snapshot of the engine with rows of this mode.
  const rocksdb::Snapshot* rocksdb(StorageMode mode = StorageMode::kSsd) const {
    return mode == StorageMode::kMemory ? memory_snapshot_ : snapshot_;
  }

 private:
  explicit StoreSnapshot(Store& store);
  Status Load(SnapshotDatabases databases);
  // Adds the count rows of this mode's engine.
  Status AddCounts(StorageMode mode, std::map<KeyspaceId, int64_t>& sums) const;
  void WarnOfRest(int64_t keys) const;

  Store& store_;
  const rocksdb::Snapshot* snapshot_;
  Engine* memory_;  // at the time of the snapshot; null: there was none
  const rocksdb::Snapshot* memory_snapshot_ = nullptr;
  std::vector<KeyspaceId> keyspaces_;  // by database
  std::vector<int64_t> keys_;
};

}  // namespace cairn
