// SPDX-License-Identifier: BSD-3-Clause
//
// MemoryDivision: hands the parts of the memory budget (storage/budget.h) to those who spend them. The sum of what is
// handed out never exceeds the budget: what rank indexes and clients borrow, the key cache gives up.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <mutex>

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
  // The key cache gives up what rank indexes and clients use beyond their share, and gets it back when they shrink.
  // Called ten times a second; cheap.
  void AdjustTo(uint64_t client_bytes);

 private:
  Engine& engine_;
  RowCache& cache_;
  RankIndexes& rank_indexes_;
  std::mutex mutex_;
  Budget budget_;  // guarded by mutex_
};

}  // namespace cairn
