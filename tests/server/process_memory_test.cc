// SPDX-License-Identifier: BSD-3-Clause
#include "server/process_memory.h"

#include <gtest/gtest.h>

#include <thread>

namespace cairn {
namespace {

// jemalloc spreads threads over its arenas, so by themselves not all of them would be given this one.
TEST(ProcessMemory, ThreadsTakeMemoryFromTheArenaOfWhoMadeThem) {
  const unsigned own = ThreadArena();
  for (int i = 0; i < 16; ++i) {
    unsigned used = own + 1;
    std::thread([&] {
      UseArena(own);
      used = ThreadArena();
    }).join();
    EXPECT_EQ(used, own);
  }
}

}  // namespace
}  // namespace cairn
