// SPDX-License-Identifier: BSD-3-Clause
#include "storage/budget.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace cairn {
namespace {

constexpr uint64_t kMegabyte = 1ull << 20;

uint64_t CgroupLimit() {
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    uint64_t bytes;
    if (file >> bytes) return bytes;  // "max" does not read as a number
  }
  return UINT64_MAX;
}

}  // namespace

Budget Budget::Of(uint64_t total) {
  Budget budget;
  budget.total = total;
  // The process itself (code, stacks, compaction buffers, allocator slack) gets a fixed sum and a share.
  const uint64_t own = std::min(total / 3, 64 * kMegabyte + total / 10);
  const uint64_t rest = total - own;
  budget.key_cache = rest * 50 / 100;
  budget.block_cache = rest * 42 / 100;
  budget.memtables = std::min(budget.block_cache / 2, 512 * kMegabyte);
  budget.rank_indexes = rest * 5 / 100;
  budget.clients = total / 16;
  budget.rank_index_extra = budget.key_cache / 3;
  return budget;
}

uint64_t DefaultMemoryBudget() {
  const uint64_t machine =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
  return std::max(std::min(machine, CgroupLimit()) / 10 * 4, 64 * kMegabyte);
}

}  // namespace cairn
