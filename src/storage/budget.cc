// SPDX-License-Identifier: BSD-3-Clause
#include "storage/budget.h"

#include <unistd.h>

#include <algorithm>

#include "base/cgroup.h"

namespace cairn {
namespace {

constexpr uint64_t kMegabyte = 1ull << 20;

}  // namespace

Budget Budget::Of(uint64_t total) {
  Budget budget;
  budget.total = total;
  // The process itself (code, stacks, compaction buffers, allocator slack) gets a fixed sum and a share.
  const uint64_t own = std::min(total / 3, 64 * kMegabyte + total / 10);
  const uint64_t rest = total - own;
  budget.key_cache = rest / 100 * 50;
  budget.block_cache = rest / 100 * 42;
  budget.memtables = std::min(budget.block_cache / 2, 512 * kMegabyte);
  budget.rank_indexes = rest / 100 * 5;
  budget.clients = total / 16;
  budget.rank_index_extra = budget.key_cache / 3;
  return budget;
}

uint64_t MachineMemory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
}

uint64_t DefaultMemoryBudget() {
  const uint64_t machine = MachineMemory();
  const uint64_t limit = ReadCgroupMemoryLimit(getpid()).value_or(machine);
  return std::max(std::min(machine, limit) / 10 * 4, 64 * kMegabyte);
}

}  // namespace cairn
