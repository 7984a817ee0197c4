// SPDX-License-Identifier: BSD-3-Clause
#include "storage/memory_division.h"

#include <algorithm>

namespace cairn {
namespace {

// Smaller changes of the key cache are postponed.
constexpr size_t kSteps = 64;
// Resident memory is kept below the budget by this share of it, which something may need for a moment.
constexpr uint64_t kMarginDivisor = 32;
// Freed rows leave the resident memory a second later, so each of ten steps a second takes a part of what is too much.
constexpr uint64_t kShrinkDivisor = 8;
// The share of the key cache that it gets back with each step: all of it in about two minutes.
constexpr uint64_t kGrowDivisor = 1024;

}  // namespace

void MemoryDivision::Set(const Budget& budget) {
  {
    const MutexLock lock(mutex_);
    budget_ = budget;
    cache_.SetCapacity(budget.key_cache);
  }
  engine_.SetMemory(budget);
  rank_indexes_.SetCapacity(budget.rank_indexes + budget.rank_index_extra);
}

void MemoryDivision::AdjustTo(const Used& used) {
  const MutexLock lock(mutex_);
  const size_t indexes = rank_indexes_.bytes();
  const size_t lent =
      indexes > budget_.rank_indexes ? std::min<size_t>(indexes - budget_.rank_indexes, budget_.rank_index_extra) : 0;
  const size_t to_clients = used.client_bytes > budget_.clients
                                ? std::min<size_t>(used.client_bytes - budget_.clients, budget_.rank_index_extra)
                                : 0;
  const uint64_t most_resident = budget_.total - budget_.total / kMarginDivisor;
  if (used.resident_bytes > most_resident) {
    excess_ = std::min(excess_ + (used.resident_bytes - most_resident) / kShrinkDivisor, budget_.rank_index_extra);
  } else {
    excess_ -= std::min(excess_, budget_.key_cache / kGrowDivisor);
  }
  const size_t lost = std::min(lent + to_clients + used.database_bytes + excess_, budget_.key_cache / 8 * 7);
  const size_t capacity = budget_.key_cache - lost;
  const size_t now = cache_.capacity();
  const size_t change = capacity > now ? capacity - now : now - capacity;
  if (change == 0 || (change < budget_.key_cache / kSteps && lost > 0)) return;
  cache_.SetCapacity(capacity);
}

}  // namespace cairn
