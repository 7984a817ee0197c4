// SPDX-License-Identifier: BSD-3-Clause
//
// ProcessMemory: how much memory the process uses, as its allocator and as the kernel count it.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <string>

#include "config/settings.h"

namespace cairn {

struct ProcessMemory {
  uint64_t allocated = 0;  // bytes the program has asked for and not given back
  uint64_t active = 0;     // in pages that hold some of them
  uint64_t resident = 0;   // the allocator's, in physical memory
  uint64_t rss = 0;        // the whole process, in physical memory
  uint64_t rss_peak = 0;   // the most it ever was
  uint64_t machine = 0;    // what the machine has

  static ProcessMemory Read();
};

// All the memory the server may use, as `memory-budget` has it.
uint64_t MemoryBudget(const Settings& settings);

// Under a small budget: no huge pages, one arena of the allocator for all threads started from here on, and free pages
// given back sooner. Slower by a tenth, and without it the process takes half as much again as it uses. To be called
// once, before other threads are started.
void ArrangeMemory(uint64_t budget_bytes);

// The allocator's own report of its arenas and bins, for people. Takes a while.
std::string DescribeAllocator();

// Gives free pages back to the kernel.
void PurgeFreeMemory();

}  // namespace cairn
