// SPDX-License-Identifier: BSD-3-Clause
//
// Which rows the key cache keeps and evicts, and when a missing row means that the row does not exist.
#include "cache/row_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/clock.h"
#include "storage/overlay.h"
#include "storage/store_fixture.h"

namespace cairn {
namespace {

constexpr size_t kCapacity = 64 * 4096;
constexpr int64_t kNow = 1000;

bool Has(RowCache& cache, const std::string& tagged) {
  return static_cast<bool>(cache.Lookup(tagged, Overlay::HashOf(tagged), false, kNow));
}

void Put(RowCache& cache, const std::string& tagged, const std::string& value) {
  cache.Insert(tagged, Overlay::HashOf(tagged), value, kNow);
}

// Whether the cache is complete for all hashes. The upper half of a hash determines the shard.
bool IsComplete(const RowCache& cache) {
  for (uint64_t upper = 0; upper < 256; ++upper) {
    if (!cache.IsComplete(upper << 32)) return false;
  }
  return true;
}

TEST(RowCache, IsCompleteUntilTheFirstEviction) {
  RowCache cache(kCapacity);
  EXPECT_FALSE(IsComplete(cache));
  cache.NoteEmptyStore();
  int rows = 0;
  const std::string value(100, 'v');
  for (; IsComplete(cache); ++rows) {
    ASSERT_LT(rows, 100000);
    for (int row = 0; row < rows; row += 10) ASSERT_TRUE(Has(cache, "row" + std::to_string(row)));
    Put(cache, "row" + std::to_string(rows), value);
  }
  EXPECT_GT(rows, 100);
}

TEST(RowCache, OverwritingAndErasingKeepItComplete) {
  RowCache cache(kCapacity);
  cache.NoteEmptyStore();
  for (int i = 0; i < 100000; ++i) {
    const std::string row = "row" + std::to_string(i % 100);
    const RowRef pinned = cache.Lookup(row, Overlay::HashOf(row), true, kNow);
    Put(cache, row, std::string(static_cast<size_t>(i % 200), 'v'));
    if (i % 7 == 0) cache.Erase(row, Overlay::HashOf(row));
  }
  EXPECT_TRUE(IsComplete(cache));
}

TEST(RowCache, AnEvictionAffectsOnlyItsShard) {
  RowCache cache(kCapacity);
  cache.NoteEmptyStore();
  cache.Insert("large", 7ull << 32, std::string(4096, 'v'), kNow);
  EXPECT_FALSE(cache.IsComplete(7ull << 32));
  EXPECT_TRUE(cache.IsComplete(8ull << 32));
}

TEST(RowCache, IsCompleteWithAllRowsUnlessOneWasEvictedSinceTheMark) {
  RowCache cache(kCapacity);
  const RowCache::Departures mark = cache.Mark();
  EXPECT_TRUE(cache.InsertIfRoom("k", Overlay::HashOf("k"), "v", kNow));
  EXPECT_FALSE(IsComplete(cache));
  cache.NoteAllRows(mark);
  EXPECT_TRUE(IsComplete(cache));
  cache.NoteUnknownRows();
  EXPECT_FALSE(IsComplete(cache));
  Put(cache, "large", std::string(4096, 'v'));
  cache.NoteAllRows(mark);
  EXPECT_FALSE(IsComplete(cache));
  EXPECT_FALSE(cache.IsComplete(Overlay::HashOf("large")));
  EXPECT_TRUE(Has(cache, "k"));
}

TEST(RowCache, InsertIfRoomEvictsNothing) {
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

TEST(RowCache, ALargeRowOrAnEvictionMakesItIncomplete) {
  RowCache cache(kCapacity);
  cache.NoteEmptyStore();
  Put(cache, "large", std::string(4096, 'v'));
  EXPECT_FALSE(Has(cache, "large"));
  EXPECT_FALSE(IsComplete(cache));
  cache.NoteEmptyStore();
  Put(cache, "k", "v");
  cache.SetCapacity(kCapacity / 2);
  EXPECT_TRUE(IsComplete(cache));  // nothing was evicted
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

std::string RowName(int row) { return "row" + std::to_string(row); }

// Acts like a reader that fetches a row if the cache does not have it.
void Use(RowCache& cache, int row) {
  const std::string tagged = RowName(row);
  if (!cache.Lookup(tagged, Overlay::HashOf(tagged), true, kNow)) Put(cache, tagged, std::string(100, 'v'));
}

TEST(RowCache, RowsUsedAgainSurviveAPassOverColdOnes) {
  RowCache cache(kCapacity);
  constexpr int kUsed = 300;
  for (int round = 0; round < 2; ++round) {
    for (int row = 0; row < kUsed; ++row) Use(cache, row);
  }
  for (int row = kUsed; row < 100000; ++row) Use(cache, row);
  int left = 0;
  for (int row = 0; row < kUsed; ++row) left += Has(cache, RowName(row));
  EXPECT_EQ(left, kUsed);
  EXPECT_LE(cache.usage(), kCapacity);
}

TEST(RowCache, APeekIsNoUse) {
  RowCache cache(kCapacity);
  Use(cache, 0);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(Has(cache, RowName(0)));
  for (int row = 1; row < 100000; ++row) Use(cache, row);
  EXPECT_FALSE(Has(cache, RowName(0)));
}

TEST(RowCache, RowsInUseAreEvictedForRowsUsedMore) {
  RowCache cache(kCapacity);
  for (int first : {0, 1000000}) {
    for (int round = 0; round < 20; ++round) {
      for (int row = first; row < first + 600; ++row) Use(cache, row);
    }
  }
  int left = 0;
  for (int row = 1000000; row < 1000600; ++row) left += Has(cache, RowName(row));
  EXPECT_GT(left, 550);
}

TEST(RowCache, AnOverwriteIsNoUse) {
  for (const size_t other_size : {100, 300}) {  // the value fits in the old memory, or does not
    RowCache cache(kCapacity);
    Put(cache, RowName(0), std::string(100, 'v'));
    for (int row = 1; row < 20000; ++row) {
      Use(cache, row);
      if (row < 500) cache.Insert(RowName(0), Overlay::HashOf(RowName(0)), std::string(other_size, 'w'), kNow + row);
    }
    EXPECT_FALSE(Has(cache, RowName(0)));
  }
}

// A hash in the first shard for any row.
uint64_t HashInShard(const std::string& tagged) { return Overlay::HashOf(tagged) & ~(0xffull << 32); }

void PutInShard(RowCache& cache, const std::string& tagged, size_t size) {
  cache.Insert(tagged, HashInShard(tagged), std::string(size, 'v'), kNow);
}

constexpr size_t kLarge = 64 * (1 << 20);
constexpr size_t kLargeShard = kLarge / 64;

TEST(RowCache, AnOverwrittenRowKeepsItsPosition) {
  for (const size_t other_size : {100, 1}) {  // the value fits in the old memory, or does not
    RowCache cache(kLarge);
    const auto has = [&cache](int row) {
      return static_cast<bool>(cache.Lookup(RowName(row), HashInShard(RowName(row)), false, kNow));
    };
    int next = 0;
    while (cache.usage() < kLargeShard - 1000) PutInShard(cache, RowName(next++), 100);
    PutInShard(cache, RowName(0), other_size);
    while (has(0)) PutInShard(cache, RowName(next++), 100);
    EXPECT_TRUE(has(2));  // rows older than the overwrite are still cached
  }
}

TEST(RowCache, ARowThatWouldEvictTooManyIsNotInserted) {
  RowCache cache(kLarge);
  cache.NoteEmptyStore();
  for (int row = 0; cache.usage() < kLargeShard - 1000; ++row) PutInShard(cache, RowName(row), 1);
  const size_t usage = cache.usage();
  int tries = 0;
  for (; !cache.Lookup("large", HashInShard("large"), false, kNow); ++tries) {
    ASSERT_LT(tries, 10);
    PutInShard(cache, "large", 100000);
    EXPECT_FALSE(cache.IsComplete(0));
    EXPECT_LE(cache.usage(), usage + 1000);
  }
  EXPECT_GT(tries, 1);
}

TEST(RowCache, KeepsItsCapacityWhenRowsGrow) {
  RowCache cache(kLarge);
  int rows = 0;
  while (cache.usage() < kLargeShard - 1000) PutInShard(cache, RowName(rows++), 1);
  // The newest rows are still cached. Each of these overwrites needs more evictions than one call makes.
  for (int row = rows - 1; row > rows - 100; --row) {
    PutInShard(cache, RowName(row), 100000);
    ASSERT_LE(cache.usage(), kLargeShard);
  }
  EXPECT_GT(cache.usage(), kLargeShard / 2);
}

TEST(RowCache, AReferenceKeepsTheValueThatItRead) {
  RowCache cache(kCapacity);
  Put(cache, "k", "before");
  const auto look = [&cache] { return cache.Lookup("k", Overlay::HashOf("k"), true, kNow); };
  RowRef before = look();
  Put(cache, "k", "behind");  // the same length, so it would use the same memory if there were no reference
  RowRef behind = look();
  EXPECT_EQ(before.bytes(), "before");
  EXPECT_EQ(behind.bytes(), "behind");
  cache.Erase("k", Overlay::HashOf("k"));
  EXPECT_FALSE(Has(cache, "k"));
  EXPECT_EQ(behind.bytes(), "behind");
  EXPECT_GT(cache.usage(), 0u);
  before = RowRef();
  behind = RowRef();
  EXPECT_EQ(cache.usage(), 0u);
}

TEST(RowCache, APinnedRowIsNotEvicted) {
  RowCache cache(kCapacity);
  Put(cache, RowName(0), "held");
  const RowRef held = cache.Lookup(RowName(0), Overlay::HashOf(RowName(0)), false, kNow);
  for (int row = 1; row < 20000; ++row) Use(cache, row);
  EXPECT_TRUE(Has(cache, RowName(0)));
}

TEST(RowCache, AnOverwrittenRowKeepsItsMemoryUseAndFrequency) {
  RowCache cache(kCapacity);
  cache.CountUses(true);
  Put(cache, "k", std::string(300, 'a'));
  const size_t usage = cache.usage();
  cache.SetFrequency("k", 77);
  for (const size_t size : {300, 290, 10, 300}) {
    cache.Insert("k", Overlay::HashOf("k"), std::string(size, 'b'), kNow + 1);
    EXPECT_EQ(cache.Lookup("k", Overlay::HashOf("k"), false, kNow).bytes(), std::string(size, 'b'));
    EXPECT_EQ(cache.Frequency("k", kNow + 1), 77);
    EXPECT_EQ(cache.IdleSeconds("k", kNow + 11), 10);
  }
  EXPECT_EQ(cache.usage(), usage);
}

// Evictions from the disk are chosen by these times.
TEST(RowCache, RemembersTheLastUseOfRowsThatLeft) {
  RowCache cache(1 << 20);
  cache.RememberUses(true);
  const int64_t start_s = WallMs() / 1000;
  const std::string value(200, 'v');
  constexpr int64_t kRows = 12'000;  // three times as many as the cache holds
  for (int64_t row = 0; row < kRows; ++row) {
    const std::string name = std::to_string(row);
    cache.Insert(name, Overlay::HashOf(name), value, start_s + row);
  }
  EXPECT_LE(cache.usage(), size_t{1} << 20);
  int64_t wrong = 0;
  for (int64_t row = 0; row < kRows; ++row) {
    const int64_t idle = cache.IdleSeconds(std::to_string(row), start_s + kRows);
    wrong += std::abs(idle - (kRows - row)) > kRows / 10;
  }
  EXPECT_LT(wrong, kRows / 20);
  cache.RememberUses(false);
  EXPECT_EQ(cache.IdleSeconds("0", start_s + kRows), kRows);
}

TEST(RowCache, ErasesDeadRowsWhileItGrows) {
  RowCache cache(64 << 20);
  int next = 0;
  for (; next < 50000; ++next) Put(cache, RowName(next), "v");
  int asked = 0;
  const auto is_dead = [&](std::string_view tagged) {
    ++asked;
    return tagged.back() == '7';
  };
  RowCache::Pass pass;
  int steps = 1;
  while (cache.EraseDead(pass, 3, is_dead)) ++steps;
  EXPECT_GT(steps, 10);
  EXPECT_EQ(asked, 50000);
  for (int row = 0; row < next; ++row) EXPECT_EQ(Has(cache, RowName(row)), row % 10 != 7) << row;
}

using RowCacheOfStore = StoreFixture;

TEST_F(RowCacheOfStore, KnowsAnEmptyStore) {
  EXPECT_TRUE(IsComplete(store().cache()));
  Begin();
  const Key key = Keyspace(txn(), 0, Limits()).Name("k");
  Lock(key);
  txn().Put(key.row(), "v");
  txn().databases().AddKeys(txn().databases().keyspace(0), 1);
  Finish();
  Commit();
  EXPECT_TRUE(IsComplete(store().cache()));
  Reopen();
  EXPECT_FALSE(IsComplete(store().cache()));
}

}  // namespace
}  // namespace cairn
