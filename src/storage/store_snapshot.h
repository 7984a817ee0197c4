// SPDX-License-Identifier: BSD-3-Clause
//
// StoreSnapshot: the whole store as it was at one moment, readable for as long as it is held, while others go on
// writing. A transaction reads from it with the code that reads the present (Transaction::ReadFrom).
//
// RocksDB's snapshots alone are not enough: compaction filters and dropped files do not ask them, and what a
// collection that is deleted meanwhile leaves behind would vanish under the reader. So while a snapshot is held the
// store keeps its dead (LazyFree::Hold), and disk space comes back when the last one is gone.
//
// Thread: any may read, one makes and ends it. It must not outlive the store.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "cache/row_ref.h"
#include "encoding/row_key.h"

namespace rocksdb {
class Snapshot;
}

namespace cairn {

class Store;

// Of the databases that the directory has, those that this run offers, or all. A copy of the former is for who offers
// as many, a replica say, who would refuse keys of others; when there are such, the log says that they are left out.
enum class SnapshotDatabases : unsigned char { kOffered, kAll };

class StoreSnapshot {
 public:
  static Result<std::unique_ptr<StoreSnapshot>> Take(Store& store,
                                                     SnapshotDatabases databases = SnapshotDatabases::kOffered);
  ~StoreSnapshot();
  StoreSnapshot(const StoreSnapshot&) = delete;
  StoreSnapshot& operator=(const StoreSnapshot&) = delete;

  // Of the last commit that is in it.
  uint64_t sequence() const;
  int databases() const { return static_cast<int>(keyspaces_.size()); }
  KeyspaceId keyspace(int db) const { return keyspaces_[static_cast<size_t>(db)]; }
  int64_t keys(int db) const { return keys_[static_cast<size_t>(db)]; }
  int64_t AllKeys() const;
  // A row of Space::kMeta; empty: there is none.
  Result<std::string> ReadNote(std::string_view name) const;

  // ---- storage/ only
  Result<RowRef> Get(const RowKey& row) const;
  const rocksdb::Snapshot* rocksdb() const { return snapshot_; }

 private:
  explicit StoreSnapshot(Store& store);
  Status Load(SnapshotDatabases databases);
  void WarnOfRest(int64_t keys) const;

  Store& store_;
  const rocksdb::Snapshot* snapshot_;
  std::vector<KeyspaceId> keyspaces_;  // by database
  std::vector<int64_t> keys_;
};

}  // namespace cairn
