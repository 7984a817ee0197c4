// SPDX-License-Identifier: BSD-3-Clause
//
// DatabaseChanges: the databases as one transaction sees them: their keyspaces and key counts, with what it has changed
// and not committed yet.
//
// Keys are counted exactly, also across kill -9: every batch that adds or removes keys carries the transaction's own
// running sum per keyspace, in a meta row that nobody else writes; the count is the sum over transactions.
//
// Thread: its transaction's.
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
  // The database that has the keyspace; -1: none.
  int DatabaseOf(KeyspaceId keyspace) const;
  // Whether a database has this keyspace, own uncommitted FLUSHDBs included.
  bool Has(KeyspaceId keyspace) const;
  // Keys in `keyspace`, those past their expiry included; exact, own uncommitted changes included.
  int64_t KeyCount(KeyspaceId keyspace) const;
  void AddKeys(KeyspaceId keyspace, int64_t delta) { Add(command_counts_, keyspace, delta); }

  // ---- REQUIRES: all stripes are held
  // Gives the database a fresh, empty keyspace; an error when no number is left for one.
  Status Replace(int db);
  void Swap(int db1, int db2);
  // Writes the mapping down, so that the numbers given out to staged keyspaces are not given out again.
  void Record() { BeginChange(); }
  // Puts the staged keyspaces in the place of the databases' own (Staging::Begin).
  void AdoptStaged();

  // ---- storage/ calls these
  void ReadFrom(const StoreSnapshot* snapshot) { snapshot_ = snapshot; }
  void BeginCommand();
  // The command has got its stripes. If it has not asked for a keyspace yet, changes of the mapping up to now came
  // before it.
  void OnLocked();
  // Whether the mapping that the command has seen is still the current one.
  bool StillHold() const;
  void FinishCommand();
  void DropCommand();
  const std::vector<KeyCountDelta>& command_counts() const { return command_counts_; }
  void RollbackTo(const std::vector<KeyCountDelta>& counts) { command_counts_ = counts; }
  // By database, when the mapping was changed; else empty.
  const std::vector<KeyspaceId>& keyspaces() const { return keyspaces_; }
  const std::vector<KeyCountDelta>& counts() const { return counts_; }
  // This transaction's own sum for the keyspace, as it is to be on the disk.
  int64_t SumOf(KeyspaceId keyspace) const { return Of(committed_, keyspace) + Of(counts_, keyspace); }
  // All collections below this id are dead: a flush left no key anywhere; 0: there are living ones.
  CollectionId empty_below() const { return empty_below_; }
  // What was written is committed: makes it so for everybody.
  void Apply();
  std::vector<KeyCountDelta>& committed() { return committed_; }
  void Clear();

 private:
  static void Add(std::vector<KeyCountDelta>& deltas, KeyspaceId keyspace, int64_t delta);
  static int64_t Of(const std::vector<KeyCountDelta>& deltas, KeyspaceId keyspace);
  void BeginChange();

  Store& store_;
  DatabaseTable& table_;
  const StoreSnapshot* snapshot_ = nullptr;
  std::vector<KeyspaceId> keyspaces_;
  std::vector<KeyCountDelta> counts_;
  std::vector<KeyCountDelta> committed_;  // own sums, as on the disk
  CollectionId empty_below_ = 0;
  // Of the command:
  uint64_t epoch_ = 0;
  mutable bool asked_ = false;  // which keyspaces the databases have, or about one of them
  std::vector<KeyCountDelta> command_counts_;
  bool changed_ = false;
  std::vector<KeyspaceId> keyspaces_before_;
  CollectionId empty_below_before_ = 0;
};

}  // namespace cairn
