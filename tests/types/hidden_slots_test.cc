// SPDX-License-Identifier: BSD-3-Clause
//
// Keys of hidden slots exist for nobody but the code that hides them, and are deleted by range.
#include "storage/hidden_slots.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/hash.h"
#include "storage/key_range_drops.h"
#include "storage/store_fixture.h"
#include "types/expiry.h"

namespace cairn {
namespace {

constexpr int64_t kPastMs = 5000;

class HiddenSlotsTest : public StoreFixture {
 protected:
  void PutKey(const std::string& name, int64_t expire_ms = kNoExpiry) {
    txn().BeginCommand(Lane::kSlow, 0, false);
    Keyspace keyspace(txn(), 0, limits_);
    const Key key = keyspace.Name(name);
    Lock(key);
    const auto entry = keyspace.Find(key);
    ASSERT_TRUE(entry.ok());
    ASSERT_TRUE(keyspace.Write(key, *entry, {.type = Type::kString, .expire_ms = expire_ms}, "v").ok());
    Finish();
    Commit();
  }
  void Hide(const std::set<int>& slots) {
    store().staging().hidden_slots().Set([&](int slot) { return slots.contains(slot); });
  }
  // All keys that a scan finds which asks for one key at a time.
  std::set<std::string> Scanned() {
    txn().BeginCommand(Lane::kSlow, 0, false);
    Keyspace keyspace(txn(), 0, limits_);
    std::set<std::string> names;
    uint64_t position = 0;
    do {
      const auto next = keyspace.Scan(position, [&](std::string_view name, const Record&) {
        names.emplace(name);
        return false;
      });
      EXPECT_TRUE(next.ok());
      position = *next;
    } while (position != 0);
    return names;
  }
  int64_t Count() {
    Begin();
    return Keyspace(txn(), 0, limits_).Count();
  }

  const Limits limits_;
};

TEST_F(HiddenSlotsTest, AScanSkipsThem) {
  std::set<std::string> all;
  for (int i = 0; i < 200; ++i) all.insert("k" + std::to_string(i));
  for (const std::string& name : all) PutKey(name);
  EXPECT_EQ(Scanned(), all);
  std::set<int> slots = {0, HiddenSlots::kSlots - 1};
  std::set<std::string> shown;
  for (int i = 0; i < 60; ++i) slots.insert(KeySlot("k" + std::to_string(i)));
  for (const std::string& name : all) {
    if (!slots.contains(KeySlot(name))) shown.insert(name);
  }
  Hide(slots);
  EXPECT_EQ(Scanned(), shown);
  std::set<int> everything;
  for (int slot = 0; slot < HiddenSlots::kSlots; ++slot) everything.insert(slot);
  Hide(everything);
  EXPECT_EQ(Scanned(), std::set<std::string>());
  Hide({});
  EXPECT_EQ(Scanned(), all);
}

// The stream of an import may still extend the life of a key that has expired here.
TEST_F(HiddenSlotsTest, ExpiryWaitsUntilTheyAreShown) {
  PutKey("a", kPastMs);
  PutKey("b", kPastMs);
  Hide({KeySlot("a")});
  ASSERT_TRUE(ExpireDue(txn(), limits_, now_ms(), 100, [] { return true; }).ok());
  EXPECT_EQ(Count(), 1);
  Hide({});
  store().expiry_start(StorageMode::kSsd).Note(0);
  ASSERT_TRUE(ExpireDue(txn(), limits_, now_ms(), 100, [] { return true; }).ok());
  EXPECT_EQ(Count(), 0);
}

// A range tombstone must leave counts, expiries and neighbours as many deletions would.
TEST_F(HiddenSlotsTest, ARangeOfKeysIsDeletedWithEverythingThatDependsOnIt) {
  for (int i = 0; i < 50; ++i) PutKey("{a}" + std::to_string(i), i % 2 ? kPastMs : kNoExpiry);
  PutKey("b");
  Begin();
  KeyRange range{.keyspace = txn().databases().keyspace(0), .keys = 50};
  const int slot = KeySlot("{a}");
  range.lower = MakeKeyBound(range.keyspace, PositionOfSlot(slot)).row();
  range.upper = MakeKeyBound(range.keyspace, PositionOfSlot(slot + 1)).row();
  for (int i = 1; i < 50; i += 2) {
    range.side_rows.push_back(MakeExpiryRow(kPastMs, MakeKeyRow(range.keyspace, "{a}" + std::to_string(i)).row(), 0));
  }
  KeyRangeDrops drops(store());
  ASSERT_TRUE(drops.Drop(range, [] { return std::string(); }).ok());
  EXPECT_EQ(Count(), 1);
  EXPECT_EQ(Scanned(), std::set<std::string>{"b"});
  Reopen();
  EXPECT_EQ(Count(), 1);
  EXPECT_EQ(Scanned(), std::set<std::string>{"b"});
  ASSERT_TRUE(ExpireDue(txn(), limits_, now_ms(), 100, [] { return true; }).ok());
  EXPECT_EQ(Count(), 1);
}

}  // namespace
}  // namespace cairn
