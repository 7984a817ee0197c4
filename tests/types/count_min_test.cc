// SPDX-License-Identifier: BSD-3-Clause
//
// Count-min sketches: the hashes are RedisBloom's, small and large sketches behave alike, rows have the bytes of the
// format, and damaged ones are refused.
#include "types/count_min.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/murmur.h"
#include "encoding/varint.h"
#include "types/collection_fixture.h"
#include "types/copy.h"
#include "types/rdb_value.h"
#include "types/value_types.h"

namespace cairn {
namespace {

constexpr CountMin::Shape kSmall{.width = 20, .depth = 5};
constexpr CountMin::Shape kLarge{.width = 4000, .depth = 5};
constexpr CountMin::Shape kHuge{.width = 13'000'000, .depth = 10};

class CountMinTest : public CollectionFixture {
 protected:
  void Change(std::string_view name, const std::function<Status(CountMin&)>& change) {
    Run(name, [&](Keyspace& keys, const Key& key) -> Status {
      CountMin sketch(keys, key);
      TRY(sketch.Open());
      TRY(change(sketch));
      return sketch.Save();
    });
  }
  void Create(std::string_view name, const CountMin::Shape& shape) {
    Change(name, [&](CountMin& sketch) -> Status {
      sketch.Create(shape);
      return Ok();
    });
  }
  uint32_t Add(std::string_view name, std::string_view item, uint64_t by) {
    uint32_t estimate = 0;
    Change(name, [&](CountMin& sketch) -> Status {
      estimate = TRY(sketch.Add(item, by));
      return Ok();
    });
    return estimate;
  }
  uint32_t Estimate(std::string_view name, std::string_view item) {
    uint32_t estimate = 0;
    Run(name, [&](Keyspace& keys, const Key& key) -> Status {
      CountMin sketch(keys, key);
      TRY(sketch.Open());
      estimate = TRY(sketch.Estimate(item));
      return Ok();
    });
    return estimate;
  }
  std::string PayloadOf(std::string_view name) {
    std::string payload;
    Run(name, [&](Keyspace& keys, const Key& key) -> Status {
      payload = TRY(keys.Find(key)).payload();
      return Ok();
    });
    return payload;
  }
  std::string ErrorOf(Encoding encoding, std::string_view payload) {
    const Record record{.header = {.type = Type::kCountMin, .encoding = encoding}, .payload = payload};
    return std::string(CountMin::Check(record).text());
  }
  std::string DigestOf(std::string_view name) {
    std::string hex;
    Run(name, [&](Keyspace& keys, const Key& key) -> Status {
      Digest digest;
      TRY(AddValue(digest, keys, key, TRY(keys.Find(key))));
      hex = digest.Hex();
      return Ok();
    });
    return hex;
  }
  // Saves the value under `from` and loads it under `to`, in pieces of one page.
  void Transfer(std::string_view from, std::string_view to) {
    std::string bytes;
    Run(from, [&](Keyspace& keys, const Key& key) -> Status {
      RdbWriter writer(bytes);
      return SaveRdbValue(keys, key, TRY(keys.Find(key)), writer);
    });
    Run(to, [&](Keyspace& keys, const Key& key) -> Status {
      RdbReader reader(bytes, 1 << 20);
      const RdbType type = RdbTypeOf(TRY(reader.Byte()), RdbDialect::kRedis);
      RdbValueReader value = TRY(RdbValueReader::Make(type, reader));
      do {
        TRY(value.ReadPiece({.parts = 1}));
        TRY(kCountMinType.add_piece(keys, key, value.piece()));
      } while (!value.at_end());
      return Ok();
    });
  }
};

// Reference values of MurmurHash2; another hash would make a restored sketch wrong.
TEST(Murmur32, HasTheValuesOfMurmurHash2) {
  EXPECT_EQ(Murmur32("", 0), 0u);
  EXPECT_EQ(Murmur32("a", 0), 0x92685f5eu);
  EXPECT_EQ(Murmur32("ab", 1), 0x64e150eeu);
  EXPECT_EQ(Murmur32("abc", 2), 0xe70a2fe6u);
  EXPECT_EQ(Murmur32("abcd", 3), 0x67d10269u);
  EXPECT_EQ(Murmur32("heavy hitter", 1919), 0xb75791b4u);
}

// A sketch never underestimates, whether its counters are in one row or in fragments.
TEST_F(CountMinTest, NeverUnderestimates) {
  std::mt19937 random(7);
  for (const CountMin::Shape& shape : {kSmall, kLarge}) {
    const std::string name = std::to_string(shape.width);
    Create(name, shape);
    std::map<std::string, uint32_t> counts;
    uint64_t total = 0;
    for (int i = 0; i < 300; ++i) {
      const std::string item = std::to_string(random() % 50);
      const uint32_t by = random() % 1000;
      total += by;
      EXPECT_GE(Add(name, item, by), counts[item] += by);
    }
    for (const auto& [item, count] : counts) {
      const uint32_t estimate = Estimate(name, item);
      EXPECT_GE(estimate, count);
      EXPECT_LE(estimate, total);
      if (shape.width == kLarge.width) {
        EXPECT_EQ(estimate, count) << "50 items do not collide in 5 rows of 4000";
      }
    }
  }
}

// Rows of zeros only would make a new sketch as expensive as a full one.
TEST_F(CountMinTest, IsCheapWhenEmpty) {
  Create("k", kHuge);
  EXPECT_EQ(EncodingOf("k"), Encoding::kSpread);
  EXPECT_LT(PayloadOf("k").size(), 32u);
  EXPECT_EQ(Add("k", "item", 3), 3u);
  EXPECT_EQ(Estimate("k", "item"), 3u);
  EXPECT_EQ(Estimate("k", "other"), 0u);
}

TEST_F(CountMinTest, HasTheBytesOfTheFormat) {
  Create("k", {.width = 3, .depth = 2});
  EXPECT_EQ(PayloadOf("k"), std::string("\x03\x02\x00", 3));
  Add("k", "a", 300);
  std::string cells(24, '\0');
  for (const uint32_t row : {0u, 1u}) {
    cells[(row * 3 + Murmur32("a", row) % 3) * 4 + 2] = 1;
    cells[(row * 3 + Murmur32("a", row) % 3) * 4 + 3] = 44;
  }
  cells.resize(cells.find_last_not_of('\0') + 1);
  EXPECT_EQ(PayloadOf("k"), "\x03\x02\xac\x02" + cells);
  Create("large", kLarge);
  const std::string payload = PayloadOf("large");
  EXPECT_EQ(payload.substr(payload.size() - 9), std::string("\x80\xf1\x04\x80\x08\xa0\x1f\x05\x00", 9))
      << "80,000 bytes in fragments of 1024 bytes, width, depth, count";
}

// Another representation, or another number of pieces, must not change what a replica or a restored key has.
TEST_F(CountMinTest, IsTheSameAfterATransfer) {
  for (const CountMin::Shape& shape : {kSmall, kLarge}) {
    const std::string name = std::to_string(shape.width);
    Create(name, shape);
    for (int i = 0; i < 30; ++i) Add(name, std::to_string(i), 1 + i);
    Transfer(name, name + " copy");
    EXPECT_EQ(DigestOf(name + " copy"), DigestOf(name));
    EXPECT_EQ(EncodingOf(name + " copy"), EncodingOf(name));
    EXPECT_GE(Estimate(name + " copy", "29"), 30u);
    Add(name, "29", 1);
    EXPECT_NE(DigestOf(name + " copy"), DigestOf(name));
  }
}

TEST_F(CountMinTest, MergesInPlace) {
  Create("a", kLarge);
  Create("b", kLarge);
  Add("a", "x", 5);
  Add("b", "x", 3);
  Add("b", "y", 7);
  Run("a", [&](Keyspace& keys, const Key& key) -> Status {
    const Key other = keys.Name("b");
    CountMin target(keys, key);
    CountMin again(keys, key);
    CountMin source(keys, other);
    TRY(target.Open());
    TRY(again.Open());
    TRY(source.Open());
    const CountMin::Weighted sources[] = {{&again, 2}, {&source, 1}};
    EXPECT_TRUE(TRY(target.Merge(sources)));
    const CountMin::Weighted itself[] = {{&target, 1}};
    EXPECT_FALSE(TRY(target.Merge(itself))) << "nothing changes";
    return target.Save();
  });
  EXPECT_EQ(Estimate("a", "x"), 13u);
  EXPECT_EQ(Estimate("a", "y"), 7u);
}

TEST_F(CountMinTest, ReportsTheInvalidFieldOfARecord) {
  EXPECT_EQ(ErrorOf(Encoding::kRaw, std::string("\x03\x02\x00", 3)), "");
  EXPECT_EQ(ErrorOf(Encoding::kRaw, ""), "count-min sketch: width is cut short");
  EXPECT_EQ(ErrorOf(Encoding::kRaw, "\x03"), "count-min sketch: depth is cut short");
  EXPECT_EQ(ErrorOf(Encoding::kRaw, "\x03\x02\x80"), "count-min sketch: count is cut short");
  EXPECT_EQ(ErrorOf(Encoding::kRaw, std::string("\x00\x02\x00", 3)), "count-min sketch: dimensions are out of range");
  EXPECT_EQ(ErrorOf(Encoding::kRaw, std::string("\x01\x01\x00\0\0\0\0\0", 8)),
            "sketch: more cells than the fields say");
  EXPECT_EQ(ErrorOf(Encoding::kRaw, std::string("\xa0\x1f\x05\x00", 4)), "sketch: more cells than the fields say");
  EXPECT_EQ(ErrorOf(Encoding::kPacked, std::string("\x03\x02\x00", 3)), "sketch: unknown encoding");
  const std::string front = "\x07\x80\xf1\x04\x80\x08";  // id 7, 80,000 bytes in fragments of 1024
  EXPECT_EQ(ErrorOf(Encoding::kSpread, front + std::string("\xa0\x1f\x05\x00", 4)), "");
  EXPECT_EQ(ErrorOf(Encoding::kSpread, front + std::string("\xa0\x1f\x04\x00", 4)),
            "sketch: another size than the fields say");
  EXPECT_EQ(ErrorOf(Encoding::kSpread, front + std::string("\xa0\x1f\x05\x00\x00", 5)),
            "sketch: bytes after the fields");
  EXPECT_EQ(ErrorOf(Encoding::kSpread, "\x07\x80\xf1\x04"), "fragments: fragment_bytes is cut short");
}

}  // namespace
}  // namespace cairn
