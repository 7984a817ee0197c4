// SPDX-License-Identifier: BSD-3-Clause
//
// Store: the data and its global state. It contains the RocksDB database, its log, the key cache, the lock stripes,
// the databases' keyspaces and key counts, and the background work on them.
//
// Key counts are exact, also across kill -9: every batch that adds or removes keys carries the committing worker's own
// running sum per keyspace, in a meta row with no other writer. The count is the sum over all workers. Open merges
// these rows into one.
//
// Thread: any, except where a function says otherwise.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cache/row_cache.h"
#include "encoding/row_key.h"
#include "storage/collection_ids.h"
#include "storage/compactor.h"
#include "storage/counters.h"
#include "storage/database_table.h"
#include "storage/disk_room.h"
#include "storage/engine.h"
#include "storage/expiry_start.h"
#include "storage/interest.h"
#include "storage/large_commits.h"
#include "storage/lazy_free.h"
#include "storage/memory_division.h"
#include "storage/probe_history.h"
#include "storage/rank_index.h"
#include "storage/recovery.h"
#include "storage/row_engines.h"
#include "storage/row_hashes.h"
#include "storage/staging.h"
#include "storage/store_options.h"
#include "storage/stripes.h"
#include "storage/write_ahead_log.h"

namespace cairn {

// Receives committed changes of keys that a client waits for (BLPOP, WATCH). Calls are made while the committer still
// holds the stripe, so they come in commit order and must be short. Thread: any committer.
class CommitListener {
 public:
  virtual ~CommitListener() = default;
  virtual bool IsInterested(uint32_t stripe) const = 0;  // cheap; called for every row
  // `exists`: whether the key exists after the commit.
  virtual void OnKeyChanged(uint32_t stripe, std::string_view key_row, bool exists) = 0;
  // Only consumer groups of a stream have changed: WATCH does not see that.
  virtual void OnGroupsChanged(std::string_view key_row) = 0;
  // FLUSHDB, FLUSHALL, SWAPDB: any key of any database may have changed. `keyspaces` are the current ones of the
  // databases; `is_live` tells whether a key row exists and has not expired.
  virtual void OnKeyspacesChanged(std::span<const KeyspaceId> keyspaces,
                                  const std::function<bool(std::string_view)>& is_live) = 0;
};

class Store {
 public:
  // Opens or creates the store. kCorruption or kIo with a message for the operator.
  static Result<std::unique_ptr<Store>> Open(const StoreOptions& options);
  ~Store();

  // ---- its parts
  // The engine on disk.
  Engine& engine() { return engine_; }
  RowEngines& engines() { return engines_; }
  Recovery& recovery() { return recovery_; }
  WriteAheadLog& log() { return log_; }
  DiskRoom& disk_room() { return disk_room_; }
  Compactor& compactor() { return compactor_; }
  LargeCommits& large_commits() { return large_commits_; }
  RowCache& cache() { return cache_; }
  Stripes& stripes() { return stripes_; }
  DatabaseTable& databases() { return databases_; }
  CollectionIds& collection_ids() { return ids_; }
  Staging& staging() { return staging_; }
  RankIndexes& rank_indexes() { return rank_indexes_; }
  MemoryDivision& memory() { return memory_; }
  LazyFree& lazy_free() { return lazy_free_; }
  ProbeHistory& probes() { return probes_; }
  // The start of the next active expiry (types/expiry.h).
  ExpiryStart& expiry_start(StorageMode mode) { return expiry_starts_[mode == StorageMode::kMemory ? 1 : 0]; }
  KeyspaceCounters& counters() { return counters_; }
  // The interest in changes (storage/interest.h).
  Interests& interests() { return interests_; }
  // The rows that an import has written.
  RowHashes& names() { return names_; }

  // Whether no database had a key when the store was opened, including databases that `databases` hides.
  bool was_empty() const { return was_empty_; }
  // At most one; set before the store is used. Null: none.
  void set_listener(CommitListener* listener) { listener_ = listener; }
  CommitListener* listener() const { return listener_; }
  // The process ends together with the store, so its caches need not be freed.
  void EndsWithProcess() { ends_with_process_ = true; }

  // A row of Space::kMeta; empty if there is none.
  Result<std::string> ReadNote(std::string_view name) const;
  // Prefetches into the processor's cache the memory that locking and reading the row will touch first. Returns the
  // row's hash, for a later RowCache::PrefetchRow. Both are hints, and need no lock.
  uint64_t Prefetch(const RowKey& row) const;

  // ---- for compaction filters
  // False during Open, when it is not known yet which rows are alive.
  bool is_loaded() const { return loaded_.load(std::memory_order_acquire); }
  // Whether collection `id` still belongs to a key. Costs one point read.
  bool IsLiveCollection(CollectionId id);

  // A number for a worker whose transactions count keys.
  uint32_t NewCommitter() { return next_committer_.fetch_add(1); }

 private:
  explicit Store(const StoreOptions& options);

  Status Load();
  Status LoadDatabases();
  Status WriteDatabases();
  Status FollowModes();
  Status LoadCounts();

  Engine engine_;
  RowEngines engines_;
  Recovery recovery_;
  WriteAheadLog log_;
  CollectionIds ids_;
  DiskRoom disk_room_;
  RowCache cache_;
  RowHashes names_;
  Stripes stripes_;
  ProbeHistory probes_;
  RankIndexes rank_indexes_;
  MemoryDivision memory_;
  KeyspaceCounters counters_;
  LazyFree lazy_free_;
  DatabaseTable databases_;
  Staging staging_;
  std::array<ExpiryStart, 2> expiry_starts_{ExpiryStart(StorageMode::kSsd), ExpiryStart(StorageMode::kMemory)};
  Interests interests_;
  LargeCommits large_commits_{engine_};
  Compactor compactor_;
  CommitListener* listener_ = nullptr;
  std::atomic<uint32_t> next_committer_{1};
  bool ends_with_process_ = false;
  std::atomic<bool> loaded_{false};
  bool was_empty_ = false;  // fixed after Open
};

}  // namespace cairn
