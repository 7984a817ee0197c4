// SPDX-License-Identifier: BSD-3-Clause
//
// DatabaseChanges: one transaction's view of the databases: keyspaces and key counts, with its own uncommitted changes.
//
// Key counts are exact, also across kill -9. Every batch that adds or deletes keys carries the transaction's own
// running sum per keyspace, in a meta row with no other writer; the count is the sum over all transactions.
//
// Thread: that of its transaction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "encoding/row_key.h"

namespace cairn {

class DatabaseTable;
class Store;
class StoreSnapshot;

struct KeyCountDelta {
  KeyspaceId keyspace;
  int64_t delta;
};

class DatabaseChanges {
 public:
  explicit DatabaseChanges(Store& store);

  KeyspaceId keyspace(int db) const;
  // The database that has this keyspace; -1: none.
  int DatabaseOf(KeyspaceId keyspace) const;
  // Whether a database has this keyspace, own uncommitted FLUSHDBs included.
  bool Has(KeyspaceId keyspace) const;
  // Keys in `keyspace`: exact, with expired keys and own uncommitted changes.
  int64_t KeyCount(KeyspaceId keyspace) const;
  // Whether the tick before this one, which is being committed, has added or removed keys. KeyCount does not have them,
  // but reads do.
  bool lacks_counts() const { return predecessor_ != nullptr && !predecessor_->counts_.empty(); }
  void AddKeys(KeyspaceId keyspace, int64_t delta) { Add(command_counts_, keyspace, delta); }

  // ---- REQUIRES: all stripes are held
  // Gives the database a fresh, empty keyspace; an error when all keyspace numbers are used.
  Status Replace(int db);
  void Swap(int db1, int db2);
  // Writes the mapping to disk, so that the numbers given to staged keyspaces are not used again.
  void Record() { BeginChange(); }
  // Replaces the databases' keyspaces by the staged ones (Staging::Begin).
  void AdoptStaged();

  // Whether commands of the tick used a database, and one on disk that WriteAheadLog::Syncs.
  bool used_any() const { return used_any_; }
  bool used_synced() const { return used_synced_; }

  // ---- storage/ calls these
  void set_predecessor(const DatabaseChanges* first) { predecessor_ = first; }
  void ReadFrom(const StoreSnapshot* snapshot) { snapshot_ = snapshot; }
  void BeginCommand();
  // Called when the command has got its stripes. If it has not asked for a keyspace yet, earlier changes of the
  // mapping do not affect it.
  void OnLocked();
  // Whether the mapping that the command has seen is still current.
  bool StillHold() const;
  void FinishCommand();
  void DropCommand();
  const std::vector<KeyCountDelta>& command_counts() const { return command_counts_; }
  void RollbackTo(const std::vector<KeyCountDelta>& counts) { command_counts_ = counts; }
  // By database, if the mapping was changed; else empty.
  const std::vector<KeyspaceId>& keyspaces() const { return keyspaces_; }
  const std::vector<KeyCountDelta>& counts() const { return counts_; }
  // This transaction's own sum for the keyspace, as the commit writes it to disk.
  int64_t SumOf(KeyspaceId keyspace) const { return Of(committed_, keyspace) + Of(counts_, keyspace); }
  // All collections below this id are dead, because a flush left no key in any database; 0: some may be alive.
  CollectionId empty_below() const { return empty_below_; }
  // Called after the commit: makes the changes visible to all.
  void Apply();
  std::vector<KeyCountDelta>& committed() { return committed_; }
  void Clear();

 private:
  KeyspaceId Current(int db) const;
  static void Add(std::vector<KeyCountDelta>& deltas, KeyspaceId keyspace, int64_t delta);
  static int64_t Of(const std::vector<KeyCountDelta>& deltas, KeyspaceId keyspace);
  void BeginChange();

  Store& store_;
  DatabaseTable& table_;
  const DatabaseChanges* predecessor_ = nullptr;
  const StoreSnapshot* snapshot_ = nullptr;
  std::vector<KeyspaceId> keyspaces_;
  std::vector<KeyCountDelta> counts_;
  std::vector<KeyCountDelta> committed_;  // own sums on disk
  CollectionId empty_below_ = 0;
  mutable bool used_any_ = false;
  mutable bool used_synced_ = false;
  // State of the current command:
  uint64_t epoch_ = 0;
  mutable bool asked_ = false;  // whether the command has read the mapping
  std::vector<KeyCountDelta> command_counts_;
  bool changed_ = false;
  std::vector<KeyspaceId> keyspaces_before_;
  CollectionId empty_below_before_ = 0;
};

}  // namespace cairn
