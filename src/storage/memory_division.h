// SPDX-License-Identifier: BSD-3-Clause
//
// MemoryDivision: gives each consumer its part of the memory budget (storage/budget.h). The sum never exceeds the
// budget: the key cache shrinks by as much as rank indexes and clients borrow.
//
// The parts do not tell all that is resident: the allocator has free pages and pages that are used in part, scripts and
// compactions need memory for a moment. So the key cache also shrinks while the process's resident memory is above the
// budget, until it is not, and grows again slowly.
//
// Thread: any.
#pragma once

#include <cstdint>

#include "base/mutex.h"
#include "cache/row_cache.h"
#include "storage/budget.h"
#include "storage/engine.h"
#include "storage/rank_index.h"

namespace cairn {

class MemoryDivision {
 public:
  MemoryDivision(Engine& engine, RowCache& cache, RankIndexes& rank_indexes, const Budget& budget)
      : engine_(engine), cache_(cache), rank_indexes_(rank_indexes), budget_(budget) {}

  void Set(const Budget& budget);
  // What takes memory beside the shares of the budget.
  struct Used {
    uint64_t client_bytes = 0;
    uint64_t database_bytes = 0;  // of databases in memory, without memtables
    uint64_t resident_bytes = 0;  // of the process
  };
  // Shrinks the key cache by the bytes that databases in memory use, that rank indexes and clients use beyond their
  // share, and by which the process exceeds the budget; and grows it again. Called ten times a second; cheap.
  void AdjustTo(const Used& used);

 private:
  Engine& engine_;
  RowCache& cache_;
  RankIndexes& rank_indexes_;
  Mutex mutex_;
  Budget budget_ ABSL_GUARDED_BY(mutex_);
  uint64_t excess_ ABSL_GUARDED_BY(mutex_) = 0;  // taken from the key cache because the process is too large
};

}  // namespace cairn
