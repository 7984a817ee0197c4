// SPDX-License-Identifier: BSD-3-Clause
//
// The counted index against a sorted set of rows, and what it promises to those who empty an end.
#include "storage/rank_index.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <string>

#include "base/random.h"

namespace cairn {
namespace {

std::string RowOf(uint64_t number) {
  std::string digits = std::to_string(number);
  return std::string(8 - digits.size(), '0') + digits;
}

size_t CountLeaves(const RankIndex& index) {
  size_t leaves = 1;
  for (RankIndex::Place place; index.Advance(place);) ++leaves;
  return leaves;
}

std::string_view RowAt(const RankIndex& index, uint64_t rank) {
  const RankIndex::Place place = index.FindRank(rank);
  return index.At(place).rows[rank - place.before];
}

TEST(RankIndex, FollowsTheModel) {
  Random random(5);
  RankIndex index(0);
  std::set<std::string> model;
  for (int step = 0; step < 20000; ++step) {
    const std::string row = RowOf(random.Below(3000));
    // Mostly additions first, mostly removals later.
    const bool adds = random.Below(20000) > static_cast<uint64_t>(step);
    if (adds && model.insert(row).second) index.Add(row);
    if (!adds && model.erase(row) == 1) index.Remove(row);
    ASSERT_EQ(index.count(), model.size());
    if (model.empty() || step % 10 != 0) continue;
    const uint64_t rank = random.Below(model.size());
    ASSERT_EQ(RowAt(index, rank), *std::next(model.begin(), static_cast<ptrdiff_t>(rank)));
  }
}

// A queue is emptied at one end while it grows at the other. The leaf of its first row must not
// reach back to the rows that are gone: reading it would step over every one of them.
TEST(RankIndex, LeavesEmptiedGroundBehind) {
  constexpr uint64_t kRows = 5000;
  RankIndex index(0);
  for (uint64_t i = 0; i < kRows; ++i) index.Add(RowOf(i));
  for (uint64_t i = 0; i < 20 * kRows; ++i) {
    index.Remove(RowOf(i));
    index.Add(RowOf(i + kRows));
    ASSERT_EQ(RowAt(index, 0), RowOf(i + 1));
    if (i < kRows) continue;
    ASSERT_GE(index.At(index.FindRank(0)).first, RowOf(i - RankIndex::kMaxLeafRows));
  }
  EXPECT_LT(CountLeaves(index), 3 * kRows / RankIndex::kLeafRows);
}

TEST(RankIndex, LeavesEmptiedGroundAtTheOtherEnd) {
  constexpr uint64_t kRows = 5000;
  RankIndex index(0);
  for (uint64_t i = 0; i < kRows; ++i) index.Add(RowOf(i));
  for (uint64_t last = kRows - 1; last > 0; --last) {
    index.Remove(RowOf(last));
    ASSERT_EQ(RowAt(index, last - 1), RowOf(last - 1));
    const std::string* after = index.BoundAfter(index.FindRank(last - 1));
    if (last < kRows / 2) {
      ASSERT_NE(after, nullptr);
      ASSERT_LT(*after, RowOf(last + RankIndex::kMaxLeafRows));
    }
  }
  EXPECT_LE(CountLeaves(index), 2u);
}

}  // namespace
}  // namespace cairn
