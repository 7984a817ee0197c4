// SPDX-License-Identifier: BSD-3-Clause
//
// Store: the one place that speaks to RocksDB. It owns the database, a column family per space, the key cache,
// the lock stripes, and what is known about the data as a whole: the databases' keyspaces and key counts, the
// next collection id.
//
// Keys are counted exactly, also across kill -9: every batch that adds or removes keys carries the committing
// worker's own running sum per keyspace, in a meta row nobody else writes; the count is the sum over workers.
// On open they are folded into one.
//
// Thread: any, except where a function says otherwise.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cache/row_cache.h"
#include "encoding/row_key.h"
#include "storage/budget.h"
#include "storage/counters.h"
#include "storage/database_table.h"
#include "storage/expiry_start.h"
#include "storage/interest.h"
#include "storage/lazy_free.h"
#include "storage/log_tail.h"
#include "storage/rank_index.h"
#include "storage/row_files.h"
#include "storage/row_names.h"
#include "storage/stripes.h"

namespace rocksdb {
class DB;
class Env;
class ColumnFamilyHandle;
class RateLimiter;
class Cache;
class WriteBufferManager;
class Statistics;
class Status;
class WriteBatch;
struct WriteOptions;
}  // namespace rocksdb

namespace cairn {

struct StoreOptions {
  std::string dir;                                 // created when missing
  int databases = 16;
  Budget budget;
  uint64_t compaction_bytes_per_second = 0;        // 0: no limit
  int background_jobs = 2;
  int subcompactions = 2;
  uint64_t wal_bytes = 256ull << 20;               // where memtables are flushed to let old logs go
  bool keeps_logs = false;                         // for LogReader, until DropOldLogs (storage/old_logs.h)
  uint64_t blob_bytes = 64 * 1024;                 // values from here on live in blob files; 0: none do
  uint64_t most_open_tables = 0;                   // 0: all there are (storage/open_tables.h)
  bool direct_io = false;
  bool bottom_zstd = true;
  bool imports = false;                            // for one transaction that only writes: see docs/decisions/import.md
};

// Hears of committed changes to keys somebody waits for (BLPOP, WATCH). The calls come while the committer still
// holds the stripe, so they are in the order of the commits and must be short. Thread: any committer.
class CommitListener {
 public:
  virtual ~CommitListener() = default;
  virtual bool IsInterested(uint32_t stripe) const = 0;  // cheap; asked for every row
  // `exists`: the key is there now.
  virtual void OnKeyChanged(uint32_t stripe, std::string_view key_row, bool exists) = 0;
  // FLUSHDB, FLUSHALL, SWAPDB: any key of any database may have changed. `keyspaces` are those of the databases now;
  // `is_live` tells whether a key row is there and its time has not passed.
  virtual void OnKeyspacesChanged(std::span<const KeyspaceId> keyspaces,
                                  const std::function<bool(std::string_view)>& is_live) = 0;
};

struct KeyCountDelta;
class OpenTables;

class DiskReserve;

class Store {
 public:
  // Opens or creates the store. kCorruption or kIo with a sentence for the operator.
  static Result<std::unique_ptr<Store>> Open(const StoreOptions& options);
  ~Store();

  DatabaseTable& databases() { return databases_; }
  const DatabaseTable& databases() const { return databases_; }
  // Whether no database had a key when the store was opened, those included that `databases` hides. Thread: any.
  bool was_empty() const { return was_empty_; }
  // StoreOptions::imports. Thread: any.
  bool imports() const { return options_.imports; }

  // ---- maintenance, each may take long
  // Rewrites everything to the bottom: dead collections, dropped keyspaces and tombstones are gone after it.
  Status Compact();
  // Makes every commit so far survive a power loss. While commits are synced, an fsync that fails ends the process.
  Status SyncLog();
  // Whether each commit is synced before it is visible (`appendfsync always`, storage/log_sync.cc). What was committed
  // before is synced when this is turned on; on an error it stays off.
  Status SetSyncsCommits(bool on);
  bool syncs_commits() const { return syncs_commits_.load(std::memory_order_relaxed); }
  // Waits until the log is on the disk up to a sequence number that was written; if the disk refuses, the process ends.
  void MakeDurable(uint64_t sequence);
  // Grows with every write.
  uint64_t LatestSequence() const;
  // The last one that readers of the log may be shown: while commits are synced, the last durable one.
  uint64_t ReadableSequence() const;
  // A row of Space::kMeta; empty: there is none.
  Result<std::string> ReadNote(std::string_view name) const;
  // Writes memtables out, so that the next start has no log to replay.
  Status Flush();

  // ---- room on the disk (storage/disk_room.cc)
  DiskReserve& disk_reserve() { return *disk_reserve_; }
  const DiskReserve& disk_reserve() const { return *disk_reserve_; }
  // `min-free-disk`; 0: as much as is needed.
  void SetDiskReserve(uint64_t wanted);
  // Looks at what is free; where little is, has what was deleted leave the disk soon. Thread: "tick".
  void WatchDisk();

  // ---- a second set of keyspaces (storage/staging.cc), filled while the databases serve and then put in their
  // place by DatabaseChanges::AdoptStaged. One at a time: kIo when another is under way. Who began one ends it.
  Status BeginStaging(Transaction& txn);
  // The same with keyspaces, one for each database, whose rows have numbers that another server gave them
  // (storage/row_files.h). `next` is above all of them, `first` the lowest number of theirs. kIo when numbers from
  // `first` on have been used here since FreeNumbers was asked, or another staging is under way. What had left the key
  // cache by then.
  Result<RowCache::Departures> BeginStaging(Transaction& txn, const std::vector<KeyspaceId>& keyspaces,
                                            const RowNumbers& first, const RowNumbers& next);
  // Puts rows of those numbers into the key cache, as long as nothing has to leave for them; whether all are in it.
  // REQUIRES: they are staged, and nobody writes one.
  Result<bool> CacheStaged(const RowNumbers& first, const RowNumbers& next);
  // The numbers from which on none was ever used. Thread: any.
  RowNumbers FreeNumbers() const { return {databases_.next_keyspace(), next_collection_}; }
  // Drops the staged keyspaces if they were not adopted. No-op when none are staged.
  void EndStaging();

  // While somebody holds the dead, nothing that was alive when the hold began leaves the disk (StoreSnapshot).
  void HoldDead();
  void ReleaseDead() { dead_holds_.fetch_sub(1); }
  bool holds_dead() const { return dead_holds_.load() > 0; }

  // Where active expiry (types/expiry.h) begins.
  ExpiryStart& expiry_start() { return expiry_start_; }

  // Whether a key is committed under this row and its time has not passed. Reads the disk.
  bool IsLive(std::string_view key_row);

  // At most one; set before the store is used.
  void set_listener(CommitListener* listener) { listener_ = listener; }

  // ---- what others want to hear of changes (storage/interest.h)
  InterestMask interest() const { return interest_.load(std::memory_order_acquire); }
  // Sets the bits of `which` to those of `wanted`.
  void SetInterest(InterestMask which, InterestMask wanted);
  // No effects of commands are logged any more once it returns, until SetInterest. REQUIRES: all stripes are locked.
  void EndEffects();

  // ---- settable while running
  void SetCompactionRate(uint64_t bytes_per_second);
  void SetBudget(const Budget& budget);
  // The key cache gives up what rank indexes use beyond their share, and gets it back when they shrink. Called ten
  // times a second; cheap.
  void Lend(uint64_t client_bytes);

  // ---- tables that are open (storage/open_tables.h)
  uint64_t open_tables() const;
  Status SetMostOpenTables(uint64_t most);
  // Called ten times a second, and before `coming` tables are taken in. Waits when there are nearly too many; cheap
  // otherwise.
  void WatchOpenTables(uint64_t coming = 0);

  // ---- what INFO shows
  uint64_t Ticker(uint32_t rocksdb_ticker) const;
  // An integer property summed over the column families (rocksdb/db.h, DB::Properties).
  uint64_t Property(const std::string& name) const;
  std::string TextProperty(const std::string& name, Space space) const;
  uint64_t MemtableBytes() const;
  uint64_t BlockCacheBytes() const;
  // Fast lane looks that RocksDB could not answer from memory: not point reads, though its counter has them.
  uint64_t IncompleteProbes() const { return incomplete_probes_.load(std::memory_order_relaxed); }
  // False after a write failed for good (a full disk, say) until RocksDB has recovered.
  bool writable() const { return writable_.load(std::memory_order_relaxed); }
  // Reads a row from the disk so that its blocks are in memory. Waits.
  void Fetch(std::string_view tagged_row);
  // Ends the process when writes are refused because of an I/O error and RocksDB no longer works on it. Cheap; to be
  // called now and then.
  void WatchRecovery();
  std::string write_error() const;

  RowCache& cache() { return cache_; }
  // The process ends when the store does, and frees what is cached faster.
  void EndsWithProcess() { ends_with_process_ = true; }
  RankIndexes& rank_indexes() { return rank_indexes_; }
  KeyspaceCounters& counters() { return counters_; }
  LazyFree& lazy_free() { return lazy_free_; }
  LogTail& log_tail() { return log_tail_; }
  // Old logs go away only while this is held alone; who makes RocksDB list all the logs there are shares it.
  std::shared_mutex& old_logs_mutex() { return old_logs_mutex_; }  // storage/ only
  rocksdb::DB& db() { return *db_; }                                    // storage/ only
  rocksdb::ColumnFamilyHandle* family(Space space) { return families_[static_cast<int>(space)]; }  // storage/ only

  // ---- of compaction filters
  // False while opening, when nothing is known to be alive or dead.
  bool is_loaded() const { return loaded_.load(std::memory_order_acquire); }
  // Whether collection `id` still belongs to a key: one point read.
  bool IsLiveCollection(CollectionId id);

 private:
  friend class Transaction;
  friend class Cursor;
  friend class StoreSnapshot;
  friend class EngineListener;
  explicit Store(const StoreOptions& options);

  Status OpenDb();
  Status Load();
  Status LoadDatabases();
  Status LoadCounts();
  // Notes on the disk that ids below `end` are given out; does nothing when it is noted, and notes more ahead of need.
  // kWouldWait where it `may_wait` not, kIo when the disk refuses: nothing may be filed under them then.
  Status ReserveCollectionIds(CollectionId end, bool may_wait);
  Status WriteReservation(CollectionId end, bool may_wait);

  uint32_t NewCommitter() { return next_committer_.fetch_add(1); }
  CollectionId NewCollectionId() { return next_collection_.fetch_add(1, std::memory_order_relaxed); }
  // Takes keyspaces that are gone out of a committer's sums, and their rows with them, once there are more sums than
  // keyspaces. Does not wait: what cannot be done now is done after the next commit. Thread: the committer's.
  void DropDeadCounts(uint32_t committer, std::vector<KeyCountDelta>& counts);
  // The rest of BeginStaging, under all stripes: these keyspaces are alive from now on.
  Status Stage(Transaction& txn, const std::vector<KeyspaceId>& keyspaces);
  // Every write after Open comes this way.
  rocksdb::Status Write(const rocksdb::WriteOptions& options, rocksdb::WriteBatch& batch);
  // A batch that has been written into the log may be read there; `entries` is its log data.
  void NoteReadable(const rocksdb::WriteBatch& batch, std::string_view entries);
  Status SyncUpTo(uint64_t sequence);
  Status CompactAll();
  void NoteWriteError(const rocksdb::Status& error);
  // Ends the process when RocksDB recovers from an I/O error, now or later while it closes: it could not be closed.
  void PrepareClose();
  void EndIfLogIsLost(const std::string& error, bool has_recovered);
  void NoteRecovered();

  const StoreOptions options_;
  const std::unique_ptr<DiskReserve> disk_reserve_;
  RowCache cache_;
  bool ends_with_process_ = false;
  RowNames names_;
  Stripes stripes_;
  RankIndexes rank_indexes_;
  KeyspaceCounters counters_;
  LazyFree lazy_free_;
  LogTail log_tail_;
  std::mutex budget_mutex_;
  Budget budget_;  // guarded by budget_mutex_
  std::shared_ptr<rocksdb::Cache> block_cache_;
  std::shared_ptr<rocksdb::WriteBufferManager> write_buffers_;
  std::shared_ptr<rocksdb::RateLimiter> rate_limiter_;
  std::shared_ptr<rocksdb::Statistics> statistics_;
  std::shared_ptr<OpenTables> open_tables_;
  std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
  DatabaseTable databases_;
  std::atomic<int> dead_holds_{0};

  std::mutex sync_mutex_;
  std::condition_variable sync_done_;
  bool is_syncing_ = false;  // guarded by sync_mutex_
  std::atomic<bool> syncs_commits_{false};
  std::atomic<uint64_t> durable_sequence_{0};  // of the log; what it says is on the disk up to there

  std::mutex small_steps_mutex_;   // held during a COMPACT that makes small steps
  int64_t flushed_us_ = 0;         // of WatchDisk, as the next
  uint64_t flushed_sequence_ = 0;

  std::mutex ids_mutex_;
  std::atomic<CollectionId> next_collection_{1};
  std::atomic<uint32_t> next_committer_{1};
  std::atomic<CollectionId> reserved_collections_{0};  // the disk says that ids below are given out

  CommitListener* listener_ = nullptr;
  ExpiryStart expiry_start_;
  std::atomic<InterestMask> interest_{0};
  std::shared_mutex old_logs_mutex_;  // a leaf
  std::shared_mutex effects_mutex_;  // shared: effects of commands are written
  std::atomic<uint64_t> incomplete_probes_{0};
  std::atomic<bool> loaded_{false};
  bool was_empty_ = false;  // fixed after Open
  std::atomic<bool> writable_{true};
  std::atomic<bool> is_closing_{false};
  std::atomic<int64_t> recovery_seen_us_{0};  // when RocksDB was last seen to work on an error
  mutable std::mutex error_mutex_;
  std::string write_error_;
};

// RocksDB's verdict as ours: Incomplete is kWouldWait, Corruption keeps its name, the rest is kIo.
Status FromRocksDb(const rocksdb::Status& status);

}  // namespace cairn
