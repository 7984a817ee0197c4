// SPDX-License-Identifier: BSD-3-Clause
//
// LazyFree: gives back, in the background, what O(1) deletes left behind. Dropping a spread collection or a whole
// keyspace touches none of its rows; they stay in the key cache until evicted and on disk until compaction happens
// to pass. Here the dead rows leave the cache, and RocksDB is pointed at the files worth compacting now.
//
// It is housekeeping: nothing depends on when it runs, or whether. A large collection takes several runs, since the
// cron thread has other duties. Thread: any may add; Run belongs to the cron thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "encoding/row_key.h"

namespace cairn {

class Store;

class LazyFree {
 public:
  // A spread collection has lost its key.
  void AddCollection(CollectionId id);
  // Keyspaces were dropped. `empty_below` is not 0 when no database had a key left: then every collection below
  // it is dead.
  void AddFlush(CollectionId empty_below);

  // Works off what was added so far, up to some ten thousand rows of collections.
  Status Run(Store& store);

  // While somebody holds it, nothing that was alive when the hold began leaves the disk (StoreSnapshot). Files that are
  // being dropped when a hold begins go first.
  void Hold() {
    holds_.fetch_add(1);
    const std::lock_guard wait(work_mutex_);
  }
  void Release() { holds_.fetch_sub(1); }
  bool is_held() const { return holds_.load() > 0; }

  uint64_t pending() const { return pending_.load(std::memory_order_relaxed); }

 private:
  // How far one collection is.
  struct Walk {
    CollectionId id;
    std::string next;   // the row to go on at
    uint64_t rows = 0;  // passed
  };

  bool BeginNext();
  // Takes from `rows_left` what it walks over; `is_done` becomes whether that was all.
  Status FreeRows(Store& store, uint64_t& rows_left, bool& is_done);
  Status SuggestCompaction(Store& store, CollectionId id);
  Status FreeKeyspaces(Store& store, CollectionId empty_below);

  std::mutex work_mutex_;  // held while Run works; before mutex_
  std::mutex mutex_;
  std::optional<Walk> walk_;              // guarded by work_mutex_
  std::deque<CollectionId> collections_;  // guarded by mutex_
  CollectionId empty_below_ = 0;          // guarded by mutex_
  bool flushed_ = false;                  // guarded by mutex_
  std::atomic<uint64_t> pending_{0};
  std::atomic<int> holds_{0};
};

}  // namespace cairn
