// SPDX-License-Identifier: BSD-3-Clause
//
// RowTable: a hash table of one shard's rows, by tagged key.
//
// Open addressing with linear probing. Each row is as near to its home, the slot that its hash names, as the rows with
// lower homes allow (Robin Hood hashing, Celis 1986). A slot is one word: eight bits for the distance from home, eight
// bits of the hash, and the row's address. So a look-up reads one cache line of the table and then the row, and hardly
// ever another row. The home is given by the upper bits of the hash, so rows are ordered by these bits, and a walk in
// this order meets each row once even if the table grows meanwhile.
//
// Thread: needs the shard's lock, except for Prefetch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cache/cached_row.h"

namespace cairn {

class RowTable {
 public:
  RowTable();
  // Does not free the rows.
  ~RowTable();
  RowTable(const RowTable&) = delete;
  RowTable& operator=(const RowTable&) = delete;

  size_t size() const { return size_; }
  // Null if there is none.
  CachedRow* Find(uint64_t hash, std::string_view tagged) const;
  // Makes sure that the next Insert of this hash finds a slot; false if too many rows have their homes near there.
  // Throws std::bad_alloc.
  bool Reserve(uint64_t hash);
  // REQUIRES: Reserve was called for its hash, and the table has no row with its key.
  void Insert(CachedRow* row);
  // REQUIRES: the row is in the table.
  void Remove(const CachedRow* row);
  void Clear();

  // Collects the rows whose homes are among the next `homes` ones, from the home of hash `cursor` on, and advances
  // `cursor`; false after the last home.
  bool Next(uint64_t& cursor, size_t homes, std::vector<CachedRow*>& rows) const;

  // Prefetches the slot for a row of this hash into the processor's cache. Thread: any, without the lock.
  void Prefetch(uint64_t hash) const;
  // Prefetches the row itself if the slot has one.
  void PrefetchRow(uint64_t hash) const;

 private:
  static constexpr int kFewestBits = 6;
  static constexpr int kMostBits = 26;  // the hash bits below choose the shard (row_cache.cc)
  static constexpr uint64_t kFurther = 1ull << 56;
  static constexpr size_t kFarthest = 255;

  static size_t DistanceAfter(uint64_t place) { return place >> 56; }  // distance from home plus one; 0: empty
  static CachedRow* RowOf(uint64_t place) { return reinterpret_cast<CachedRow*>(place & ((1ull << 48) - 1)); }
  static uint64_t TagOf(uint64_t hash) { return (hash & 0xff) << 48; }
  size_t homes() const { return size_t{1} << bits(); }
  int bits() const { return bits_.load(std::memory_order_relaxed); }
  size_t HomeOf(uint64_t hash) const { return hash >> (64 - bits()); }
  uint64_t* places() const { return places_.load(std::memory_order_relaxed); }
  size_t PlaceOf(const CachedRow* row) const;
  // The slot where a row of this hash belongs, and the first empty slot from there on.
  struct Gap {
    size_t at;
    size_t empty;
    bool fits;
  };
  Gap GapFor(uint64_t hash) const;
  bool Grow();

  // Includes slots after the last home, so that probing never wraps around.
  std::atomic<uint64_t*> places_{nullptr};
  std::atomic<int> bits_{kFewestBits};
  size_t size_ = 0;
};

}  // namespace cairn
