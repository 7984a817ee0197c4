// SPDX-License-Identifier: BSD-3-Clause
//
// DatabaseTable: which keyspace each database has, how many keys are in it, and which keyspaces are alive. FLUSHDB
// gives a database a fresh keyspace; compaction drops the rows of a keyspace that is not alive.
//
// It may hold a second set of keyspaces that nobody sees yet, one for each database: the staged ones
// (storage/staging.cc).
//
// Thread: any, except where a function says otherwise.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <shared_mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "encoding/row_key.h"

namespace cairn {

// One database's share of the rows.
struct Database {
  std::atomic<KeyspaceId> keyspace{0};
  std::atomic<int64_t> keys{0};
};

class DatabaseTable {
 public:
  // With so many databases; Load comes before everything else.
  explicit DatabaseTable(int databases) : databases_(databases), staged_(databases) {}

  // Takes over what the disk says; a database beyond that gets a fresh keyspace. Whether there are such.
  Result<bool> Load(std::vector<KeyspaceId> keyspaces, KeyspaceId next);
  // The meta row `databases` with these keyspaces, those of hidden databases added.
  std::string EncodeRow(std::vector<KeyspaceId> keyspaces) const;

  int size() const { return static_cast<int>(databases_.size()); }
  const Database& operator[](int db) const { return databases_[db]; }
  std::vector<KeyspaceId> keyspaces() const;
  // The database, or staged one, that has the keyspace; null: none.
  Database* Find(KeyspaceId keyspace);
  // Whether the disk has databases beyond size().
  bool hides_any() const { return !hidden_.empty(); }
  bool has_keys() const;

  // ---- keyspaces
  // An error when there are none left; they are never used twice.
  Result<KeyspaceId> NewKeyspace();
  KeyspaceId next_keyspace() const { return next_keyspace_; }
  void SkipTo(KeyspaceId next) { next_keyspace_ = next; }
  void AddLive(KeyspaceId keyspace);
  bool IsLive(KeyspaceId keyspace) const;
  size_t live_count() const;
  // The lowest number of a keyspace that is alive; rows below it are all dead.
  KeyspaceId Oldest() const;
  // A commit has given the databases these keyspaces. REQUIRES: all stripes are held.
  void Adopt(const std::vector<KeyspaceId>& keyspaces);
  // Counts Adopt's calls.
  uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }

  // ---- the staged set. REQUIRES, of Stage: all stripes are held
  bool is_staging() const { return staging_.load(std::memory_order_acquire); }
  KeyspaceId staged(int db) const { return staged_[db].keyspace; }
  void Stage(const std::vector<KeyspaceId>& keyspaces);
  // Drops the staged keyspaces, which were not adopted.
  void EndStaging();

 private:
  void ForgetStaged();

  std::vector<Database> databases_;
  std::vector<Database> staged_;  // by database; keyspace 0: none
  std::atomic<bool> staging_{false};
  mutable std::shared_mutex live_mutex_;
  std::vector<KeyspaceId> live_;    // guarded by live_mutex_, ascending
  std::vector<KeyspaceId> hidden_;  // of databases beyond size(); fixed after Load
  std::atomic<KeyspaceId> next_keyspace_{1};
  std::atomic<uint64_t> epoch_{0};
};

}  // namespace cairn
