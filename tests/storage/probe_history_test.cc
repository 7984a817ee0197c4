// SPDX-License-Identifier: BSD-3-Clause
#include "storage/probe_history.h"

#include <gtest/gtest.h>

#include <memory>

namespace cairn {
namespace {

constexpr uint64_t kRows = 100'000;

// Spreads numbers over all bits, as Overlay::HashOf does.
uint64_t Hash(uint64_t row) { return row * 0x9E3779B97F4A7C15; }

// The number of the rows for which the history asks for a probe, each of which has this outcome.
uint64_t CountProbes(ProbeHistory& history, uint64_t first, uint64_t rows, bool refused) {
  uint64_t probes = 0;
  for (uint64_t row = first; row < first + rows; ++row) {
    if (!history.IsWorthAProbe(Hash(row))) continue;
    ++probes;
    history.Note(refused);
  }
  return probes;
}

TEST(ProbeHistory, ProbesForEachRowWhileBlocksAreInMemory) {
  ProbeHistory history;
  EXPECT_EQ(CountProbes(history, 0, kRows, false), kRows);
}

// Data many times the memory: a probe for each row would cost the I/O thread a look-up for nothing.
TEST(ProbeHistory, ProbesForFewRowsWhileBlocksAreOnDisk) {
  ProbeHistory history;
  EXPECT_LT(CountProbes(history, 0, kRows, true), kRows / 8);
}

// A service whose hot rows are in memory must not send them to the slow lane because of the cold ones.
TEST(ProbeHistory, ProbesForEachRowIfAFifthIsInMemory) {
  ProbeHistory history;
  for (uint64_t row = 0; row < kRows; ++row) {
    ASSERT_TRUE(history.IsWorthAProbe(Hash(row))) << "row " << row;
    history.Note(row % 5 != 0);
  }
}

TEST(ProbeHistory, ProbesAgainSoonAfterBlocksCameIntoMemory) {
  ProbeHistory history;
  CountProbes(history, 0, kRows, true);
  CountProbes(history, kRows, 1000, false);
  EXPECT_EQ(CountProbes(history, 2 * kRows, 1000, false), 1000u);
}

// A write whose row was fetched runs again: another no would fetch the row again, for ever.
TEST(ProbeHistory, ProbesForARowThatItRefusedBefore) {
  ProbeHistory history;
  CountProbes(history, 0, kRows, true);
  for (uint64_t row = kRows; row < kRows + 1000; ++row) {
    if (!history.IsWorthAProbe(Hash(row))) {
      EXPECT_TRUE(history.IsWorthAProbe(Hash(row))) << "row " << row;
    }
  }
}

}  // namespace
}  // namespace cairn
