// SPDX-License-Identifier: BSD-3-Clause
//
// RowTable: the rows of a shard of the key cache by their tagged keys.
//
// Open addressing with linear probing, each row as near to the place its hash names, its home, as those of lower homes
// let it be (Robin Hood hashing, Celis 1986). A place is one word: eight bits of how far from home the row is, eight of
// its hash, and its address, so that a look-up reads one line of the table and then the row it is after, hardly ever
// another one. A row's home is its hash's upper bits; so rows lie in the order of their hashes' upper bits, and a walk
// by these meets each row once however the table grows meanwhile.
//
// Thread: needs the shard's lock, but for Prefetch.
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
  // Leaves the rows alone.
  ~RowTable();
  RowTable(const RowTable&) = delete;
  RowTable& operator=(const RowTable&) = delete;

  size_t size() const { return size_; }
  // Null when there is none.
  CachedRow* Find(uint64_t hash, std::string_view tagged) const;
  // Makes sure that the next Insert of this hash finds a place; false when too many rows have their homes around there.
  // Throws std::bad_alloc.
  bool Reserve(uint64_t hash);
  // REQUIRES: Reserve for its hash, and no row of its key is here.
  void Insert(CachedRow* row);
  // REQUIRES: the row is here.
  void Remove(const CachedRow* row);
  void Clear();

  // The rows whose homes are among the next `homes` ones, beginning with that of the hash `cursor`, which is moved on;
  // false after the last home.
  bool Next(uint64_t& cursor, size_t homes, std::vector<CachedRow*>& rows) const;

  // Has the processor fetch the place of a row of this hash into its cache. Thread: any, without the lock.
  void Prefetch(uint64_t hash) const;
  // The same for the row itself, when a row is in its place.
  void PrefetchRow(uint64_t hash) const;

 private:
  static constexpr int kFewestBits = 6;
  static constexpr int kMostBits = 26;  // the bits below are the shards' (row_cache.cc)
  static constexpr uint64_t kFurther = 1ull << 56;
  static constexpr size_t kFarthest = 255;

  static size_t DistanceAfter(uint64_t place) { return place >> 56; }  // one more than how far from home; 0: empty
  static CachedRow* RowOf(uint64_t place) { return reinterpret_cast<CachedRow*>(place & ((1ull << 48) - 1)); }
  static uint64_t TagOf(uint64_t hash) { return (hash & 0xff) << 48; }
  size_t homes() const { return size_t{1} << bits(); }
  int bits() const { return bits_.load(std::memory_order_relaxed); }
  size_t HomeOf(uint64_t hash) const { return hash >> (64 - bits()); }
  uint64_t* places() const { return places_.load(std::memory_order_relaxed); }
  size_t PlaceOf(const CachedRow* row) const;
  // Where a row of this hash goes, and the first empty place from there on.
  struct Gap {
    size_t at;
    size_t empty;
    bool fits;
  };
  Gap GapFor(uint64_t hash) const;
  bool Grow();

  // Places after the last home too, so that nothing has to go round.
  std::atomic<uint64_t*> places_{nullptr};
  std::atomic<int> bits_{kFewestBits};
  size_t size_ = 0;
};

}  // namespace cairn
