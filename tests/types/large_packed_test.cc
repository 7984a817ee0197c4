// SPDX-License-Identifier: BSD-3-Clause
//
// Collections that Redis stores in its large encoding and Cairn still in one row (packed-large-max-bytes).
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "tests/types/collection_fixture.h"
#include "types/hash.h"
#include "types/set.h"
#include "types/set_builder.h"
#include "types/value_types.h"
#include "types/zset.h"

namespace cairn {
namespace {

class LargePackedTest : public CollectionFixture {
 protected:
  LargePackedTest() { limits_.packed_large_max_bytes = 8192; }

  // Opens a collection, applies the change, and saves it, as one command.
  template <typename Collection, typename Change>
  void Edit(std::string_view name, Change change) {
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      Collection collection(keyspace, key);
      TRY(collection.Open());
      TRY(change(collection));
      return collection.Save();
    });
  }

  // OBJECT ENCODING.
  std::string ShownEncoding(std::string_view name) {
    std::string shown;
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      const KeyEntry entry = TRY(keyspace.Find(key));
      if (entry.exists()) shown = ValueTypeOf(entry.type()).encoding_name(entry);
      return Ok();
    });
    return shown;
  }

  std::map<std::string, std::string> FieldsOf(std::string_view name) {
    std::map<std::string, std::string> fields;
    Edit<Hash>(name, [&](Hash& hash) {
      return hash.ForEach([&](std::string_view field, std::string_view value) -> Result<bool> {
        fields.emplace(field, value);
        return true;
      });
    });
    return fields;
  }

  std::set<std::string> MembersOf(std::string_view name) {
    std::set<std::string> members;
    Edit<Set>(name, [&](Set& set) {
      return set.ForEach([&](std::string_view member) -> Result<bool> {
        members.emplace(member);
        return true;
      });
    });
    return members;
  }

  double ScoreOf(std::string_view name, std::string_view member) {
    double score = NAN;
    Edit<Zset>(name, [&](Zset& zset) -> Status {
      score = TRY(zset.Score(member)).value_or(NAN);
      return Ok();
    });
    return score;
  }

  void AddScored(std::string_view name, const std::string& member, double score) {
    Edit<Zset>(name, [&](Zset& zset) -> Status { return zset.Add(member, score, {}).TakeStatus(); });
  }
};

// Clients see Redis's large encoding from the first field too many on, and for ever.
TEST_F(LargePackedTest, AHashStaysInOneRowUntilItHasTooManyBytes) {
  std::map<std::string, std::string> model;
  const auto put = [&](int i) {
    const std::string field = "f" + std::to_string(i);
    model[field] = std::to_string(i);
    Edit<Hash>("h", [&](Hash& hash) -> Status { return hash.Set(field, model[field]).TakeStatus(); });
  };
  for (int i = 0; i < 512; ++i) put(i);
  EXPECT_EQ(ShownEncoding("h"), "listpack");
  for (int i = 512; i < 700; ++i) put(i);
  EXPECT_EQ(ShownEncoding("h"), "hashtable");
  EXPECT_EQ(EncodingOf("h"), Encoding::kPacked);
  Commit();
  EXPECT_EQ(FieldsOf("h"), model);
  for (int i = 100; i < 700; ++i) {
    Edit<Hash>("h", [&](Hash& hash) -> Status { return hash.Remove("f" + std::to_string(i)).TakeStatus(); });
    model.erase("f" + std::to_string(i));
  }
  EXPECT_EQ(ShownEncoding("h"), "hashtable");
  for (int i = 100; i < 2000; ++i) put(i);
  EXPECT_EQ(EncodingOf("h"), Encoding::kSpread);
  EXPECT_EQ(FieldsOf("h"), model);
}

TEST_F(LargePackedTest, AHashWithALongValueStaysInOneRow) {
  const std::string text(1000, 'x');
  Edit<Hash>("h", [&](Hash& hash) -> Status {
    TRY(hash.Set("a", "1"));
    return hash.Set("text", text).TakeStatus();
  });
  EXPECT_EQ(EncodingOf("h"), Encoding::kPacked);
  EXPECT_EQ(ShownEncoding("h"), "hashtable");
  Edit<Hash>("h", [&](Hash& hash) -> Status { return hash.Set("b", std::string(9000, 'y')).TakeStatus(); });
  EXPECT_EQ(EncodingOf("h"), Encoding::kSpread);
  EXPECT_EQ(FieldsOf("h"),
            (std::map<std::string, std::string>{{"a", "1"}, {"text", text}, {"b", std::string(9000, 'y')}}));
}

// Rewriting long values for one short field would cost more than their rows.
TEST_F(LargePackedTest, AHashOfLongValuesIsSpread) {
  Edit<Hash>("h", [&](Hash& hash) -> Status {
    for (int i = 0; i < 20; ++i) TRY(hash.Set("f" + std::to_string(i), std::string(200, 'x')));
    return Ok();
  });
  EXPECT_EQ(EncodingOf("h"), Encoding::kSpread);
  EXPECT_EQ(FieldsOf("h").size(), 20u);
}

TEST_F(LargePackedTest, ASetOfIntegersStaysInOneRowAndTurnsToTextsThere) {
  std::set<std::string> model;
  Edit<Set>("s", [&](Set& set) -> Status {
    for (int i = 0; i < 1000; ++i) {
      const std::string member = std::to_string(i * 7919 % 100000);
      EXPECT_EQ(TRY(set.Add(member)), model.insert(member).second);
    }
    return Ok();
  });
  EXPECT_EQ(EncodingOf("s"), Encoding::kIntegers);
  EXPECT_EQ(ShownEncoding("s"), "hashtable");
  Edit<Set>("s", [&](Set& set) -> Status { return set.Add("text").TakeStatus(); });
  model.insert("text");
  EXPECT_EQ(EncodingOf("s"), Encoding::kPacked);
  EXPECT_EQ(MembersOf("s"), model);
}

// The exact size is checked when the set is saved, so a command that adds many integers encodes them once.
TEST_F(LargePackedTest, ASetOfTooManyBytesIsSpread) {
  Edit<Set>("s", [&](Set& set) -> Status {
    for (int64_t i = 0; i < 2000; ++i) TRY(set.Add(std::to_string(i * 100'000'000'000)));
    return Ok();
  });
  EXPECT_EQ(EncodingOf("s"), Encoding::kSpread);
  EXPECT_EQ(MembersOf("s").size(), 2000u);
}

// A change of a packed collection visits all its elements, so their number is limited too.
TEST_F(LargePackedTest, VeryManyTinyElementsAreSpread) {
  Edit<Set>("s", [&](Set& set) -> Status {
    for (int i = 0; i < 1024; ++i) TRY(set.Add(std::to_string(i)));
    return Ok();
  });
  EXPECT_EQ(EncodingOf("s"), Encoding::kIntegers);
  Edit<Set>("s", [&](Set& set) -> Status { return set.Add("1024").TakeStatus(); });
  EXPECT_EQ(EncodingOf("s"), Encoding::kSpread);
  EXPECT_EQ(MembersOf("s").size(), 1025u);
  for (int i = 0; i < 1025; ++i) AddScored("z", std::to_string(i), 1);
  EXPECT_EQ(EncodingOf("z"), Encoding::kSpread);
  Run("built", [&](Keyspace& keyspace, const Key& key) -> Status {
    SetBuilder builder(keyspace);
    for (int i = 0; i < 1025; ++i) builder.Add(std::to_string(i));
    const KeyEntry entry = TRY(keyspace.Find(key));
    return builder.StoreTo(key, entry, kNoExpiry);
  });
  EXPECT_EQ(EncodingOf("built"), Encoding::kSpread);
}

// A built set (SUNIONSTORE, RESTORE) takes the same form as one that grew.
TEST_F(LargePackedTest, ABuiltSetStaysInOneRow) {
  for (const bool of_texts : {false, true}) {
    Run("s", [&](Keyspace& keyspace, const Key& key) -> Status {
      SetBuilder builder(keyspace);
      for (int i = 0; i < 600; ++i) builder.Add((of_texts ? "m" : "") + std::to_string(i));
      const KeyEntry entry = TRY(keyspace.Find(key));
      return builder.StoreTo(key, entry, kNoExpiry);
    });
    EXPECT_EQ(EncodingOf("s"), of_texts ? Encoding::kPacked : Encoding::kIntegers);
    EXPECT_EQ(ShownEncoding("s"), "hashtable");
    EXPECT_EQ(MembersOf("s").size(), 600u);
  }
}

TEST_F(LargePackedTest, ASortedSetStaysInOneRowUntilItHasTooManyBytes) {
  for (int i = 0; i < 128; ++i) AddScored("z", std::to_string(i), i);
  EXPECT_EQ(ShownEncoding("z"), "listpack");
  for (int i = 128; i < 500; ++i) AddScored("z", std::to_string(i), i);
  EXPECT_EQ(ShownEncoding("z"), "skiplist");
  EXPECT_EQ(EncodingOf("z"), Encoding::kPacked);
  AddScored("z", std::string(8192, 'x'), 0.5);
  EXPECT_EQ(EncodingOf("z"), Encoding::kSpread);
  EXPECT_EQ(ScoreOf("z", "499"), 499);
  EXPECT_EQ(ScoreOf("z", std::string(8192, 'x')), 0.5);
}

// Redis's small encoding forgets the sign of -0.0, its large one does not.
TEST_F(LargePackedTest, ALargeSortedSetKeepsTheSignOfZero) {
  limits_.zset_max_listpack_entries = 2;
  AddScored("z", "a", -0.0);
  AddScored("z", "b", 1);
  AddScored("z", "c", 2);
  EXPECT_EQ(EncodingOf("z"), Encoding::kPacked);
  AddScored("z", "b", -0.0);
  EXPECT_FALSE(std::signbit(ScoreOf("z", "a")));
  EXPECT_TRUE(std::signbit(ScoreOf("z", "b")));
  Run("built", [&](Keyspace& keyspace, const Key& key) -> Status {
    const KeyEntry entry = TRY(keyspace.Find(key));
    return Zset::Replace(keyspace, key, entry, {{"a", -0.0}, {"b", 1}, {"c", 2}});
  });
  EXPECT_TRUE(std::signbit(ScoreOf("built", "a")));
}

// CONFIG SET may lower the limit: the next change obeys it.
TEST_F(LargePackedTest, ALowerLimitSpreadsAtTheNextChange) {
  Edit<Hash>("h", [&](Hash& hash) -> Status { return hash.Set("f", std::string(100, 'x')).TakeStatus(); });
  AddScored("z", std::string(100, 'x'), 1);
  Edit<Set>("s", [&](Set& set) -> Status { return set.Add(std::string(100, 'x')).TakeStatus(); });
  limits_.packed_large_max_bytes = 0;
  Edit<Hash>("h", [&](Hash& hash) -> Status { return hash.Set("g", "1").TakeStatus(); });
  AddScored("z", "m", 2);
  Edit<Set>("s", [&](Set& set) -> Status { return set.Add("m").TakeStatus(); });
  for (const char* name : {"h", "z", "s"}) EXPECT_EQ(EncodingOf(name), Encoding::kSpread) << name;
  EXPECT_EQ(FieldsOf("h").size(), 2u);
  EXPECT_EQ(MembersOf("s").size(), 2u);
  EXPECT_EQ(ScoreOf("z", "m"), 2);
}

}  // namespace
}  // namespace cairn
