// SPDX-License-Identifier: BSD-3-Clause
//
// DatabaseTable: the keyspace of each database, its number of keys, and the set of live keyspaces. FLUSHDB gives a
// database a fresh keyspace; compaction drops the rows of keyspaces that are not alive.
//
// The table may hold a second, invisible keyspace for each database, the staged ones (storage/staging.cc).
//
// Thread: any, except where a function says otherwise.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "encoding/row_key.h"
#include "encoding/storage_mode.h"

namespace cairn {

// The keyspace and key count of one database.
struct Database {
  std::atomic<KeyspaceId> keyspace{0};
  std::atomic<int64_t> keys{0};

  // Its keys if it is on disk; else 0.
  uint64_t keys_on_disk() const;
};

class DatabaseTable {
 public:
  // Makes a table of `databases` databases. Load must be called before everything else.
  // `modes`: by database, see SetMode; the others keep the modes that they have.
  DatabaseTable(int databases, const std::vector<StorageMode>& modes);

  // Takes the keyspaces read from disk. A database beyond them gets a fresh keyspace; returns whether there was one.
  Result<bool> Load(std::vector<KeyspaceId> keyspaces, KeyspaceId next);
  // The value of meta row `databases` with these keyspaces and those of hidden databases.
  std::string EncodeRow(std::vector<KeyspaceId> keyspaces) const;

  int size() const { return static_cast<int>(databases_.size()); }
  const Database& operator[](int db) const { return databases_[db]; }
  std::vector<KeyspaceId> keyspaces() const;
  // The database, or the staged one, with this keyspace; null: none.
  Database* Find(KeyspaceId keyspace);
  // Whether the disk has databases beyond size().
  bool hides_any() const { return !hidden_.empty(); }
  bool has_keys() const;
  // The keys of all databases on disk; without staged ones.
  uint64_t keys_on_disk() const;

  // ---- storage modes
  // The mode of the database's next keyspaces. Its present one may differ (SWAPDB exchanges keyspaces).
  StorageMode mode(int db) const { return modes_[db].load(std::memory_order_relaxed); }
  void SetMode(int db, StorageMode mode) { modes_[db] = mode; }
  // Gives each database without keys a new keyspace if its present one is of another mode; returns whether there was
  // one. Called once, after the counts are known.
  Result<bool> FollowModes();
  // Whether all keyspaces are of mode kSsd.
  bool all_on_ssd() const;

  // ---- keyspaces
  // One that was never used, in the database's mode (SetMode); an error when all numbers are used.
  Result<KeyspaceId> NewKeyspace(int db);
  // The number after all that were ever used, in any mode.
  KeyspaceId next_keyspace() const { return next_keyspace_; }
  void SkipTo(KeyspaceId next) { next_keyspace_ = next; }
  void AddLive(KeyspaceId keyspace);
  bool IsLive(KeyspaceId keyspace) const;
  size_t live_count() const;
  // The lowest number of a live keyspace; all rows below it, of each mode, are dead.
  KeyspaceId Oldest() const;
  // Called when a commit has given the databases these keyspaces. REQUIRES: all stripes are held.
  void Adopt(const std::vector<KeyspaceId>& keyspaces);
  // The number of calls of Adopt.
  uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }

  // ---- the staged set. Stage REQUIRES that all stripes are held
  bool is_staging() const { return staging_.load(std::memory_order_acquire); }
  KeyspaceId staged(int db) const { return staged_[db].keyspace; }
  void Stage(const std::vector<KeyspaceId>& keyspaces);
  // Drops staged keyspaces that were not adopted. Returns the number of their keys on disk.
  uint64_t EndStaging();

 private:
  void ForgetStaged();

  std::vector<Database> databases_;
  std::vector<std::atomic<StorageMode>> modes_;  // by database
  const size_t configured_;                      // of them, those that the options name
  std::vector<Database> staged_;                 // by database; keyspace 0: none
  std::atomic<bool> staging_{false};
  mutable SharedMutex live_mutex_;
  std::vector<KeyspaceId> live_ ABSL_GUARDED_BY(live_mutex_);  // ascending
  std::vector<KeyspaceId> hidden_;                             // of databases beyond size(); fixed after Load
  std::atomic<KeyspaceId> next_keyspace_{1};
  std::atomic<uint64_t> epoch_{0};
};

}  // namespace cairn
