// SPDX-License-Identifier: BSD-3-Clause
#include "cache/row_table.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/assert.h"

namespace cairn {
namespace {

// An insertion moves rows by at most this much, and the last home needs as many slots behind it.
constexpr size_t kOverhang = 512;
// The most rows in a table for 2^n homes: seven eighths.
constexpr size_t MostRows(int bits) { return (size_t{7} << bits) / 8; }
// With fewer rows than an eighth, a missing slot is not caused by the number of rows.
constexpr size_t FewRows(int bits) { return (size_t{1} << bits) / 8; }
// How far ahead the rows' own memory is prefetched while all rows are read.
constexpr size_t kAhead = 16;

uint64_t* NewPlaces(int bits) {
  void* const memory = std::calloc((size_t{1} << bits) + kOverhang, sizeof(uint64_t));
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<uint64_t*>(memory);
}

}  // namespace

RowTable::RowTable() : places_(NewPlaces(kFewestBits)) {}

RowTable::~RowTable() { std::free(places()); }

CachedRow* RowTable::Find(uint64_t hash, std::string_view tagged) const {
  const uint64_t* place = places() + HomeOf(hash);
  for (uint64_t wanted = kFurther | TagOf(hash);; wanted += kFurther, ++place) {
    if (*place >> 48 == wanted >> 48) {
      CachedRow* const row = RowOf(*place);
      if (row->hash == hash && row->tagged() == tagged) return row;
    } else if (DistanceAfter(*place) < DistanceAfter(wanted)) {
      return nullptr;
    }
    if (DistanceAfter(wanted) == kFarthest) return nullptr;
  }
}

RowTable::Gap RowTable::GapFor(uint64_t hash) const {
  const uint64_t* const all = places();
  const size_t end = homes() + kOverhang;
  Gap gap{.at = HomeOf(hash), .empty = 0, .fits = true};
  size_t distance = 1;
  while (DistanceAfter(all[gap.at]) >= distance && distance <= kFarthest) ++gap.at, ++distance;
  gap.fits = distance <= kFarthest;
  for (gap.empty = gap.at; gap.fits && all[gap.empty] != 0; ++gap.empty) {
    // Each row here moves one slot further from its home. The last slot stays empty to end every search.
    gap.fits = DistanceAfter(all[gap.empty]) < kFarthest && gap.empty + 2 < end;
  }
  return gap;
}

bool RowTable::Reserve(uint64_t hash) {
  while (size_ >= MostRows(bits()) || !GapFor(hash).fits) {
    if (size_ < FewRows(bits()) || !Grow()) return false;
  }
  return true;
}

void RowTable::Insert(CachedRow* row) {
  const Gap gap = GapFor(row->hash);
  ASSERT(gap.fits, "a place was reserved");
  uint64_t* const all = places();
  for (size_t at = gap.empty; at > gap.at; --at) all[at] = all[at - 1] + kFurther;
  const uint64_t distance = gap.at - HomeOf(row->hash) + 1;
  const auto address = reinterpret_cast<uint64_t>(row);
  ASSERT(address >> 48 == 0, "an address has 48 bits");
  all[gap.at] = distance << 56 | TagOf(row->hash) | address;
  ++size_;
}

size_t RowTable::PlaceOf(const CachedRow* row) const {
  size_t at = HomeOf(row->hash);
  while (RowOf(places()[at]) != row) ++at;
  return at;
}

void RowTable::Remove(const CachedRow* row) {
  uint64_t* const all = places();
  size_t at = PlaceOf(row);
  for (; DistanceAfter(all[at + 1]) > 1; ++at) all[at] = all[at + 1] - kFurther;
  all[at] = 0;
  --size_;
}

void RowTable::Clear() {
  uint64_t* const fresh = NewPlaces(kFewestBits);
  std::free(places());
  bits_.store(kFewestBits, std::memory_order_relaxed);
  places_.store(fresh, std::memory_order_relaxed);
  size_ = 0;
}

// Doubles the homes. Old rows are read in the order of their new homes, so each is inserted behind the previous one.
bool RowTable::Grow() {
  if (bits() == kMostBits) return false;
  const size_t end = homes() + kOverhang;
  uint64_t* const old = places();
  uint64_t* const fresh = NewPlaces(bits() + 1);
  bits_.store(bits() + 1, std::memory_order_relaxed);
  places_.store(fresh, std::memory_order_relaxed);
  size_ = 0;
  for (size_t at = 0; at < end; ++at) {
    if (at + kAhead < end) __builtin_prefetch(RowOf(old[at + kAhead]));
    if (old[at] != 0) Insert(RowOf(old[at]));
  }
  std::free(old);
  return true;
}

bool RowTable::Next(uint64_t& cursor, size_t count, std::vector<CachedRow*>& rows) const {
  const uint64_t* const all = places();
  const size_t first = HomeOf(cursor);
  const size_t last = std::min(first + count, homes());
  for (size_t at = first; at < last + kFarthest; ++at) {
    if (all[at] == 0) continue;
    const size_t home = at - (DistanceAfter(all[at]) - 1);
    if (home >= last) break;  // all further rows have later homes too
    if (home >= first) rows.push_back(RowOf(all[at]));
  }
  if (last == homes()) return false;
  cursor = static_cast<uint64_t>(last) << (64 - bits());
  return true;
}

void RowTable::Prefetch(uint64_t hash) const { __builtin_prefetch(places() + HomeOf(hash)); }

void RowTable::PrefetchRow(uint64_t hash) const {
  const uint64_t* place = places() + HomeOf(hash);
  for (uint64_t wanted = kFurther | TagOf(hash); DistanceAfter(*place) >= DistanceAfter(wanted); ++place) {
    if (*place >> 48 == wanted >> 48) {
      const auto* const row = reinterpret_cast<const char*>(RowOf(*place));
      __builtin_prefetch(row);
      __builtin_prefetch(row + 64);
      return;
    }
    if (DistanceAfter(wanted) == kFarthest) return;
    wanted += kFurther;
  }
}

}  // namespace cairn
