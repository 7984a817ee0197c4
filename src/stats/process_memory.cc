// SPDX-License-Identifier: BSD-3-Clause
#include "stats/process_memory.h"

#include <jemalloc/jemalloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>

#include "base/thread.h"
#include "storage/budget.h"

// jemalloc reads this before main: it asks the kernel for huge pages (jemalloc(3), "opt.thp"). Memtables and the key
// cache are read at random, and with small pages most reads would also miss the TLB.
extern "C" const char* malloc_conf;
const char* malloc_conf = "thp:always";

namespace cairn {
namespace {

// Below this budget, unused allocator memory would be a large part of the budget.
constexpr uint64_t kSmallBudget = uint64_t{1} << 30;
constexpr ssize_t kSmallBudgetDecayMs = 1000;

// One thread often frees rows that another has allocated; with several arenas, each keeps holes that no other can fill.
void UseFirstArena() {
  unsigned arena = 0;
  mallctl("thread.arena", nullptr, nullptr, &arena, sizeof arena);
}

uint64_t ReadStat(const char* name) {
  size_t value = 0;
  size_t size = sizeof value;
  return mallctl(name, &value, &size, nullptr, 0) == 0 ? value : 0;
}

// The memory that was freed and that its thread keeps for its next allocations. jemalloc counts it as allocated.
uint64_t CachedBytes() {
  static const std::string name = "stats.arenas." + std::to_string(MALLCTL_ARENAS_ALL) + ".tcache_bytes";
  return ReadStat(name.c_str());
}

// jemalloc updates its statistics only on request.
void RefreshStats() {
  uint64_t epoch = 1;
  size_t size = sizeof epoch;
  mallctl("epoch", &epoch, &size, &epoch, size);
}

uint64_t PageBytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t total_pages = 0;
  uint64_t resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * PageBytes();
}

ProcessMemory ProcessMemory::Read() {
  RefreshStats();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const uint64_t allocated = ReadStat("stats.allocated");
  return {.allocated = allocated - std::min(allocated, CachedBytes()),
          .active = ReadStat("stats.active"),
          .resident = ReadStat("stats.resident"),
          .rss = ResidentBytes(),
          .rss_peak = static_cast<uint64_t>(usage.ru_maxrss) * 1024,
          .machine = MachineMemory()};
}

uint64_t MaxDataSize(const Settings& settings) {
  const auto own = static_cast<uint64_t>(settings.max_data_size.load());
  return own != 0 ? own : static_cast<uint64_t>(settings.maxmemory.load());
}

uint64_t MemoryBudget(const Settings& settings) {
  const auto set = static_cast<uint64_t>(settings.memory_budget.load());
  return set == 0 ? DefaultMemoryBudget() : set;
}

void ArrangeMemory(uint64_t budget_bytes) {
  if (budget_bytes >= kSmallBudget) return;
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  for (const char* name : {"arenas.dirty_decay_ms", "arena.0.dirty_decay_ms"}) {
    ssize_t decay_ms = kSmallBudgetDecayMs;
    mallctl(name, nullptr, nullptr, &decay_ms, sizeof decay_ms);
  }
  bool has_thread = true;
  mallctl("background_thread", nullptr, nullptr, &has_thread, sizeof has_thread);
  UseFirstArena();
  SetThreadSetUp(&UseFirstArena);
}

std::string DescribeAllocator() {
  std::string text;
  const auto append = [](void* to, const char* piece) { static_cast<std::string*>(to)->append(piece); };
  malloc_stats_print(append, &text, nullptr);
  return text;
}

void PurgeFreeMemory() {
  const std::string all_arenas = "arena." + std::to_string(MALLCTL_ARENAS_ALL) + ".purge";
  mallctl(all_arenas.c_str(), nullptr, nullptr, nullptr, 0);
}

}  // namespace cairn
