// SPDX-License-Identifier: BSD-3-Clause
//
// RowCache: the key cache. It holds rows of the key and element spaces by their tagged row key, so a hit does not
// touch RocksDB at all.
//
// Each shard has two queues, as in S3-FIFO (Yang, Zhang, Qiu, Yue, Vigfusson, "FIFO Queues are All You Need for Cache
// Eviction", SOSP 2023). A new row enters the young queue. A row at its end moves to the kept queue if it was used
// meanwhile, else it is evicted. A row at the end of the kept queue enters it again as often as it was used lately, at
// most three times. So a row that was used once, by a scan of cold keys or by a bulk load, is evicted before any row
// that was used twice, and a use writes nothing but the row itself. An overwritten row keeps its position and, where
// the value fits, its memory; an overwrite is not a use.
//
// If asked to (RememberUses), it also remembers when the rows that left last were used.
//
// Only committed rows are inserted. The inserting thread holds the row's stripe, so it never overwrites a newer commit.
//
// The cache is *complete* if it once held all existing rows (of an empty store or an adopted data set) and has evicted
// none since. Then a row that is not in the cache does not exist, and RocksDB need not be asked. Each shard tracks
// this for its own rows. Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/sharded_counter.h"
#include "cache/past_uses.h"
#include "cache/row_names.h"
#include "cache/row_queue.h"
#include "cache/row_ref.h"
#include "cache/row_table.h"
#include "encoding/row_key.h"

namespace cairn {

class RowCache {
 public:
  explicit RowCache(size_t capacity_bytes);
  ~RowCache();

  // Whether the cache holds rows of the space.
  static bool Keeps(Space space) { return space == Space::kKeys || space == Space::kElements; }

  // Returns a pinned row or a null RowRef; `use`: the look-up counts as a use, not as a peek. `now_s`, here and below,
  // is Unix time. `hash`, here and below, is Overlay::HashOf(tagged).
  RowRef Lookup(std::string_view tagged, uint64_t hash, bool use, int64_t now_s);
  // Whether the row is in the cache; neither a use nor a look-up that is counted.
  bool Has(std::string_view tagged, uint64_t hash);
  // Prefetches the slot for a row of this hash into the processor's cache, so that a Lookup a little later need not
  // wait for memory; PrefetchRow, called in between, prefetches the row itself.
  void Prefetch(uint64_t hash) const { ShardOf(hash).Prefetch(hash); }
  void PrefetchRow(uint64_t hash);
  // An existing row keeps its position, unless others must be evicted because it has grown. A row that would evict too
  // many others is not inserted.
  void Insert(std::string_view tagged, uint64_t hash, std::string_view value, int64_t used_s);
  // Inserts a row that is not in the cache, unless that would evict another one; returns whether it did.
  bool InsertIfRoom(std::string_view tagged, uint64_t hash, std::string_view value, int64_t used_s);
  // For the warm-up after a restart. Inserts a row into the kept or the young queue, unless it is in the cache or that
  // would evict another one; returns whether it did.
  bool InsertHot(std::string_view tagged, uint64_t hash, std::string_view value, bool is_kept);
  // Returns the tagged keys of the most used rows, unsorted, in at most `most_bytes` of memory. It walks over all rows,
  // about 0.2 us each, and holds a shard's lock for a thousand rows at a time.
  HotRows HottestRows(size_t most_bytes);
  // The last use of a row that was only peeked at.
  static constexpr int64_t kUnknownUse = 0;
  // Seconds since the row was last used or written. If the cache does not know, the time since the cache was created,
  // or, while it remembers uses, a longer time than for all rows that it knows.
  int64_t IdleSeconds(std::string_view tagged, int64_t now_s);
  // Whether the last use of rows that leave the cache is remembered, in a 32nd of its memory: of about one row for 64
  // bytes of the cache. Costs a look-up nothing.
  void RememberUses(bool remembers);
  // Sets the last use of a row in the cache.
  void SetUsed(std::string_view tagged, int64_t used_s);
  // Whether uses are counted from now on (OBJECT FREQ). If not, a look-up has no cost for it.
  void CountUses(bool counts) { counts_uses_.store(counts, std::memory_order_relaxed); }
  bool counts_uses() const { return counts_uses_.load(std::memory_order_relaxed); }
  // How often the row was used lately, on Redis's logarithmic scale: a new row has kNewFrequency; the value rises ever
  // more slowly with uses and falls by one for each minute without use. A row that is not in the cache counts as new,
  // or as new at its last use if that is remembered.
  static constexpr uint8_t kNewFrequency = 5;
  uint8_t Frequency(std::string_view tagged, int64_t now_s);
  // Sets the frequency of a row in the cache.
  void SetFrequency(std::string_view tagged, uint8_t frequency);
  // Removes a row that no longer exists.
  void Erase(std::string_view tagged, uint64_t hash);
  // How far a pass over the cache has come.
  struct Pass {
    size_t shard = 0;
    uint64_t cursor = 0;
  };
  // Removes rows that no longer exist: `is_dead` tells by the tagged key. Goes on with the pass for so many short holds
  // of a shard's lock, of about a thousand rows each; returns whether the pass has to go on.
  bool EraseDead(Pass& pass, int locks, const std::function<bool(std::string_view)>& is_dead);

  // Empties the cache; pinned rows are freed when they are released.
  void EraseAll();
  // Does not free the rows at the end of the process, because freeing millions of rows takes seconds
  // (Cache::DisownData, rocksdb/cache.h). REQUIRES: no row is pinned, and the cache is not used again.
  void Disown();

  // Whether the cache is complete for rows of this hash: a row that an earlier Lookup did not find does not exist.
  bool IsComplete(uint64_t hash) const { return ShardOf(hash).IsComplete(); }
  // The store has no row now, and no thread writes one.
  void NoteEmptyStore() { NoteAllRows(Mark()); }

  // The number of evictions per shard so far. REQUIRES: no thread writes or admits a row.
  using Departures = std::vector<uint64_t>;
  Departures Mark() const;
  // Every row that is not cached was evicted or committed after `mark`.
  void NoteAllRows(const Departures& mark);
  // Rows were added to the store without a commit: look-ups of missing rows must ask RocksDB from now on.
  void NoteUnknownRows();

  void SetCapacity(size_t bytes);
  size_t capacity() const { return capacity_.load(std::memory_order_relaxed); }
  size_t usage() const;  // bytes charged, pinned rows and past uses included
  uint64_t hits() const { return hits_.load(); }
  uint64_t misses() const { return misses_.load(); }

 private:
  struct alignas(64) Shard {
    Mutex mutex;
    RowTable table ABSL_GUARDED_BY(mutex);
    RowQueue young ABSL_GUARDED_BY(mutex);
    RowQueue kept ABSL_GUARDED_BY(mutex);
    size_t capacity ABSL_GUARDED_BY(mutex) = 0;             // for rows
    std::unique_ptr<PastUses> past ABSL_GUARDED_BY(mutex);  // null: uses are not remembered
    std::atomic<size_t> charged{0};           // bytes of its rows, with evicted rows that are still pinned
    std::atomic<uint64_t> departures{1};      // grows before each eviction that may remove a row
    std::atomic<uint64_t> complete_since{0};  // `departures` when it had all rows; 0: it never had

    bool IsComplete() const {
      return departures.load(std::memory_order_acquire) == complete_since.load(std::memory_order_acquire);
    }
    // The one call of the table that needs no lock.
    void Prefetch(uint64_t hash) const ABSL_NO_THREAD_SAFETY_ANALYSIS { table.Prefetch(hash); }
    void NoteDeparture() { departures.fetch_add(1, std::memory_order_release); }
    RowQueue& QueueOf(const CachedRow* row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { return row->is_kept ? kept : young; }
    bool IsTooLarge(size_t charge) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
    bool HasRoomFor(size_t charge) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
      return charged.load(std::memory_order_relaxed) + charge <= capacity;
    }
    // Evict frees `charge` bytes, unless all other rows are pinned, and stops after `most_rows`.
    void Add(CachedRow* row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
    void Replace(CachedRow* old, CachedRow* row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
    void Remove(CachedRow* row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
    void Evict(size_t charge, size_t most_rows) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
    bool EvictOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
    // Takes the lock. Gives the shard this size, with or without a memory for past uses.
    void Resize(size_t bytes, bool remembers);
    // Takes the lock. Evicts some of the rows above the size; returns whether more must be evicted.
    bool Shrink();
  };

  Shard& ShardOf(uint64_t hash) { return shards_[ShardNumber(hash)]; }
  const Shard& ShardOf(uint64_t hash) const { return shards_[ShardNumber(hash)]; }
  static size_t ShardNumber(uint64_t hash);
  enum class Queue : unsigned char { kYoung, kKept };
  // A row that enters the kept queue counts as used once, so that it is not evicted before any other use.
  bool AddIfRoom(std::string_view tagged, uint64_t hash, std::string_view value, int64_t used_s, Queue queue);
  void Resize();
  uint8_t FrequencyOf(const CachedRow* row, int64_t now_s) const;
  // When the row of this hash, if it is in the cache, or the row that left it, was last used.
  std::optional<int64_t> LastUse(const Shard& shard, uint64_t hash, const CachedRow* row) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  // Calls `look` with the row, if it is in the cache, holding the shard's lock.
  template <typename Look>
  void WithRow(std::string_view tagged, const Look& look);

  std::vector<Shard> shards_;
  std::atomic<size_t> capacity_;
  const int64_t created_s_;
  bool is_disowned_ = false;
  std::atomic<bool> counts_uses_{false};
  std::atomic<bool> remembers_uses_{false};
  ShardedCounter hits_;
  ShardedCounter misses_;
};

}  // namespace cairn
