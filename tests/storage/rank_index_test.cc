// SPDX-License-Identifier: BSD-3-Clause
//
// The counted index compared with a sorted set of rows, and its promise about emptied ends.
#include "storage/rank_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "store_fixture.h"

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

// A queue is emptied at one end while it grows at the other. The leaf of its first row must not reach back over
// deleted rows: reading it would step over every one of them.
TEST(RankIndex, DoesNotReachBackOverAnEmptiedFront) {
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

// A queue: small parts of the front are read and popped.
TEST(RankIndex, CountsItsBytesAsLeavesAreAddedAndRemoved) {
  constexpr uint64_t kRows = 20000;
  constexpr uint64_t kFront = 2 * RankIndex::kLeafRows;
  RankIndex index(kRows);
  const size_t at_first = index.bytes();
  for (uint64_t row = 0; row < kRows; ++row) {
    const RankIndex::Place place = index.FindRank(0);
    if (const RankIndex::Leaf& leaf = index.At(place); !leaf.resident) {
      std::vector<RankIndex::Leaf> leaves;
      for (uint64_t at = row; at < std::min(row + kFront, kRows); at += RankIndex::kLeafRows) {
        const uint64_t size = std::min<uint64_t>(RankIndex::kLeafRows, kRows - at);
        leaves.push_back({at == row ? leaf.first : RowOf(at), size, true, {}});
        for (uint64_t i = at; i < at + size; ++i) leaves.back().rows.Append(RowOf(i));
      }
      if (row + kFront < kRows) leaves.push_back({RowOf(row + kFront), kRows - row - kFront, false, {}});
      index.Replace(place, std::move(leaves));
    }
    index.Remove(RowOf(row));
    ASSERT_LT(index.bytes(), at_first + 3 * (sizeof(RankIndex::Leaf) + kFront * 16)) << row;
  }
  EXPECT_EQ(index.count(), 0u);
  EXPECT_EQ(index.bytes(), at_first);
}

TEST(RankIndex, DoesNotReachOverAnEmptiedBack) {
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

// An index made from rows that were rolled back must not end the server.
TEST(RankIndex, IsBrokenByTheRemovalOfAnUnknownRow) {
  RankIndex index(0);
  for (uint64_t i = 0; i < 100; ++i) index.Add(RowOf(2 * i));
  index.Remove(RowOf(1));
  EXPECT_GT(index.count(), 100u);  // more than any collection has
  index.Remove(RowOf(2));
  index.Add(RowOf(2));
  EXPECT_GT(index.count(), 100u);
  RankIndex emptied(0);
  emptied.Remove(RowOf(1));
  EXPECT_GT(emptied.count(), 100u);
}

TEST(RankIndex, CountsARowOncePerItem) {
  RankIndex index(1000, RankIndex::Weights::kMany);
  index.Add(RowOf(7), 120);
  index.Remove(RowOf(8), 1000);
  EXPECT_EQ(index.count(), 120u);
  index.Remove(RowOf(7), 121);
  EXPECT_GT(index.count(), 1000u);
}

// Makes an index of so many rows in the stripe, which is locked meanwhile.
RankIndex& Fill(Stripes& stripes, RankIndexes& indexes, uint32_t stripe, uint64_t rows) {
  const auto* owner = reinterpret_cast<const Transaction*>(&stripes);  // never dereferenced
  EXPECT_TRUE(stripes.TryLock(stripe, owner));
  RankIndex& index = indexes.Create(stripe, Space::kElements, stripe, 0);
  const size_t before = index.bytes();
  for (uint64_t i = 0; i < rows; ++i) index.Add(RowOf(i));
  indexes.Charge(static_cast<int64_t>(index.bytes() - before), index, owner);
  stripes.Unlock(stripe, owner);
  return index;
}

// Leaves of which only the counts are known need memory too.
TEST(RankIndex, MergesLeavesWhoseRowsAreNotResident) {
  constexpr uint64_t kRows = 20000;
  RankIndex index(0);
  for (uint64_t i = 0; i < kRows; ++i) index.Add(RowOf(i));
  index.Trim(0);
  const size_t leaves = CountLeaves(index);
  const size_t bytes = index.bytes();
  index.Coarsen(bytes);
  EXPECT_EQ(CountLeaves(index), leaves);
  for (int round = 0; round < 3; ++round) index.Coarsen(0);
  EXPECT_LT(CountLeaves(index), leaves / 6);
  EXPECT_LT(index.bytes(), bytes / 6);
  EXPECT_EQ(index.count(), kRows);
  for (uint64_t i = 0; i < kRows; i += 7) {
    const RankIndex::Place by_row = index.FindRow(RowOf(i));
    const RankIndex::Place by_rank = index.FindRank(i);
    ASSERT_EQ(by_row.before, by_rank.before);
    ASSERT_TRUE(by_row.before <= i && i < by_row.before + index.At(by_row).count) << i;
  }
}

// A pass over ten million rows costs more than reading a leaf again.
TEST(RankIndexes, DropTheRowsOfOthersBeforeTheirCounts) {
  constexpr uint64_t kRows = 5000;
  Stripes stripes;
  RankIndexes indexes(stripes, 1 << 30);
  const RankIndex& first = Fill(stripes, indexes, 1, kRows);
  ASSERT_TRUE(first.At(first.FindRank(kRows / 2)).resident);
  const size_t capacity = indexes.bytes() * 3 / 2;
  indexes.SetCapacity(capacity);
  const RankIndex& second = Fill(stripes, indexes, 2, kRows);
  EXPECT_LE(indexes.bytes(), capacity);
  ASSERT_EQ(indexes.Find(1, Space::kElements, 1), &first);
  EXPECT_EQ(first.count(), kRows);
  EXPECT_FALSE(first.At(first.FindRank(kRows / 2)).resident);
  EXPECT_TRUE(second.At(second.FindRank(kRows / 2)).resident);
  // If even the counts need too much memory, the index is dropped.
  Fill(stripes, indexes, 3, 8 * kRows);
  EXPECT_EQ(indexes.Find(1, Space::kElements, 1), nullptr);
}

using RankIndexesOfStore = StoreFixture;

TEST_F(RankIndexesOfStore, BorrowFromTheKeyCache) {
  const size_t whole = store().cache().capacity();
  store().memory().AdjustTo({});
  EXPECT_EQ(store().cache().capacity(), whole);
  Stripes stripes;
  Fill(stripes, store().rank_indexes(), 1, 400000);  // 4 MB of a budget of 64
  store().memory().AdjustTo({});
  EXPECT_LT(store().cache().capacity(), whole);
  EXPECT_GT(store().cache().capacity(), whole / 2);
  store().rank_indexes().Drop(1, 1);
  store().memory().AdjustTo({});
  EXPECT_EQ(store().cache().capacity(), whole);
}

// Otherwise each command that is dropped would add to the bytes that the indexes seem to use.
TEST_F(RankIndexesOfStore, ADroppedCommandLeavesTheirBytesAsTheyAre) {
  constexpr CollectionId kCollection = 7;
  Begin();
  const Key key(txn().databases().keyspace(0), "key");
  Lock(key);
  RankIndexes& indexes = store().rank_indexes();
  const RankIndex& index = indexes.Create(key.stripe(), Space::kElements, kCollection, 0);
  const size_t others = indexes.bytes() - index.bytes();
  for (uint64_t i = 0; i < 1000; ++i) txn().ranks().RowAdded(MakeElementRow(kCollection, RowOf(i), key.stripe()));
  EXPECT_EQ(indexes.bytes(), others + index.bytes());
  txn().AbandonCommand();
  EXPECT_EQ(index.count(), 0u);
  EXPECT_EQ(indexes.bytes(), others + index.bytes());
  txn().Discard();
}

TEST_F(RankIndexesOfStore, TheKeyCacheShrinksWhileTheProcessIsTooLarge) {
  const size_t whole = store().cache().capacity();
  const uint64_t budget = Budget::Of(64 << 20).total;
  for (int i = 0; i < 100; ++i) store().memory().AdjustTo({.resident_bytes = budget + budget / 4});
  const size_t least = store().cache().capacity();
  EXPECT_LT(least, whole);
  EXPECT_GE(least, whole / 2);
  for (int i = 0; i < 100; ++i) store().memory().AdjustTo({.resident_bytes = budget / 2});
  EXPECT_GT(store().cache().capacity(), least);
  EXPECT_LT(store().cache().capacity(), whole);
  for (int i = 0; i < 1000; ++i) store().memory().AdjustTo({.resident_bytes = budget / 2});
  EXPECT_EQ(store().cache().capacity(), whole);
}

}  // namespace
}  // namespace cairn
