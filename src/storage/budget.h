// SPDX-License-Identifier: BSD-3-Clause
//
// Budget: `memory-budget` divided among those who spend it. What is not handed out is for what grows with the
// load rather than with the data: client buffers, ticks, thread stacks, the allocator's own slack, the binary.
//
// Thread: a value; copied.
#pragma once

#include <cstdint>

namespace cairn {

struct Budget {
  uint64_t total = 0;         // bytes, all of it
  uint64_t key_cache = 0;     // rows in the key cache
  uint64_t block_cache = 0;   // blocks, index and filter partitions, table readers; memtables are charged to it
  uint64_t memtables = 0;     // of block_cache: where RocksDB starts to flush
  uint64_t rank_indexes = 0;  // what they always may take
  uint64_t clients = 0;       // of what is not handed out; what clients take beyond it they borrow as rank indexes do
  uint64_t rank_index_extra = 0;  // of key_cache: what rank indexes may take beyond that (MemoryDivision::AdjustTo)

  // The division of `total` bytes. Small budgets keep a fixed sum back for the process itself.
  static Budget Of(uint64_t total);
};

// What memory-budget is when nobody sets it: 40 percent of the machine's memory or of the cgroup's limit, the
// lower of the two. At least 64 MB.
uint64_t DefaultMemoryBudget();

}  // namespace cairn
