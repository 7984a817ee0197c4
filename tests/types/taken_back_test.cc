// SPDX-License-Identifier: BSD-3-Clause
//
// Commands that asked for ranks and were then abandoned or rolled back: the rank indexes in memory must match the rows
// that remain. On the fast lane no other mechanism ensures that.
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "encoding/record.h"
#include "storage/rank_index.h"
#include "types/collection_fixture.h"
#include "types/list.h"
#include "types/zset.h"

namespace cairn {
namespace {

constexpr int kItems = 20000;
constexpr int kMembers = 10000;

class TakenBack : public CollectionFixture {
 protected:
  // Runs a change of the collection "k" within the current command.
  template <typename Collection, typename Change>
  void Within(Change change) {
    Keyspace keys(txn(), 0, limits_);
    const Key key = keys.Name("k");
    Lock(key);
    Collection collection(keys, key);
    ASSERT_TRUE(collection.Open().ok());
    change(collection);
    ASSERT_TRUE(collection.Save().ok());
  }

  template <typename Collection, typename Change>
  void Edit(Change change) {
    Begin();
    Within<Collection>(change);
    Finish();
  }

  // The collection's index, or null. REQUIRES: a command has begun, the collection is spread.
  RankIndex* Index(Space space) {
    Keyspace keys(txn(), 0, limits_);
    const Key key = keys.Name("k");
    const auto entry = keys.Find(key);
    EXPECT_TRUE(entry.ok());
    return store().rank_indexes().Find(key.stripe(), space, DecodeSpreadPayload(entry->payload())->id);
  }

  // A list of "item:0", "item:1" and so on.
  void MakeList() {
    Edit<List>([](List& list) { PushNumbers(list, 0, kItems); });
    Commit();
  }

  static void PushNumbers(List& list, int first, int n) {
    std::vector<std::string> values;
    for (int i = first; i < first + n; ++i) values.push_back("item:" + std::to_string(i));
    const std::vector<std::string_view> views(values.begin(), values.end());
    ASSERT_TRUE(list.Push(ListEnd::kTail, views).ok());
  }

  static void Pop(List& list, ListEnd end, uint64_t n) {
    ASSERT_TRUE(list.Pop(end, n, [](const Item&) {}).ok());
  }

  static std::string ItemAt(List& list, uint64_t index) {
    std::string found;
    EXPECT_TRUE(list.ForEach(index, 1, [&found](const Item& item) { found = item.ToString(); }).ok());
    return found;
  }

  void ExpectListAsMade() {
    Edit<List>([](List& list) {
      ASSERT_EQ(list.size(), static_cast<uint64_t>(kItems));
      for (int i = 0; i < kItems; i += 500) ASSERT_EQ(ItemAt(list, i), "item:" + std::to_string(i));
    });
  }

  static std::string Member(int i) {
    std::string number = std::to_string(i);
    return "m" + std::string(6 - number.size(), '0') + number;
  }

  // Members whose ranks equal their scores and the numbers in their names.
  void MakeZset() {
    Edit<Zset>([](Zset& zset) {
      for (int i = 0; i < kMembers; ++i) ASSERT_TRUE(zset.Add(Member(i), i, {}).ok());
    });
    Commit();
  }

  // Gives the members from number `first` to `end` the highest scores. The number of members stays the same, because an
  // index whose count differs from the collection's is not used anyway.
  static void MoveToTheEnd(Zset& zset, int first, int end) {
    for (int i = first; i < end; ++i) ASSERT_TRUE(zset.Add(Member(i), kMembers + i, {}).ok());
  }

  static uint64_t RankOf(Zset& zset, int i) {
    const auto rank = zset.RankOf(Member(i), false);
    EXPECT_TRUE(rank.ok() && rank->has_value());
    return rank.ok() && rank->has_value() ? (*rank)->rank : kMembers;
  }

  void ExpectZsetAsMade() {
    Edit<Zset>([](Zset& zset) {
      ASSERT_EQ(zset.size(), static_cast<uint64_t>(kMembers));
      for (int i = 0; i < kMembers; i += 50) ASSERT_EQ(RankOf(zset, i), static_cast<uint64_t>(i));
    });
  }
};

TEST_F(TakenBack, AnIndexMadeInAnAbandonedCommandIsDropped) {
  MakeZset();
  Begin();
  Within<Zset>([](Zset& zset) {
    MoveToTheEnd(zset, 50, 51);
    ASSERT_EQ(RankOf(zset, 60), 59u);
  });
  txn().AbandonCommand();
  ExpectZsetAsMade();
}

TEST_F(TakenBack, AnIndexMadeSinceASavepointIsDropped) {
  MakeZset();
  Begin();
  Within<Zset>([](Zset& zset) { ASSERT_TRUE(*zset.Remove(Member(0))); });
  const Transaction::Savepoint savepoint = txn().MakeSavepoint();
  Within<Zset>([](Zset& zset) {
    MoveToTheEnd(zset, 50, 51);
    ASSERT_EQ(RankOf(zset, 60), 58u);
  });
  txn().RollbackTo(savepoint);
  Within<Zset>([](Zset& zset) {
    ASSERT_EQ(RankOf(zset, 60), 59u);
    ASSERT_TRUE(zset.Add(Member(0), 0, {}).ok());
  });
  Finish();
  ExpectZsetAsMade();
}

// Rebuilding an index is expensive: it is dropped only if it has seen the changes that are rolled back.
TEST_F(TakenBack, AnIndexMadeBeforeTheCommandWroteStays) {
  MakeZset();
  Begin();
  Within<Zset>([](Zset& zset) { ASSERT_EQ(RankOf(zset, 5000), 5000u); });
  const RankIndex* const index = Index(Space::kScores);
  ASSERT_NE(index, nullptr);
  Within<Zset>([](Zset& zset) { ASSERT_TRUE(*zset.Remove(Member(50))); });
  txn().AbandonCommand();
  EXPECT_EQ(Index(Space::kScores), index);
  ExpectZsetAsMade();
}

// More changes than an index records one by one.
TEST_F(TakenBack, AnIndexWithManyRecordedChangesIsRightAfterwards) {
  MakeZset();
  Edit<Zset>([](Zset& zset) { ASSERT_EQ(RankOf(zset, 5000), 5000u); });
  Begin();
  Within<Zset>([](Zset& zset) {
    MoveToTheEnd(zset, 0, 6000);
    ASSERT_EQ(RankOf(zset, 7000), 1000u);
  });
  const Transaction::Savepoint savepoint = txn().MakeSavepoint();
  Within<Zset>([](Zset& zset) { MoveToTheEnd(zset, 6500, 6501); });
  txn().RollbackTo(savepoint);
  Within<Zset>([](Zset& zset) { ASSERT_EQ(RankOf(zset, 7000), 1000u); });
  txn().AbandonCommand();
  ExpectZsetAsMade();
}

TEST_F(TakenBack, AListsIndexMadeInAnAbandonedCommandIsDropped) {
  MakeList();
  Begin();
  Within<List>([](List& list) {
    const std::string_view value = "x";
    ASSERT_TRUE(list.Push(ListEnd::kHead, {&value, 1}).ok());
    Pop(list, ListEnd::kTail, 1);
    ASSERT_EQ(ItemAt(list, 10000), "item:9999");
  });
  txn().AbandonCommand();
  ExpectListAsMade();
}

TEST_F(TakenBack, AListsIndexRevertsPushesAndPops) {
  MakeList();
  Edit<List>([](List& list) { ASSERT_EQ(ItemAt(list, 10000), "item:10000"); });
  Begin();
  const RankIndex* const index = Index(Space::kElements);
  ASSERT_NE(index, nullptr);
  Within<List>([](List& list) {
    Pop(list, ListEnd::kHead, 3000);
    PushNumbers(list, kItems, 3000);
    ASSERT_EQ(ItemAt(list, 10000), "item:13000");
  });
  txn().AbandonCommand();
  EXPECT_EQ(Index(Space::kElements), index);
  ExpectListAsMade();
}

// When a collection is renamed back to an old name, an index left under that name is not used.
TEST_F(TakenBack, AMovedCollectionHasNoIndexYet) {
  MakeZset();
  Begin();
  Keyspace keys(txn(), 0, limits_);
  const Key from = keys.Name("k");
  const Key to = keys.Name("other");
  Lock(from);
  Lock(to);
  const auto entry = keys.Find(from);
  ASSERT_TRUE(entry.ok());
  const CollectionId id = DecodeSpreadPayload(entry->payload())->id;
  RankIndexes& indexes = store().rank_indexes();
  indexes.Create(to.stripe(), Space::kScores, id, kMembers);
  ASSERT_TRUE(Keyspace::Move(keys, from, *entry, keys, to).ok());
  EXPECT_EQ(indexes.Find(to.stripe(), Space::kScores, id), nullptr);
  Finish();
}

}  // namespace
}  // namespace cairn
