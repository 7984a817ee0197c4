// SPDX-License-Identifier: BSD-3-Clause
//
// Budget: `memory-budget` divided between the caches and buffers. The undivided remainder is for memory that grows
// with the load and not with the data: client buffers, ticks, thread stacks, the allocator's slack, the binary.
//
// Thread: a value; copied.
#pragma once

#include <cstdint>

namespace cairn {

struct Budget {
  uint64_t total = 0;             // bytes
  uint64_t key_cache = 0;         // rows in the key cache
  uint64_t block_cache = 0;       // blocks, index and filter partitions, table readers; memtables are charged to it
  uint64_t memtables = 0;         // part of block_cache: the size at which RocksDB flushes
  uint64_t rank_indexes = 0;      // always available to rank indexes
  uint64_t clients = 0;           // part of the undivided remainder; clients borrow more as rank indexes do
  uint64_t rank_index_extra = 0;  // part of key_cache: rank indexes may borrow it (MemoryDivision::AdjustTo)

  // Divides `total` bytes. Small budgets reserve a fixed sum for the process itself.
  static Budget Of(uint64_t total);
};

// The physical memory of the machine, in bytes.
uint64_t MachineMemory();

// The default of memory-budget: 40 percent of the machine's memory or the cgroup's limit, the lower; at least 64 MB.
uint64_t DefaultMemoryBudget();

}  // namespace cairn
