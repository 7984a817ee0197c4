// SPDX-License-Identifier: BSD-3-Clause
//
// ProcessMemory: the memory use of the process, as counted by its allocator and by the kernel.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <string>

#include "config/settings.h"

namespace cairn {

struct ProcessMemory {
  uint64_t allocated = 0;  // bytes allocated and not freed, without what threads keep in their caches
  uint64_t active = 0;     // bytes of pages with allocated bytes
  uint64_t resident = 0;   // the allocator's physical memory
  uint64_t rss = 0;        // the process's physical memory
  uint64_t rss_peak = 0;   // the highest rss so far
  uint64_t machine = 0;    // the machine's physical memory

  static ProcessMemory Read();
};

// The process's physical memory, ProcessMemory::rss, in bytes. Takes some microseconds.
uint64_t ResidentBytes();

// The memory that the server may use, by `memory-budget`.
uint64_t MemoryBudget(const Settings& settings);
// `max-data-size`, or `maxmemory` if that is 0. Bytes; 0: no limit.
uint64_t MaxDataSize(const Settings& settings);

// Under a small budget: no huge pages, one arena of the allocator for all threads started from here on, and an earlier
// return of free pages, by a thread of the allocator: without it, an arena whose threads have stopped allocating keeps
// its free pages (jemalloc(3), "background_thread"). This is slower by a tenth; otherwise the process takes half as
// much again as it uses. Call it once, before other threads are started.
void ArrangeMemory(uint64_t budget_bytes);

// Returns the allocator's own report on its arenas and bins, as text. Takes a while.
std::string DescribeAllocator();

// Returns free pages to the kernel.
void PurgeFreeMemory();

}  // namespace cairn
