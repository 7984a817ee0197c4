// SPDX-License-Identifier: BSD-3-Clause
#include "stats/process_memory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <vector>

namespace cairn {
namespace {

// A thread keeps a part of what it frees for its next allocations, half a megabyte in this test.
TEST(ProcessMemory, DoesNotCountWhatWasFreed) {
  if (std::getenv("CAIRN_TEST_SANITIZER") != nullptr) GTEST_SKIP() << "a sanitizer has its own allocator";
  constexpr size_t kBlocks = 200;
  constexpr size_t kLeft = 100 << 10;
  const uint64_t before = ProcessMemory::Read().allocated;
  std::vector<std::unique_ptr<char[]>> blocks;
  size_t bytes = 0;
  for (size_t i = 0; i < kBlocks; ++i) {
    const size_t size = 1000 + 20 * i;
    blocks.push_back(std::make_unique<char[]>(size));
    bytes += size;
  }
  EXPECT_GE(ProcessMemory::Read().allocated, before + bytes);
  blocks.clear();
  EXPECT_LT(ProcessMemory::Read().allocated, before + kLeft);
}

}  // namespace
}  // namespace cairn
