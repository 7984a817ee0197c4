// SPDX-License-Identifier: BSD-3-Clause
//
// A list, packed or spread, compared with a model: a deque of strings.
#include "types/list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/storage/store_fixture.h"

namespace cairn {
namespace {

using Model = std::deque<std::string>;

class ListTest : public StoreFixture, public testing::WithParamInterface<int64_t> {
 protected:
  // Runs one change of the list "k" as a command of its own and keeps it.
  template <typename Change>
  void Edit(Change change) {
    Begin();
    Keyspace keys(txn(), 0, limits_);
    const Key key = keys.Name("k");
    Lock(key);
    List list(keys, key);
    ASSERT_TRUE(list.Open().ok());
    change(list);
    ASSERT_TRUE(list.Save().ok());
    Finish();
  }

  // Reads the list.
  template <typename Look>
  void Read(Look look) {
    Begin();
    Keyspace keys(txn(), 0, limits_);
    const Key key = keys.Name("k");
    List list(keys, key);
    ASSERT_TRUE(list.Open().ok());
    look(list);
    Finish();
  }

  void Push(ListEnd end, const std::vector<std::string>& values) {
    const std::vector<std::string_view> views(values.begin(), values.end());
    Edit([&](List& list) { ASSERT_TRUE(list.Push(end, views).ok()); });
  }

  std::vector<std::string> Content(uint64_t start, uint64_t n) {
    std::vector<std::string> items;
    Read([&](List& list) {
      const Status status = list.ForEach(start, n, [&](const Item& item) { items.push_back(item.ToString()); });
      EXPECT_TRUE(status.ok()) << status.text();
    });
    return items;
  }

  uint64_t Size() {
    uint64_t size = 0;
    Read([&size](List& list) { size = list.size(); });
    return size;
  }

  Encoding StoredEncoding() {
    Begin();
    Keyspace keys(txn(), 0, limits_);
    const auto entry = keys.Find(keys.Name("k"));
    const Encoding encoding = entry->encoding();
    Finish();
    return encoding;
  }

  Limits limits_;
};

std::string RandomValue(Random& random) {
  switch (random.Below(12)) {
    case 0: return std::string(random.Below(4000), static_cast<char>('a' + random.Below(26)));
    case 1: return "";
    case 2: return "-9223372036854775808";
    case 3:
    case 4: return std::to_string(random.Below(5));  // with repetitions
    default: return "value:" + std::to_string(random.Below(1000)) + std::string(random.Below(100), '.');
  }
}

// A random change, applied to the list and to the model.
class RandomEdit {
 public:
  RandomEdit(Random& random, Model& model) : random_(random), model_(model) {}

  void operator()(List& list) {
    ASSERT_EQ(list.size(), model_.size());
    switch (random_.Below(9)) {
      case 0:
      case 1:
      case 2: return Push(list);
      case 3: return Pop(list);
      case 4: return Set(list);
      case 5: return Insert(list);
      case 6: return Remove(list);
      case 7: return random_.Below(40) == 0 ? Trim(list) : Push(list);
      default: return Insert(list);
    }
  }

 private:
  ListEnd AnyEnd() { return random_.Below(2) == 0 ? ListEnd::kHead : ListEnd::kTail; }
  const std::string& AnyItem() { return model_[random_.Below(model_.size())]; }

  void Push(List& list) {
    const ListEnd end = AnyEnd();
    std::vector<std::string> values(1 + random_.Below(random_.Below(8) == 0 ? 60 : 3));
    for (std::string& value : values) {
      value = RandomValue(random_);
      if (end == ListEnd::kHead) model_.push_front(value);
      if (end == ListEnd::kTail) model_.push_back(value);
    }
    const std::vector<std::string_view> views(values.begin(), values.end());
    ASSERT_TRUE(list.Push(end, views).ok());
  }

  void Pop(List& list) {
    const ListEnd end = AnyEnd();
    const uint64_t n = std::min<uint64_t>(model_.size(), random_.Below(random_.Below(8) == 0 ? 80 : 4));
    std::vector<std::string> popped;
    ASSERT_TRUE(list.Pop(end, n, [&](const Item& item) { popped.push_back(item.ToString()); }).ok());
    ASSERT_EQ(popped.size(), n);
    for (const std::string& value : popped) {
      ASSERT_EQ(value, end == ListEnd::kHead ? model_.front() : model_.back());
      end == ListEnd::kHead ? model_.pop_front() : model_.pop_back();
    }
  }

  void Set(List& list) {
    if (model_.empty()) return;
    const uint64_t index = random_.Below(model_.size());
    model_[index] = RandomValue(random_);
    ASSERT_TRUE(list.Set(index, model_[index]).ok());
  }

  void Insert(List& list) {
    const std::string pivot = model_.empty() || random_.Below(20) == 0 ? "absent" : AnyItem();
    const std::string value = RandomValue(random_);
    const bool before = random_.Below(2) == 0;
    const auto inserted = list.Insert(pivot, before, value);
    ASSERT_TRUE(inserted.ok());
    const auto place = std::find(model_.begin(), model_.end(), pivot);
    ASSERT_EQ(*inserted, place != model_.end());
    if (*inserted) model_.insert(place + (before ? 0 : 1), value);
  }

  void Remove(List& list) {
    const std::string value = model_.empty() || random_.Below(20) == 0 ? "absent" : AnyItem();
    const ListEnd end = AnyEnd();
    const uint64_t limit = random_.Below(3) == 0 ? UINT64_MAX : 1 + random_.Below(3);
    const auto removed = list.Remove(value, end, limit);
    ASSERT_TRUE(removed.ok());
    if (end == ListEnd::kTail) std::reverse(model_.begin(), model_.end());
    uint64_t left = limit;
    const size_t before = model_.size();
    std::erase_if(model_, [&](const std::string& item) { return item == value && left > 0 && left-- > 0; });
    if (end == ListEnd::kTail) std::reverse(model_.begin(), model_.end());
    ASSERT_EQ(*removed, before - model_.size());
  }

  void Trim(List& list) {
    const uint64_t start = random_.Below(model_.size() + 1);
    const uint64_t n = random_.Below(model_.size() - start + 1);
    ASSERT_TRUE(list.Trim(start, n).ok());
    model_ = Model(model_.begin() + static_cast<ptrdiff_t>(start), model_.begin() + static_cast<ptrdiff_t>(start + n));
  }

  Random& random_;
  Model& model_;
};

// Whatever the changes, the form and the uncommitted rows, a list has the same items as a deque.
TEST_P(ListTest, HoldsWhatADequeHolds) {
  limits_.list_max_listpack_size = GetParam();
  Random random(20 + static_cast<uint64_t>(GetParam()));
  Model model;
  RandomEdit edit(random, model);
  for (int step = 0; step < 6000; ++step) {
    Edit([&edit](List& list) { edit(list); });
    ASSERT_FALSE(HasFatalFailure()) << "step " << step;
    if (random.Below(10) == 0) Commit();
    if (random.Below(20) != 0) continue;
    ASSERT_EQ(Size(), model.size()) << "step " << step;
    const uint64_t start = random.Below(model.size() + 1);
    const uint64_t n = random.Below(model.size() - start + 1);
    const auto from = model.begin() + static_cast<ptrdiff_t>(start);
    ASSERT_EQ(Content(start, n), std::vector<std::string>(from, from + static_cast<ptrdiff_t>(n))) << "step " << step;
  }
}

// LPOS returns every position of a value, nearest to the chosen end first, within the number of items it may look at.
TEST_P(ListTest, FindsEveryPlaceFromEitherEnd) {
  limits_.list_max_listpack_size = GetParam();
  Random random(7);
  std::vector<std::string> values;
  for (int i = 0; i < 900; ++i) values.push_back(std::to_string(random.Below(5)) + std::string(10, 'x'));
  Push(ListEnd::kTail, values);
  for (const ListEnd end : {ListEnd::kHead, ListEnd::kTail}) {
    for (const uint64_t max_items : {uint64_t{0}, uint64_t{100}, uint64_t{899}, UINT64_MAX}) {
      std::vector<uint64_t> expected;
      for (uint64_t i = 0; i < values.size() && i < max_items; ++i) {
        if (values[end == ListEnd::kHead ? i : values.size() - 1 - i] == values[3]) expected.push_back(i);
      }
      std::vector<uint64_t> found;
      Read([&](List& list) {
        const auto take = [&found](uint64_t distance) {
          found.push_back(distance);
          return true;
        };
        ASSERT_TRUE(list.Find(values[3], end, max_items, take).ok());
      });
      ASSERT_EQ(found, expected) << "max_items " << max_items;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Limits, ListTest, testing::Values(-1, -2, -5, 1, 100), [](const auto& info) {
  return info.param < 0 ? "Size" + std::to_string(-info.param) : "Count" + std::to_string(info.param);
});

using LargeListTest = ListTest;

// Inserting at one place halves the gap between two chunks each time; when no number is free, the chunks behind it are
// renumbered.
TEST_F(LargeListTest, InsertsAtOnePlaceForever) {
  Push(ListEnd::kTail, {"first", std::string(9000, 'm'), "last"});
  Model model = {"first", std::string(9000, 'm'), "last"};
  for (int i = 0; i < 1500; ++i) {
    const std::string value = std::to_string(i) + std::string(900, 'v');
    Edit([&](List& list) { ASSERT_TRUE(*list.Insert("first", false, value)); });
    model.insert(model.begin() + 1, value);
    if (i % 50 == 0) Commit();
  }
  EXPECT_EQ(Content(0, model.size()), std::vector<std::string>(model.begin(), model.end()));
  EXPECT_EQ(Content(model.size() - 5, 5), std::vector<std::string>(model.end() - 5, model.end()));
}

// A queue that is emptied chunk by chunk and filled at the other end stays correct for all chunk numbers.
TEST_F(LargeListTest, RunsAsAQueueOverManyChunks) {
  Model model;
  for (int round = 0; round < 40; ++round) {
    std::vector<std::string> values;
    for (int i = 0; i < 200; ++i) values.push_back(std::to_string(round * 1000 + i) + std::string(80, 'q'));
    Push(ListEnd::kTail, values);
    model.insert(model.end(), values.begin(), values.end());
    Edit([&](List& list) {
      std::vector<std::string> popped;
      ASSERT_TRUE(list.Pop(ListEnd::kHead, 190, [&](const Item& item) { popped.push_back(item.ToString()); }).ok());
      ASSERT_TRUE(std::equal(popped.begin(), popped.end(), model.begin()));
    });
    model.erase(model.begin(), model.begin() + 190);
    Commit();
  }
  EXPECT_EQ(Content(0, model.size()), std::vector<std::string>(model.begin(), model.end()));
}

// LTRIM that keeps a small part of a large list does not walk over the removed part: the rest becomes one record.
TEST_F(LargeListTest, IsOneRecordAgainWhenLittleIsKept) {
  std::vector<std::string> values;
  for (int i = 0; i < 20000; ++i) values.push_back("item:" + std::to_string(i));
  Push(ListEnd::kTail, values);
  Commit();
  ASSERT_EQ(StoredEncoding(), Encoding::kSpread);
  Edit([](List& list) { ASSERT_TRUE(list.Trim(0, 100).ok()); });
  EXPECT_EQ(StoredEncoding(), Encoding::kPacked);
  EXPECT_EQ(Content(0, 100), std::vector<std::string>(values.begin(), values.begin() + 100));
}

// A pivot far from the head is found at the right place after any changes.
TEST_F(LargeListTest, FindsAPivotFarFromTheHead) {
  Random random(11);
  Model model;
  for (int i = 0; i < 20000; ++i) model.push_back("item:" + std::to_string(random.Below(30000)));
  Push(ListEnd::kTail, {model.begin(), model.end()});
  Commit();
  RandomEdit edit(random, model);
  for (int step = 0; step < 1500; ++step) {
    Edit([&edit](List& list) { edit(list); });
    ASSERT_FALSE(HasFatalFailure()) << "step " << step;
    if (random.Below(4) == 0) Commit();
  }
  EXPECT_EQ(Content(0, model.size()), std::vector<std::string>(model.begin(), model.end()));
}

// Rotating a list of one item never empties the key in between, so the expiry stays.
TEST_F(LargeListTest, KeepsItsExpiryWhenItsOnlyItemIsRotated) {
  Push(ListEnd::kTail, {"only"});
  Begin();
  Keyspace keys(txn(), 0, limits_);
  const Key key = keys.Name("k");
  Lock(key);
  const auto entry = keys.Find(key);
  ASSERT_TRUE(keys.SetExpiry(key, *entry, now_ms() + 100000).ok());
  Finish();
  Edit([](List& list) {
    ASSERT_TRUE(list.Pop(ListEnd::kTail, 1, [](const Item&) {}).ok());
    const std::string_view value = "only";
    ASSERT_TRUE(list.Push(ListEnd::kHead, std::span(&value, 1)).ok());
  });
  Begin();
  EXPECT_EQ(keys.Find(key)->expire_ms(), now_ms() + 100000);
  Finish();
}

// Popping every item leaves the chunks to the collection's removal, so items that are pushed afterwards need a new one:
// otherwise chunks of the old list would stay between the new ones.
TEST_F(LargeListTest, HasANewCollectionWhenItIsRefilled) {
  std::vector<std::string> values;
  for (int i = 0; i < 5000; ++i) values.push_back("item:" + std::to_string(i));
  Push(ListEnd::kTail, values);
  Edit([](List& list) { ASSERT_TRUE(*list.Insert("item:2000", true, std::string(3000, 'x'))); });
  Commit();
  const auto collection = [this] {
    Begin();
    Keyspace keys(txn(), 0, limits_);
    const auto entry = keys.Find(keys.Name("k"));
    const CollectionId id = DecodeSpreadPayload(entry->payload())->id;
    Finish();
    return id;
  };
  const CollectionId before = collection();
  EncodedItems reversed;
  Edit([&](List& list) {
    ASSERT_TRUE(list.Pop(ListEnd::kTail, list.size(), [&](const Item& item) { reversed.Add(item); }).ok());
    ASSERT_TRUE(list.Push(ListEnd::kTail, reversed).ok());
  });
  Commit();
  EXPECT_NE(collection(), before);
  EXPECT_EQ(Content(0, 2), std::vector<std::string>({"item:4999", "item:4998"}));
  EXPECT_EQ(Content(4999, 2), std::vector<std::string>({"item:1", "item:0"}));
}

// A walk from the last item to the first one gives the reverse of the walk from the first to the last.
TEST_F(LargeListTest, IsWalkedInBothDirections) {
  for (const int count : {7, 9000}) {
    std::vector<std::string> values;
    for (int i = 0; i < count; ++i) values.push_back("item:" + std::to_string(i));
    Push(ListEnd::kTail, values);
    std::vector<std::string> items;
    Read([&](List& list) {
      const auto visit = [&](const Item& item) { items.push_back(item.ToString()); };
      ASSERT_TRUE(list.ForEach(2, count - 3, visit, true).ok());
    });
    EXPECT_EQ(items, std::vector<std::string>(values.rbegin() + 1, values.rend() - 2));
    Edit([count](List& list) { ASSERT_TRUE(list.Pop(ListEnd::kHead, count, [](const Item&) {}).ok()); });
    Commit();
  }
}

// The bytes in docs/format.md, section 5.2.
TEST(ListChunkRow, HasTheBytesOfTheFormat) {
  const std::vector<std::string_view> values = {"a", "1"};
  const EncodedItems items(values);
  std::string row;
  AppendChunk(row, false, ExtendPackedList(kEmptyPackedList, ListEnd::kTail, items, 0, 2));
  EXPECT_EQ(row, std::string("\x00\x02\x02\x61\x05", 5));
  row.clear();
  AppendChunk(row, true, ExtendPackedList(kEmptyPackedList, ListEnd::kHead, items, 0, 2));
  EXPECT_EQ(row, std::string("\x01\x02\x05\x02\x61", 5));
}

// The disk may hold any bytes: a list must return an error, never wrong items.
TEST(ListChunkRow, RefusesInvalidChunks) {
  EXPECT_TRUE(DecodeChunk(0, "").status().Is(Code::kCorruption));
  EXPECT_TRUE(DecodeChunk(0, std::string_view("\x00", 1)).status().Is(Code::kCorruption));
  EXPECT_TRUE(DecodeChunk(0, std::string_view("\x00\x00", 2)).status().Is(Code::kCorruption));
  EXPECT_TRUE(DecodeChunk(0, std::string_view("\x02\x01\x05", 3)).status().Is(Code::kCorruption));
  EXPECT_TRUE(CutPackedList(std::string_view("\x03\x05\x05", 3), 2, 1).status().Is(Code::kCorruption));
  EXPECT_TRUE(CutPackedList(std::string_view("\x02\x05\x05", 3), 1, 2).status().Is(Code::kCorruption));
  EXPECT_TRUE(ForEachItem(std::string_view("\x02\x05", 2), 0, 2, true, [](const Item&) {}).Is(Code::kCorruption));
}

// A chunk is cut at the middle of its bytes, not of its items, and neither half is ever empty.
TEST(PackedListHalving, CutsNearestTheMiddleOfTheBytes) {
  const std::string large(5000, 'l');
  const std::vector<std::vector<std::string_view>> cases = {{large, "a"},      {"a", large},      {"a", large, "b"},
                                                            {"a", "b", large}, {large, "a", "b"}, {"a", "b", "c", "d"}};
  for (const auto& values : cases) {
    const EncodedItems items(values);
    const auto halves = HalvePackedList(ExtendPackedList(kEmptyPackedList, ListEnd::kTail, items, 0, values.size()));
    ASSERT_TRUE(halves.ok());
    const uint64_t left = PackedReader(halves->left).count();
    const uint64_t right = PackedReader(halves->right).count();
    EXPECT_GT(left, 0u);
    EXPECT_GT(right, 0u);
    EXPECT_EQ(left + right, values.size());
    EXPECT_LE(std::max(halves->left.size(), halves->right.size()), values.size() == 4 ? 6u : 5010u);
  }
}

}  // namespace
}  // namespace cairn
