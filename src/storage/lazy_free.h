// SPDX-License-Identifier: BSD-3-Clause
//
// LazyFree: frees in the background the rows that O(1) deletes leave behind. Dropping a spread collection or a whole
// keyspace touches none of its rows: they stay in the key cache until evicted, and on disk until a compaction reads
// them. LazyFree removes them from the cache and suggests to RocksDB which files to compact now.
//
// Nothing depends on when or whether it runs. A large collection takes several runs, since the cron thread has other
// work. Thread: any may add; Run belongs to the cron thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "cache/row_cache.h"
#include "encoding/row_key.h"

namespace cairn {

class Store;

class LazyFree {
 public:
  // Called when a spread collection has lost its key.
  void AddCollection(CollectionId id);
  // Keyspaces were dropped. `empty_below` is not 0 if no database had a key left: every collection below it is dead.
  void AddFlush(CollectionId empty_below);

  // Frees a part of what was added so far. One call deletes up to 16,384 rows of collections. After AddFlush it also
  // deletes the files that have only dead rows, and it removes the dead rows from a part of the key cache. The next
  // calls retry what fails, a collection a few times, and the files until they are deleted.
  Status Run(Store& store);

  // While a hold lasts, no row that was alive at its start is deleted from disk (StoreSnapshot). A hold first waits
  // for files that are being dropped.
  void Hold() {
    holds_.fetch_add(1);
    const MutexLock wait(work_mutex_);
  }
  void Release() { holds_.fetch_sub(1); }
  bool is_held() const { return holds_.load() > 0; }

  uint64_t pending() const { return pending_.load(std::memory_order_relaxed); }
  // ---- since the start
  // Rows of dropped collections that are left to compactions.
  uint64_t orphans() const { return orphans_.load(std::memory_order_relaxed); }
  // The number of calls of AddFlush.
  uint64_t flushes() const { return flushes_.load(std::memory_order_relaxed); }

 private:
  // The progress within one collection.
  struct Walk {
    CollectionId id;
    std::string next;   // the row at which to continue
    uint64_t rows = 0;  // visited so far
    int failures = 0;   // runs that ended with an error
  };

  bool BeginNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(work_mutex_);
  Status FreeCollections(Store& store) ABSL_EXCLUSIVE_LOCKS_REQUIRED(work_mutex_);
  // Subtracts the visited rows from `rows_left`; sets `is_done` if the collection has no more.
  Status FreeRows(Store& store, uint64_t& rows_left, bool& is_done) ABSL_EXCLUSIVE_LOCKS_REQUIRED(work_mutex_);
  Status SuggestCompaction(Store& store, CollectionId id);
  Status DropDeadFiles(Store& store, CollectionId empty_below);
  void EraseDeadRows(Store& store) ABSL_EXCLUSIVE_LOCKS_REQUIRED(work_mutex_);

  Mutex work_mutex_;  // held while Run works
  Mutex mutex_ ABSL_ACQUIRED_AFTER(work_mutex_);
  std::optional<Walk> walk_ ABSL_GUARDED_BY(work_mutex_);
  std::optional<RowCache::Pass> cache_pass_ ABSL_GUARDED_BY(work_mutex_);       // after AddFlush
  CollectionId cache_empty_below_ ABSL_GUARDED_BY(work_mutex_) = 0;             // for cache_pass_
  std::optional<CollectionId> files_empty_below_ ABSL_GUARDED_BY(work_mutex_);  // until the files are deleted
  std::deque<CollectionId> collections_ ABSL_GUARDED_BY(mutex_);
  CollectionId empty_below_ ABSL_GUARDED_BY(mutex_) = 0;
  bool flushed_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<uint64_t> pending_{0};
  std::atomic<uint64_t> orphans_{0};
  std::atomic<uint64_t> flushes_{0};
  std::atomic<int> holds_{0};
};

}  // namespace cairn
