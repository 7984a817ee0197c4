// SPDX-License-Identifier: BSD-3-Clause
#include "storage/memory_division.h"

#include <algorithm>

namespace cairn {

void MemoryDivision::Set(const Budget& budget) {
  {
    const MutexLock lock(mutex_);
    budget_ = budget;
    cache_.SetCapacity(budget.key_cache);
  }
  engine_.SetMemory(budget);
  rank_indexes_.SetCapacity(budget.rank_indexes + budget.rank_index_extra);
}

void MemoryDivision::AdjustTo(uint64_t client_bytes) {
  constexpr size_t kSteps = 64;  // smaller changes are postponed
  const MutexLock lock(mutex_);
  const size_t used = rank_indexes_.bytes();
  const size_t lent =
      used > budget_.rank_indexes ? std::min<size_t>(used - budget_.rank_indexes, budget_.rank_index_extra) : 0;
  const size_t to_clients =
      client_bytes > budget_.clients ? std::min<size_t>(client_bytes - budget_.clients, budget_.rank_index_extra) : 0;
  const size_t capacity = budget_.key_cache - lent - to_clients;
  const size_t now = cache_.capacity();
  const size_t change = capacity > now ? capacity - now : now - capacity;
  if (change == 0 || (change < budget_.key_cache / kSteps && lent + to_clients > 0)) return;
  cache_.SetCapacity(capacity);
}

}  // namespace cairn
