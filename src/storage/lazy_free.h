// SPDX-License-Identifier: BSD-3-Clause
//
// LazyFree: frees in the background the rows that O(1) deletes leave behind. Dropping a spread collection or a whole
// keyspace touches none of its rows: they stay in the key cache until evicted, and on disk until a compaction reads
// them. LazyFree removes them from the cache, counts them, and suggests to RocksDB which files to compact now.
//
// Only the size that max-data-size limits depends on when it runs (storage/live_size.h). A large collection takes
// several runs, since the cron thread has other work. Thread: any may add; Run belongs to the cron thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "cache/row_cache.h"
#include "encoding/row_key.h"
#include "storage/dead_files.h"

namespace cairn {

class Store;

class LazyFree {
 public:
  // Called when a spread collection has lost its key.
  void AddCollection(CollectionId id);
  // Keyspaces were dropped, with so many keys on disk. `empty_below` is not 0 if no database had a key left: every
  // collection below it is dead.
  void AddFlush(CollectionId empty_below, uint64_t keys);

  // Frees a part of the collections and keyspaces that were added. One call visits up to 16,384 rows of collections.
  // After AddFlush it also deletes the files that have only dead rows, and it removes the dead rows from a part of the
  // key cache. The next calls retry what fails, a collection a few times, and the files until they are deleted. During
  // a hold it only visits rows of collections.
  Status Run(Store& store);

  // While a hold lasts, no row that was alive at its start is deleted from disk (StoreSnapshot). A hold first waits
  // for files that are being dropped.
  void Hold() {
    holds_.fetch_add(1);
    const MutexLock wait(work_mutex_);
  }
  void Release() { ended_holds_.fetch_add(1); }
  bool is_held() const {
    const uint64_t ended = ended_holds_.load();  // read first: a hold may begin before another one ends
    return holds_.load() != ended;
  }

  // The collections that wait for Run.
  uint64_t pending() const {
    const uint64_t done = done_.load();
    return added() - done;
  }
  // ---- since the start
  // The number of calls of Hold.
  uint64_t holds() const { return holds_.load(); }
  // The number of calls of AddCollection.
  uint64_t added() const { return added_.load(); }
  // The collections whose rows were visited, or given up.
  uint64_t done() const { return done_.load(); }
  // Rows of dropped collections that are left to compactions.
  uint64_t orphans() const { return orphans_.load(std::memory_order_relaxed); }
  // About how many of them are on disk and no compaction has dropped yet.
  uint64_t orphans_on_disk() const { return orphans_on_disk_.load(); }
  // Called when a compaction or a flush drops so many rows of elements on disk. They count until ForgetDropped. Rows
  // that a failed compaction has dropped are counted again when the next one drops them, so the garbage is
  // underestimated by them.
  void NoteDropped(uint64_t rows) { dropped_.fetch_add(rows); }
  // Called when the output of a compaction or a flush has taken the place of its input. It also forgets rows that
  // others have dropped which still run: RocksDB does not tell a filter to which of them it belongs.
  void ForgetDropped();
  // The number of calls of AddFlush.
  uint64_t flushes() const { return flushes_.load(std::memory_order_relaxed); }
  // The keys on disk in the keyspaces of these calls. Nobody counts the rows of their collections.
  uint64_t flushed_keys() const { return flushed_keys_.load(std::memory_order_relaxed); }

 private:
  // The progress within one collection.
  struct Walk {
    CollectionId id;
    std::string next;   // the row at which to continue
    uint64_t rows = 0;  // visited so far
    int failures = 0;   // runs that ended with an error
  };

  Status FreeKeyspaces(Store& store) ABSL_EXCLUSIVE_LOCKS_REQUIRED(work_mutex_);
  bool BeginNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(work_mutex_);
  Status FreeCollections(Store& store) ABSL_EXCLUSIVE_LOCKS_REQUIRED(work_mutex_);
  // Subtracts the visited rows from `rows_left`; sets `is_done` if the collection has no more.
  Status FreeRows(Store& store, uint64_t& rows_left, bool& is_done) ABSL_EXCLUSIVE_LOCKS_REQUIRED(work_mutex_);
  Status SuggestCompactions(Store& store) ABSL_EXCLUSIVE_LOCKS_REQUIRED(work_mutex_);
  Status SuggestCompaction(Store& store, CollectionId id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(work_mutex_);
  Status FlushLarge(Store& store) ABSL_EXCLUSIVE_LOCKS_REQUIRED(work_mutex_);
  // Returns whether it is done.
  Result<bool> DropDeadFiles(Store& store) ABSL_EXCLUSIVE_LOCKS_REQUIRED(work_mutex_);
  void EraseDeadRows(Store& store) ABSL_EXCLUSIVE_LOCKS_REQUIRED(work_mutex_);

  Mutex work_mutex_;  // held while Run works
  Mutex mutex_ ABSL_ACQUIRED_AFTER(work_mutex_);
  std::optional<Walk> walk_ ABSL_GUARDED_BY(work_mutex_);
  std::deque<Walk> large_ ABSL_GUARDED_BY(work_mutex_);                    // to be compacted
  size_t flushed_large_ ABSL_GUARDED_BY(work_mutex_) = 0;                  // the first of them that were flushed
  std::optional<RowCache::Pass> cache_pass_ ABSL_GUARDED_BY(work_mutex_);  // after AddFlush
  CollectionId cache_empty_below_ ABSL_GUARDED_BY(work_mutex_) = 0;        // for cache_pass_
  std::optional<DeadFiles> dead_files_ ABSL_GUARDED_BY(work_mutex_);       // after AddFlush, until they are deleted
  CollectionId files_empty_below_ ABSL_GUARDED_BY(work_mutex_) = 0;        // for dead_files_
  std::deque<CollectionId> collections_ ABSL_GUARDED_BY(mutex_);
  CollectionId empty_below_ ABSL_GUARDED_BY(mutex_) = 0;
  bool flushed_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<uint64_t> added_{0};
  std::atomic<uint64_t> done_{0};
  std::atomic<uint64_t> orphans_{0};
  std::atomic<uint64_t> orphans_on_disk_{0};
  std::atomic<uint64_t> dropped_{0};  // of them, since the last ForgetDropped
  std::atomic<uint64_t> flushes_{0};
  std::atomic<uint64_t> flushed_keys_{0};
  std::atomic<uint64_t> holds_{0};
  std::atomic<uint64_t> ended_holds_{0};
};

}  // namespace cairn
