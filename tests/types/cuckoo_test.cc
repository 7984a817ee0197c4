// SPDX-License-Identifier: BSD-3-Clause
//
// Cuckoo filters find every item that was added until it is deleted, through evictions, growth and compaction.
#include "types/cuckoo.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "types/filter_fixture.h"

namespace cairn {
namespace {

class CuckooTest : public FilterFixture {
 protected:
  void With(std::string_view name, const std::function<Status(Cuckoo&)>& change) {
    Run(name, [&](Keyspace& keys, const Key& key) -> Status {
      Cuckoo cuckoo(keys, key);
      TRY(cuckoo.Open());
      TRY(change(cuckoo));
      return cuckoo.Save();
    });
  }
  void Create(std::string_view name, uint64_t capacity, uint64_t bucket_size = 2, uint64_t iterations = 20,
              uint64_t expansion = 1) {
    With(name, [&](Cuckoo& cuckoo) {
      return cuckoo.Create(CuckooShape::Make(capacity, bucket_size, iterations, expansion));
    });
  }
  // Inserts the numbers [begin, end), one in each command.
  void Insert(std::string_view name, int begin, int end) {
    for (int i = begin; i < end; ++i) {
      With(name, [&](Cuckoo& cuckoo) -> Status {
        EXPECT_EQ(TRY(cuckoo.Insert(std::to_string(i))), CuckooInserted::kNew) << i;
        return Ok();
      });
    }
  }
  int Found(std::string_view name, int begin, int end) {
    int found = 0;
    With(name, [&](Cuckoo& cuckoo) -> Status {
      for (int i = begin; i < end; ++i) found += TRY(cuckoo.Contains(std::to_string(i))) ? 1 : 0;
      return Ok();
    });
    return found;
  }
  CuckooShape ShapeOf(std::string_view name) {
    CuckooShape shape;
    With(name, [&](Cuckoo& cuckoo) {
      shape = cuckoo.shape();
      return Ok();
    });
    return shape;
  }
};

// The sub-filters that RedisBloom's flow tests count.
TEST_F(CuckooTest, GrowsAsRedisBloom) {
  const struct {
    uint64_t capacity, bucket_size, iterations, expansion, filters;
  } cases[] = {{64, 1, 20, 1, 18}, {64, 2, 20, 1, 17}, {256, 4, 500, 1, 4}, {64, 2, 20, 2, 5}, {64, 2, 500, 4, 3}};
  for (const auto& each : cases) {
    Create("c", each.capacity, each.bucket_size, each.iterations, each.expansion);
    Insert("c", 0, 1000);
    EXPECT_EQ(ShapeOf("c").filters, each.filters);
    EXPECT_EQ(ShapeOf("c").items, 1000u);
    EXPECT_EQ(Found("c", 0, 1000), 1000);
    Run("c", [&](Keyspace& keys, const Key& key) -> Status { return keys.Remove(key, TRY(keys.Find(key))); });
  }
}

TEST_F(CuckooTest, WritesThePageOfTheItemOnly) {
  Create("c", uint64_t{1} << 30, 4);
  EXPECT_EQ(PagesOf("c").count, 0u) << "an empty filter is one row";
  Insert("c", 0, 10);
  EXPECT_EQ(PagesOf("c").count, 10u);
  With("c", [](Cuckoo& cuckoo) -> Status {
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(TRY(cuckoo.Delete(std::to_string(i))));
    return Ok();
  });
  EXPECT_EQ(PagesOf("c").count, 0u) << "free slots take no room";
}

// A full filter must be as it was after an item that found no room.
TEST_F(CuckooTest, ChangesNothingIfEvictionsFail) {
  Create("c", 16, 2, 500, 0);
  int full_at = 0;
  std::string before;
  for (bool is_full = false; !is_full; ++full_at) {
    before = DigestOf("c");
    With("c", [&](Cuckoo& cuckoo) -> Status {
      is_full = TRY(cuckoo.Insert(std::to_string(full_at))) == CuckooInserted::kFull;
      return Ok();
    });
  }
  EXPECT_GE(full_at, 12);
  EXPECT_EQ(DigestOf("c"), before);
  EXPECT_EQ(Found("c", 0, full_at - 1), full_at - 1);
}

// Random insertions and deletions: an item that the model holds is always found.
TEST_F(CuckooTest, FindsWhatIsLeft) {
  Create("c", 256, 2, 20, 2);
  std::multiset<int> model;
  for (int step = 0; step < 4000; ++step) {
    const int item = static_cast<int>(random_.Below(2000));
    const bool inserts = random_.Below(3) > 0;
    With("c", [&](Cuckoo& cuckoo) -> Status {
      if (inserts) {
        EXPECT_EQ(TRY(cuckoo.Insert(std::to_string(item))), CuckooInserted::kNew);
        model.insert(item);
      } else if (const auto found = model.find(item); found != model.end()) {
        EXPECT_TRUE(TRY(cuckoo.Delete(std::to_string(item))));
        model.erase(found);
      }
      return Ok();
    });
  }
  With("c", [&](Cuckoo& cuckoo) -> Status {
    EXPECT_EQ(cuckoo.shape().items, model.size());
    for (const int item : model) {
      EXPECT_GE(TRY(cuckoo.Count(std::to_string(item))), model.count(item)) << item;
    }
    return Ok();
  });
}

TEST_F(CuckooTest, DropsSubFiltersThatItEmptied) {
  Create("c", 4096, 4, 20, 1);
  Insert("c", 0, 9000);
  const CuckooShape grown = ShapeOf("c");
  EXPECT_GT(grown.filters, 2u);
  With("c", [](Cuckoo& cuckoo) -> Status {
    for (int i = 0; i < 8000; ++i) EXPECT_TRUE(TRY(cuckoo.Delete(std::to_string(i))));
    TRY(cuckoo.Compact());
    return Ok();
  });
  EXPECT_EQ(ShapeOf("c").filters, 1u);
  EXPECT_EQ(ShapeOf("c").deletes, 0u);
  EXPECT_LE(PagesOf("c").bytes, 4096u);
  With("c", [](Cuckoo& cuckoo) -> Status {
    for (int i = 8000; i < 9000; ++i) EXPECT_GE(TRY(cuckoo.Count(std::to_string(i))), 1u) << i;
    EXPECT_FALSE(TRY(cuckoo.Compact())) << "there is nothing to move";
    return Ok();
  });
}

TEST(CuckooShape, RefusesDamagedHeaders) {
  const CuckooShape good = CuckooShape::Make(1000, 2, 20, 1);
  ASSERT_TRUE(CuckooShape::DecodeDump(good.EncodeDump()));
  const auto broken = [&](const std::function<void(CuckooShape&)>& change) {
    CuckooShape changed = good;
    change(changed);
    EXPECT_FALSE(CuckooShape::DecodeDump(changed.EncodeDump()));
    const std::string record = changed.Encode();
    std::string_view in = record;
    EXPECT_FALSE(CuckooShape::Decode(in).ok());
  };
  broken([](CuckooShape& shape) { shape.buckets = 0; });
  broken([](CuckooShape& shape) { shape.buckets = 3; });
  broken([](CuckooShape& shape) { shape.buckets = uint64_t{1} << 63; });
  broken([](CuckooShape& shape) { shape.bucket_size = 0; });
  broken([](CuckooShape& shape) { shape.bucket_size = 256; });
  broken([](CuckooShape& shape) { shape.max_iterations = 0; });
  broken([](CuckooShape& shape) { shape.expansion = 32769; });
  broken([](CuckooShape& shape) { shape.filters = 0; });
  broken([](CuckooShape& shape) { shape.filters = 1 << 20; });
  broken([](CuckooShape& shape) { shape.expansion = 0, shape.filters = 2; });
  broken([](CuckooShape& shape) { shape.expansion = 32768, shape.filters = 20; });
}

// Each item of a command looks at all sub-filters. A record may have more of them than a client can make now.
TEST(CuckooShape, TakesALimitedNumberOfSubFiltersFromClients) {
  CuckooShape shape = CuckooShape::Make(2, 2, 20, 1);
  shape.filters = kMostGrownFilters;
  EXPECT_TRUE(CuckooShape::DecodeDump(shape.EncodeDump()));
  ++shape.filters;
  EXPECT_FALSE(CuckooShape::DecodeDump(shape.EncodeDump()));
  const std::string record = shape.Encode();
  std::string_view in = record;
  EXPECT_TRUE(CuckooShape::Decode(in).ok());
}

// The records of docs/format.md, section 5.6.
TEST_F(CuckooTest, HasTheBytesOfTheFormat) {
  Create("c", 4);
  With("c", [&](Cuckoo& cuckoo) -> Status {
    for (const char* const item : {"foo", "bar", "baz"}) TRY(cuckoo.Insert(item));
    return Ok();
  });
  EXPECT_EQ(ToHex(PayloadOf("c")), "030002010214011400d99d");
  Create("large", 2048);
  const std::string payload = PayloadOf("large");
  std::string_view rest = payload;
  uint64_t id;
  ASSERT_TRUE(ReadVarint(rest, id));
  EXPECT_EQ(ToHex(rest), "801080020000800801021401");
}

TEST_F(CuckooTest, IsCopiedSavedAndLoadedWithItsItems) {
  Create("small", 16);
  Insert("small", 0, 10);
  Create("large", 1 << 20);
  Insert("large", 0, 300);
  Create("empty", uint64_t{1} << 30);
  for (const std::string name : {"small", "large", "empty"}) {
    const std::string saved = Saved(name);
    for (const uint64_t parts : {1, 1000}) {
      const std::string loaded = name + std::to_string(parts);
      EXPECT_EQ(LoadInPieces(loaded, saved, parts), "");
      EXPECT_EQ(DigestOf(loaded), DigestOf(name));
      EXPECT_EQ(Saved(loaded), saved);
    }
    Copy(name, "copy");
    EXPECT_EQ(DigestOf("copy"), DigestOf(name));
  }
  EXPECT_EQ(Found("large1", 0, 300), 300);
}

}  // namespace
}  // namespace cairn
