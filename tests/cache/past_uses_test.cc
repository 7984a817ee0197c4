// SPDX-License-Identifier: BSD-3-Clause
#include "cache/past_uses.h"

#include <gtest/gtest.h>

#include "base/hash.h"

namespace cairn {
namespace {

constexpr size_t kBytes = 64 * 1024;
constexpr int64_t kRows = kBytes / 2;

uint64_t HashOf(int64_t row) { return Hash64(std::to_string(row)); }

// One row leaves a second, `from` is the first second and row.
void NoteRows(PastUses& uses, int64_t from, int64_t rows) {
  for (int64_t row = from; row < from + rows; ++row) uses.Note(HashOf(row), row);
}

TEST(PastUses, KnowsTheRowsThatLeftLast) {
  PastUses uses(kBytes);
  const int64_t rows = 20 * kRows;
  NoteRows(uses, 1, rows);
  int64_t known = 0;
  for (int64_t row = rows - kRows / 2; row <= rows; ++row) {
    const std::optional<int64_t> used_s = uses.Find(HashOf(row));
    if (!used_s) continue;
    ++known;
    // A few rows share bits of their hash with a younger one.
    if (*used_s > row) continue;
    EXPECT_GT(*used_s, row - kRows / 16);
  }
  EXPECT_GT(known, kRows / 2 * 9 / 10);
}

// Otherwise an old row would look young once the number of its period is used again.
TEST(PastUses, ForgetsOldRows) {
  PastUses uses(kBytes);
  NoteRows(uses, 1, 40 * kRows);
  int64_t wrong = 0;
  for (int64_t row = 1; row <= kRows; ++row) wrong += uses.Find(HashOf(row)).has_value();
  EXPECT_LT(wrong, kRows / 20);
}

TEST(PastUses, AnOlderUseDoesNotReplaceAYoungerOne) {
  PastUses uses(kBytes);
  NoteRows(uses, 1, kRows);
  uses.Note(HashOf(kRows), 5);
  EXPECT_GT(uses.Find(HashOf(kRows)).value_or(0), kRows / 2);
  uses.Note(HashOf(-1), 5);
  EXPECT_LE(uses.Find(HashOf(-1)).value_or(0), 5);
}

TEST(PastUses, IsAsLargeAsAskedFor) {
  EXPECT_EQ(PastUses(kBytes).bytes(), kBytes);
  EXPECT_EQ(PastUses(100).bytes(), 96U);
}

}  // namespace
}  // namespace cairn
