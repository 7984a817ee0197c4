// SPDX-License-Identifier: BSD-3-Clause
//
// The key cache's table compared with a std::map, for hashes with many collisions.
#include "cache/row_table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"

namespace cairn {
namespace {

class RowTableTest : public testing::Test {
 protected:
  ~RowTableTest() override {
    for (const auto& [tagged, row] : rows_) CachedRow::Delete(row);
  }

  bool Add(const std::string& tagged, uint64_t hash) {
    if (!table_.Reserve(hash)) return false;
    CachedRow* const row = CachedRow::New(tagged, hash, "value", 1, 0);
    table_.Insert(row);
    rows_[tagged] = row;
    return true;
  }
  void Remove(const std::string& tagged) {
    table_.Remove(rows_.at(tagged));
    CachedRow::Delete(rows_.at(tagged));
    rows_.erase(tagged);
  }
  void ExpectAll() {
    ASSERT_EQ(table_.size(), rows_.size());
    for (const auto& [tagged, row] : rows_) ASSERT_EQ(table_.Find(row->hash, tagged), row);
    std::set<const CachedRow*> met;
    std::vector<CachedRow*> some;
    uint64_t cursor = 0;
    for (bool more = true; more;) {
      some.clear();
      more = table_.Next(cursor, 7, some);
      for (const CachedRow* row : some) ASSERT_TRUE(met.insert(row).second);
    }
    ASSERT_EQ(met.size(), rows_.size());
  }

  RowTable table_;
  std::map<std::string, CachedRow*> rows_;
};

TEST_F(RowTableTest, HoldsWhatAMapHolds) {
  for (const uint64_t spread : {~0ull, 0x3full << 58, 0xfull << 40, 0xff00000000000001ull}) {
    Random random(spread);
    for (int i = 0; i < 30000; ++i) {
      const std::string tagged = std::to_string(random.Below(2000));
      const uint64_t hash = std::hash<std::string>()(tagged) * 0x9e3779b97f4a7c15u & spread;
      const auto it = rows_.find(tagged);
      if (it == rows_.end()) {
        ASSERT_EQ(table_.Find(hash, tagged), nullptr);
        if (random.Below(3) != 0) Add(tagged, hash);
      } else if (random.Below(3) == 0) {
        Remove(tagged);
        ASSERT_EQ(table_.Find(hash, tagged), nullptr);
      }
      if (i % 1000 == 0) ExpectAll();
    }
    ExpectAll();
    while (!rows_.empty()) Remove(rows_.begin()->first);
    table_.Clear();
  }
}

TEST_F(RowTableTest, RefusesTooManyRowsOfOneHomeWithoutGrowing) {
  constexpr uint64_t kLast = ~0ull;
  int added = 0;
  while (Add("row" + std::to_string(added), kLast)) ASSERT_LT(++added, 1000);
  EXPECT_EQ(added, 255);
  EXPECT_EQ(table_.Find(kLast, "row255"), nullptr);
  EXPECT_TRUE(Add("another", 0));
  ExpectAll();
  for (int row = 0; row < added; row += 2) Remove("row" + std::to_string(row));
  ExpectAll();
  EXPECT_TRUE(Add("row0", kLast));
}

TEST_F(RowTableTest, AWalkMeetsEachRowOnceWhileTheTableGrows) {
  Random random(5);
  for (int i = 0; i < 200; ++i) Add("old" + std::to_string(i), random.Next());
  const std::map<std::string, CachedRow*> old = rows_;
  std::multiset<const CachedRow*> met;
  std::vector<CachedRow*> some;
  uint64_t cursor = 0;
  for (bool more = true; more;) {
    some.clear();
    more = table_.Next(cursor, 3, some);
    met.insert(some.begin(), some.end());
    for (int i = 0; i < 20 && rows_.size() < 20000; ++i) Add("new" + std::to_string(rows_.size()), random.Next());
  }
  for (const auto& [tagged, row] : old) EXPECT_EQ(met.count(row), 1u);
}

}  // namespace
}  // namespace cairn
