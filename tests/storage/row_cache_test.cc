// SPDX-License-Identifier: BSD-3-Clause
//
// When the key cache may be believed that a row does not exist, and when it may not any more.
#include "storage/row_cache.h"

#include <gtest/gtest.h>

#include <string>

#include "storage/overlay.h"
#include "storage/store_fixture.h"

namespace cairn {
namespace {

constexpr size_t kCapacity = 64 * 4096;
constexpr int64_t kNow = 1000;

bool Has(RowCache& cache, const std::string& tagged) {
  bool was_hot = false;
  return static_cast<bool>(cache.Lookup(tagged, Overlay::HashOf(tagged), false, kNow, was_hot));
}

void Put(RowCache& cache, const std::string& tagged, const std::string& value, bool hot) {
  cache.Insert(tagged, Overlay::HashOf(tagged), value, hot, kNow);
}

// Whether it is complete for rows of all hashes. The upper half of one says the shard.
bool IsComplete(const RowCache& cache) {
  for (uint64_t upper = 0; upper < 256; ++upper) {
    if (!cache.IsComplete(upper << 32)) return false;
  }
  return true;
}

TEST(RowCache, IsCompleteUntilSomethingHasToLeave) {
  RowCache cache(kCapacity);
  EXPECT_FALSE(IsComplete(cache));
  cache.NoteEmptyStore();
  int rows = 0;
  const std::string value(100, 'v');
  for (; IsComplete(cache); ++rows) {
    ASSERT_LT(rows, 100000);
    for (int row = 0; row < rows; row += 10) ASSERT_TRUE(Has(cache, "row" + std::to_string(row)));
    Put(cache, "row" + std::to_string(rows), value, false);
  }
  EXPECT_GT(rows, 100);
}

TEST(RowCache, OverwritingAndErasingKeepItComplete) {
  RowCache cache(kCapacity);
  cache.NoteEmptyStore();
  for (int i = 0; i < 100000; ++i) {
    const std::string row = "row" + std::to_string(i % 100);
    bool was_hot = false;
    const RowRef pinned = cache.Lookup(row, Overlay::HashOf(row), true, kNow, was_hot);
    Put(cache, row, std::string(static_cast<size_t>(i % 200), 'v'), i % 2 == 0);
    if (i % 7 == 0) cache.Erase(row, Overlay::HashOf(row));
  }
  EXPECT_TRUE(IsComplete(cache));
}

TEST(RowCache, AShardThatHasLostARowSaysSoOfItsOwnAlone) {
  RowCache cache(kCapacity);
  cache.NoteEmptyStore();
  cache.Insert("large", 7ull << 32, std::string(4096, 'v'), false, kNow);
  EXPECT_FALSE(cache.IsComplete(7ull << 32));
  EXPECT_TRUE(cache.IsComplete(8ull << 32));
}

TEST(RowCache, IsCompleteWithAllRowsUnlessSomethingLeftSinceTheMark) {
  RowCache cache(kCapacity);
  const RowCache::Departures mark = cache.Mark();
  EXPECT_TRUE(cache.InsertIfRoom("k", Overlay::HashOf("k"), "v", kNow));
  EXPECT_FALSE(IsComplete(cache));
  cache.NoteAllRows(mark);
  EXPECT_TRUE(IsComplete(cache));
  cache.NoteUnknownRows();
  EXPECT_FALSE(IsComplete(cache));
  Put(cache, "large", std::string(4096, 'v'), false);
  cache.NoteAllRows(mark);
  EXPECT_FALSE(IsComplete(cache));
  EXPECT_FALSE(cache.IsComplete(Overlay::HashOf("large")));
  EXPECT_TRUE(Has(cache, "k"));
}

TEST(RowCache, NothingLeavesForARowThatIsInsertedIfThereIsRoom) {
  RowCache cache(kCapacity);
  cache.NoteEmptyStore();
  int rows = 0;
  const auto insert = [&](int row, size_t size) {
    const std::string tagged = "row" + std::to_string(row);
    return cache.InsertIfRoom(tagged, Overlay::HashOf(tagged), std::string(size, 'v'), kNow);
  };
  while (insert(rows, 100)) ASSERT_LT(++rows, 100000);
  EXPECT_GT(rows, 100);
  EXPECT_FALSE(insert(rows, 4096));
  EXPECT_TRUE(IsComplete(cache));
  for (int row = 0; row < rows; ++row) EXPECT_TRUE(Has(cache, "row" + std::to_string(row)));
}

TEST(RowCache, WhatIsTooLargeOrThrownOutMakesItIncomplete) {
  RowCache cache(kCapacity);
  cache.NoteEmptyStore();
  Put(cache, "large", std::string(4096, 'v'), true);
  EXPECT_FALSE(Has(cache, "large"));
  EXPECT_FALSE(IsComplete(cache));
  cache.NoteEmptyStore();
  Put(cache, "k", "v", true);
  cache.SetCapacity(kCapacity / 2);
  EXPECT_TRUE(IsComplete(cache));  // nothing had to go
  EXPECT_TRUE(Has(cache, "k"));
  cache.SetCapacity(1);
  EXPECT_FALSE(IsComplete(cache));
  EXPECT_FALSE(Has(cache, "k"));
  cache.SetCapacity(kCapacity);
  EXPECT_FALSE(IsComplete(cache));
  cache.NoteEmptyStore();
  cache.EraseAll();
  EXPECT_FALSE(IsComplete(cache));
}

using RowCacheOfStore = StoreFixture;

TEST_F(RowCacheOfStore, KnowsAnEmptyStore) {
  EXPECT_TRUE(IsComplete(store().cache()));
  Begin();
  const Key key = Keyspace(txn(), 0, Limits()).Name("k");
  Lock(key);
  txn().Put(key.row(), "v");
  txn().AddToKeyCount(txn().keyspace(0), 1);
  Finish();
  Commit();
  EXPECT_TRUE(IsComplete(store().cache()));
  Reopen();
  EXPECT_FALSE(IsComplete(store().cache()));
}

}  // namespace
}  // namespace cairn
