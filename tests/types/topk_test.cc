// SPDX-License-Identifier: BSD-3-Clause
//
// Top-K sketches: they keep the frequent items, small and large ones behave alike, the same commands give the same
// sketch, and damaged records are refused.
#include "types/topk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <set>

#include "base/murmur.h"
#include "encoding/varint.h"
#include "types/collection_fixture.h"
#include "types/rdb_value.h"

namespace cairn {
namespace {

class TopKTest : public CollectionFixture {
 protected:
  // Returns whether the sketch changed.
  bool Change(std::string_view name, const std::function<Status(TopK&)>& change) {
    bool changed = false;
    Run(name, [&](Keyspace& keys, const Key& key) -> Status {
      TopK sketch(keys, key);
      TRY(sketch.Open());
      TRY(change(sketch));
      changed = TRY(sketch.Save());
      return Ok();
    });
    return changed;
  }
  void Create(std::string_view name, size_t k, uint64_t width, uint64_t depth, double decay = 0.9) {
    Change(name, [&](TopK& sketch) -> Status {
      TopK::State state{.width = width, .depth = depth, .decay = decay};
      state.heap.resize(k);
      sketch.Create(std::move(state));
      return Ok();
    });
  }
  bool Add(std::string_view name, std::string_view item, uint32_t by = 1) {
    return Change(name, [&](TopK& sketch) -> Status {
      TRY(sketch.Add(item, by));
      return Ok();
    });
  }
  std::vector<TopK::Slot> List(std::string_view name) {
    std::vector<TopK::Slot> slots;
    Change(name, [&](TopK& sketch) -> Status {
      slots = sketch.List();
      return Ok();
    });
    return slots;
  }
  std::string PayloadOf(std::string_view name) {
    std::string payload;
    Run(name, [&](Keyspace& keys, const Key& key) -> Status {
      payload = TRY(keys.Find(key)).payload();
      return Ok();
    });
    return payload;
  }
  std::string DumpOf(std::string_view name) {
    std::string bytes;
    Run(name, [&](Keyspace& keys, const Key& key) -> Status {
      RdbWriter writer(bytes);
      return SaveRdbValue(keys, key, TRY(keys.Find(key)), writer);
    });
    return bytes;
  }
  static std::string ErrorOf(std::string_view payload) {
    const Record record{.header = {.type = Type::kTopK, .encoding = Encoding::kRaw}, .payload = payload};
    return std::string(TopK::Check(record).text());
  }
};

// The stream has 10 frequent items among 5,000 rare ones.
TEST_F(TopKTest, KeepsTheFrequentItems) {
  for (const uint64_t width : {100u, 2000u}) {
    const std::string name = std::to_string(width);
    Create(name, 10, width, 5);
    EXPECT_EQ(EncodingOf(name), width == 100 ? Encoding::kRaw : Encoding::kSpread);
    std::mt19937 random(7);
    Change(name, [&](TopK& sketch) -> Status {
      for (int i = 0; i < 20'000; ++i) {
        const bool is_frequent = random() % 3 == 0;
        const uint32_t item = is_frequent ? random() % 10 : 10 + random() % 5'000;
        TRY(sketch.Add(std::to_string(item), 1));
      }
      return Ok();
    });
    std::set<std::string> kept;
    for (const TopK::Slot& slot : List(name)) {
      kept.insert(*slot.item);
      EXPECT_GT(slot.count, 500u);
      EXPECT_LT(slot.count, 800u);
    }
    EXPECT_EQ(kept, (std::set<std::string>{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}));
  }
}

// A replica runs the commands of its primary, in ticks of its own.
TEST_F(TopKTest, IsTheSameAfterTheSameCommands) {
  for (const std::string name : {"a", "b"}) {
    Create(name, 3, 2, 2);
    std::mt19937 random(7);
    for (int i = 0; i < 300; ++i) Add(name, std::to_string(random() % 20), random() % 30);
  }
  EXPECT_EQ(DumpOf("a"), DumpOf("b"));
  EXPECT_EQ(List("a").size(), 3u);
}

TEST_F(TopKTest, IsTheSameAfterATransfer) {
  for (const uint64_t width : {20u, 2000u}) {
    const std::string name = std::to_string(width);
    Create(name, 3, width, 4);
    for (int i = 0; i < 50; ++i) Add(name, std::to_string(i % 9));
    const std::string bytes = DumpOf(name);
    Run(name + " copy", [&](Keyspace& keys, const Key& key) -> Status {
      RdbReader reader(bytes, 1 << 20);
      const RdbValue value = TRY(ReadRdbValue(reader));
      return LoadRdbValue(keys, key, TRY(keys.Find(key)), value);
    });
    EXPECT_EQ(DumpOf(name + " copy"), bytes);
    EXPECT_EQ(EncodingOf(name + " copy"), EncodingOf(name));
  }
}

// Such a command is not replicated.
TEST_F(TopKTest, DoesNotChangeByAnIncrementOfZero) {
  for (const uint64_t width : {20u, 2000u}) {
    const std::string name = std::to_string(width);
    Create(name, 1, width, 4);
    EXPECT_TRUE(Add(name, "a"));
    EXPECT_FALSE(Add(name, "a", 0));
    EXPECT_TRUE(Add(name, "a"));
  }
}

TEST_F(TopKTest, HasTheBytesOfTheFormat) {
  Create("k", 2, 1, 1);
  const std::string front("\x02\x01\x01\x3f\xec\xcc\xcc\xcc\xcc\xcc\xcd\0\0\0\0\0\0\0\0", 19);
  EXPECT_EQ(PayloadOf("k"), front + std::string("\0\0", 2));
  Add("k", "a", 3);
  std::string cell;
  AppendU32(cell, Murmur32("a", 1919));
  AppendU32(cell, 3);
  EXPECT_EQ(PayloadOf("k"), front + std::string("\0\x02\x61\x03", 4) + cell);
}

TEST_F(TopKTest, ReportsTheInvalidFieldOfARecord) {
  const std::string decay("\x3f\xec\xcc\xcc\xcc\xcc\xcc\xcd", 8);
  const std::string random(8, '\0');
  const std::string front = "\x02\x01\x01" + decay + random;
  EXPECT_EQ(ErrorOf(""), "top-k: k is cut short");
  EXPECT_EQ(ErrorOf("\x02"), "top-k: width is cut short");
  EXPECT_EQ(ErrorOf("\x02\x01"), "top-k: depth is cut short");
  EXPECT_EQ(ErrorOf("\x02\x01\x01"), "top-k: decay is cut short");
  EXPECT_EQ(ErrorOf("\x02\x01\x01" + decay), "top-k: random is cut short");
  EXPECT_EQ(ErrorOf(std::string("\0\x01\x01", 3) + decay + random), "top-k: dimensions are out of range");
  EXPECT_EQ(ErrorOf("\x02\x01\x01" + random + random), "top-k: decay is out of range");
  EXPECT_EQ(ErrorOf(front), "top-k: a slot is cut short");
  EXPECT_EQ(ErrorOf(front + std::string("\0\x03\x61", 3)), "top-k: an item is cut short");
  EXPECT_EQ(ErrorOf(front + std::string("\0\x02\x61", 3)), "top-k: a count is cut short or out of range");
  EXPECT_EQ(ErrorOf(front + std::string("\0\x02\x61\x03", 4)), "");
  EXPECT_EQ(ErrorOf(front + std::string("\0\x02\x61\x03", 4) + std::string(9, '\x01')),
            "sketch: more cells than the fields say");
}

}  // namespace
}  // namespace cairn
