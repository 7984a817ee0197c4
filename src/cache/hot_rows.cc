// SPDX-License-Identifier: BSD-3-Clause
//
// The part of RowCache that serves the warm-up after a restart (storage/cache_warmup.h).
#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "cache/row_cache.h"

namespace cairn {
namespace {

// A lock must not be held for long; waiting threads get it in the gap.
constexpr size_t kRowsPerLock = 1024;
constexpr auto kGap = std::chrono::microseconds(50);

// Rows of the kept queue that were used since an eviction last skipped them come first, then the rest of that queue,
// then young rows that were used, then all others.
constexpr size_t kClasses = 4;
constexpr size_t kKeptClasses = 2;
size_t ClassOf(const CachedRow& row) {
  return (row.is_kept ? 0 : kKeptClasses) + (row.uses.load(std::memory_order_relaxed) == 0 ? 1 : 0);
}

}  // namespace

HotRows RowCache::HottestRows(size_t most_bytes) {
  HotRows hot;
  std::vector<CachedRow*> rows;
  const size_t most_of_shard = most_bytes / shards_.size();
  for (Shard& shard : shards_) {
    std::array<RowNames, kClasses> classes;
    uint64_t cursor = 0;
    for (bool more = true; more; std::this_thread::sleep_for(kGap)) {
      const MutexLock lock(shard.mutex);
      rows.clear();
      more = shard.table.Next(cursor, kRowsPerLock, rows);
      for (const CachedRow* const row : rows) {
        RowNames& same = classes[ClassOf(*row)];
        if (same.memory() + RowNames::MemoryOf(row->key_size) <= most_of_shard) same.Add(row->tagged());
      }
    }
    size_t left = most_of_shard;
    for (size_t number = 0; number < kClasses; ++number) {
      const RowNames& same = classes[number];
      RowNames& names = number < kKeptClasses ? hot.kept : hot.young;
      for (size_t i = 0; i < same.size() && RowNames::MemoryOf(same[i].size()) <= left; ++i) {
        left -= RowNames::MemoryOf(same[i].size());
        names.Add(same[i]);
      }
    }
  }
  return hot;
}

bool RowCache::InsertHot(std::string_view tagged, uint64_t hash, std::string_view value, bool is_kept) {
  return AddIfRoom(tagged, hash, value, kUnknownUse, is_kept ? Queue::kKept : Queue::kYoung);
}

}  // namespace cairn
