// SPDX-License-Identifier: BSD-3-Clause
//
// RowCache: the key cache. It holds rows of the key and element spaces by their tagged row key, so a hit costs
// no look at RocksDB at all.
//
// Each of its shards holds its rows in two queues, as S3-FIFO does (Yang, Zhang, Qiu, Yue, Vigfusson, "FIFO Queues are
// All You Need for Cache Eviction", SOSP 2023). A new row enters the young one. What leaves that and was used meanwhile
// goes over into the other, the kept one; what was not is evicted. A row that leaves the kept queue enters it anew as
// often as it was used lately, three times at the most. So a row that was used once, by a pass over cold keys or by a
// bulk load, is evicted before any that was used twice, and a use touches nothing but the row itself. An overwrite
// leaves the row its place and, where it fits, its memory; it is no use.
//
// Only committed rows get in. Whoever inserts holds the row's stripe, so an insertion never overtakes a newer
// commit.
//
// When it has once had all rows there are, of an empty store or of a data set that was adopted, and nothing has had to
// leave since, the cache is *complete*: a row that is not in it does not exist, and RocksDB need not be asked. Each
// shard knows that of its own rows. Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/sharded_counter.h"
#include "cache/row_queue.h"
#include "cache/row_ref.h"
#include "cache/row_table.h"
#include "encoding/row_key.h"

namespace cairn {

class RowCache {
 public:
  explicit RowCache(size_t capacity_bytes);
  ~RowCache();

  // Whether it holds rows of the space.
  static bool Keeps(Space space) { return space == Space::kKeys || space == Space::kElements; }

  // A pinned row or a null RowRef; `use` says that it is used, not just looked at.
  // `now_s`, here and below, is Unix time.
  // `hash`, here and below, is Overlay::HashOf(tagged).
  RowRef Lookup(std::string_view tagged, uint64_t hash, bool use, int64_t now_s);
  // Has the processor fetch into its own cache where a row of this hash would be found, so that a Lookup a little later
  // need not wait for the memory; and, a little after that, the row itself.
  void Prefetch(uint64_t hash) const { ShardOf(hash).table.Prefetch(hash); }
  void PrefetchRow(uint64_t hash);
  // A row that is there already keeps its place, unless others have to leave for what it has grown by. One for which
  // too many would have to leave at once stays out.
  void Insert(std::string_view tagged, uint64_t hash, std::string_view value, int64_t used_s);
  // Inserts a row that is not in it, unless another one would have to leave; whether it did.
  bool InsertIfRoom(std::string_view tagged, uint64_t hash, std::string_view value, int64_t used_s);
  // For a row that was only peeked at.
  static constexpr int64_t kUnknownUse = 0;
  // Seconds since the row was last used or written. A row whose use the cache does not remember counts from
  // the cache's own beginning.
  int64_t IdleSeconds(std::string_view tagged, int64_t now_s);
  // Lets a row that is held count as last used then.
  void SetUsed(std::string_view tagged, int64_t used_s);
  // Whether uses are counted from here on (OBJECT FREQ). When they are not, a look-up costs nothing for it.
  void CountUses(bool counts) { counts_uses_.store(counts, std::memory_order_relaxed); }
  bool counts_uses() const { return counts_uses_.load(std::memory_order_relaxed); }
  // How often the row was used lately, on Redis's logarithmic scale: a new row has kNewFrequency, it rises ever more
  // slowly with the uses and falls by one for each minute without one. A row the cache does not hold counts as new.
  static constexpr uint8_t kNewFrequency = 5;
  uint8_t Frequency(std::string_view tagged, int64_t now_s);
  // For a row that is held.
  void SetFrequency(std::string_view tagged, uint8_t frequency);
  // For a row that does not exist any more.
  void Erase(std::string_view tagged, uint64_t hash);
  // Takes out rows that do not exist any more: those whose tagged keys `is_dead` names. One pass over the cache.
  void EraseDead(const std::function<bool(std::string_view)>& is_dead);

  // Empties the cache; rows that are pinned go when they are released.
  void EraseAll();
  // Leaves the rows to the end of the process, as freeing them one by one takes seconds when they are millions
  // (Cache::DisownData, rocksdb/cache.h). REQUIRES: no row is pinned, and the cache is not used again.
  void Disown();

  // Whether a row of this hash that a Lookup before this has not found does not exist.
  bool IsComplete(uint64_t hash) const { return ShardOf(hash).IsComplete(); }
  // The store has no row at present, and nobody writes one.
  void NoteEmptyStore() { NoteAllRows(Mark()); }

  // What has left each shard so far, to be asked for while nobody writes a row or admits one.
  using Departures = std::vector<uint64_t>;
  Departures Mark() const;
  // Of the rows there are, all that are not here have left since that mark, or came by a commit since.
  void NoteAllRows(const Departures& mark);
  // Rows came into the store that no commit wrote: whoever looks for one from now on has to ask RocksDB.
  void NoteUnknownRows();

  void SetCapacity(size_t bytes);
  size_t capacity() const { return capacity_.load(std::memory_order_relaxed); }
  size_t usage() const;  // bytes charged, pinned ones included
  uint64_t hits() const { return hits_.load(); }
  uint64_t misses() const { return misses_.load(); }

 private:
  struct alignas(64) Shard {
    std::mutex mutex;  // guards what follows, but for the atomics
    RowTable table;
    RowQueue young;
    RowQueue kept;
    size_t capacity = 0;
    std::atomic<size_t> charged{0};       // bytes of its rows, those included that were evicted and are still pinned
    std::atomic<uint64_t> departures{1};  // counts each time something may have to leave, before it does
    std::atomic<uint64_t> complete_since{0};  // what `departures` was when it had all rows; 0: it never had

    bool IsComplete() const {
      return departures.load(std::memory_order_acquire) == complete_since.load(std::memory_order_acquire);
    }
    void NoteDeparture() { departures.fetch_add(1, std::memory_order_release); }
    RowQueue& QueueOf(const CachedRow* row) { return row->is_kept ? kept : young; }
    bool IsTooLarge(size_t charge) const;
    bool HasRoomFor(size_t charge) const { return charged.load(std::memory_order_relaxed) + charge <= capacity; }
    // These need the lock. Evict makes room for so much, unless what is left is pinned, and ends after so many rows.
    void Add(CachedRow* row);
    void Replace(CachedRow* old, CachedRow* row);
    void Remove(CachedRow* row);
    void Evict(size_t charge, size_t most_rows);
    bool EvictOne();
    // Takes the lock. Evicts a part of what is more than this from now on; whether there is more to evict.
    bool Shrink(size_t bytes);
  };

  Shard& ShardOf(uint64_t hash) { return shards_[ShardNumber(hash)]; }
  const Shard& ShardOf(uint64_t hash) const { return shards_[ShardNumber(hash)]; }
  static size_t ShardNumber(uint64_t hash);
  uint8_t FrequencyOf(const CachedRow* row, int64_t now_s) const;
  // Calls `look` with the row, or with null when there is none, holding its shard's lock.
  template <typename Look>
  void WithRow(std::string_view tagged, const Look& look);

  std::vector<Shard> shards_;
  std::atomic<size_t> capacity_;
  const int64_t created_s_;
  bool is_disowned_ = false;
  std::atomic<bool> counts_uses_{false};
  ShardedCounter hits_;
  ShardedCounter misses_;
};

}  // namespace cairn
