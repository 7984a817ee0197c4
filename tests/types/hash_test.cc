// SPDX-License-Identifier: BSD-3-Clause
//
// A hash behaves the same in every form, and the limits decide the form.
#include "types/hash.h"

#include <gtest/gtest.h>

#include <map>

#include "collection_fixture.h"

namespace cairn {
namespace {

class HashTest : public CollectionFixture {
 protected:
  HashTest() { limits_.hash_max_listpack_entries = 128; }

  // Returns true if the field is new.
  bool SetField(std::string_view name, std::string_view field, std::string_view value) {
    bool is_new = false;
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      Hash hash(keyspace, key);
      TRY(hash.Open());
      is_new = TRY(hash.Set(field, value));
      return hash.Save();
    });
    return is_new;
  }

  bool RemoveField(std::string_view name, std::string_view field) {
    bool was_there = false;
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      Hash hash(keyspace, key);
      TRY(hash.Open());
      was_there = TRY(hash.Remove(field));
      return hash.Save();
    });
    return was_there;
  }

  std::string ValueOf(std::string_view name, std::string_view field) {
    std::string text = "(none)";
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      Hash hash(keyspace, key);
      TRY(hash.Open());
      FieldValue value = TRY(hash.Get(field));
      if (value) text = value.text();
      return Ok();
    });
    return text;
  }

  std::vector<std::string> Fields(std::string_view name) {
    std::vector<std::string> fields;
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      Hash hash(keyspace, key);
      TRY(hash.Open());
      return hash.ForEach([&](std::string_view field, std::string_view) -> Result<bool> {
        fields.emplace_back(field);
        return true;
      });
    });
    return fields;
  }

  std::map<std::string, std::string> All(std::string_view name) {
    std::map<std::string, std::string> all;
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      Hash hash(keyspace, key);
      TRY(hash.Open());
      return hash.ForEach([&](std::string_view field, std::string_view value) -> Result<bool> {
        all.emplace(field, value);
        return true;
      });
    });
    return all;
  }

  void Fill(std::string_view name, int count) {
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      Hash hash(keyspace, key);
      TRY(hash.Open());
      for (int i = 0; i < count; ++i) TRY(hash.Set("f" + std::to_string(i), std::to_string(i)));
      return hash.Save();
    });
  }
};

TEST_F(HashTest, KeepsInsertionOrderWhilePacked) {
  for (const char* field : {"z", "7", "a"}) EXPECT_TRUE(SetField("h", field, "1"));
  EXPECT_FALSE(SetField("h", "7", "two"));
  EXPECT_EQ(Fields("h"), (std::vector<std::string>{"z", "7", "a"}));
  EXPECT_EQ(ValueOf("h", "7"), "two");
  EXPECT_EQ(ValueOf("h", "none"), "(none)");
  EXPECT_EQ(EncodingOf("h"), Encoding::kPacked);
}

// Values are returned byte for byte, including integers of every form.
TEST_F(HashTest, ValuesComeBackAsWritten) {
  const std::vector<std::string> texts = {
      "", "0", "-0", "007", "9223372036854775807", "4611686018427387904", "x", "1 ", "+1", std::string("\0\r\n", 3)};
  for (const bool spread : {false, true}) {
    const std::string name = spread ? "spread" : "packed";
    if (spread) Fill(name, 200);
    for (const std::string& text : texts) SetField(name, "field " + text, text);
    for (const std::string& text : texts) EXPECT_EQ(ValueOf(name, "field " + text), text) << name;
  }
}

// Deadlines move from the record to rows, and expired fields are hidden in both forms.
TEST_F(HashTest, DeadlinesSurviveSpreading) {
  const auto with_hash = [&](auto change) {
    Run("h", [&](Keyspace& keyspace, const Key& key) -> Status {
      Hash hash(keyspace, key);
      TRY(hash.Open());
      TRY(change(hash));
      return hash.Save();
    });
  };
  Fill("h", 100);
  with_hash([&](Hash& hash) -> Status {
    TRY(hash.SetDeadline("f1", now_ms() - 1));
    TRY(hash.SetDeadline("f2", now_ms() + 1000));
    return hash.SetDeadline("f3", now_ms() + 2000);
  });
  EXPECT_EQ(EncodingOf("h"), Encoding::kPacked);
  EXPECT_EQ(Fields("h").size(), 99u);
  SetField("h", "long", std::string(100, 'x'));
  EXPECT_EQ(EncodingOf("h"), Encoding::kSpread);
  EXPECT_EQ(ValueOf("h", "f1"), "(none)");
  with_hash([&](Hash& hash) -> Status {
    EXPECT_TRUE(hash.MayHaveDue());
    EXPECT_EQ(hash.size(), 101u);
    EXPECT_EQ(TRY(hash.DeadlineOf("f2")), now_ms() + 1000);
    EXPECT_EQ(TRY(hash.DeadlineOf("f4")), kNoExpiry);
    FieldPlace left;
    EXPECT_EQ(TRY(hash.RemoveDue(10, left)), 1u);
    EXPECT_FALSE(TRY(hash.Get("f1")));
    return Ok();
  });
  with_hash([&](Hash& hash) -> Status {
    EXPECT_FALSE(hash.MayHaveDue());
    EXPECT_EQ(hash.next_deadline_ms(), now_ms() + 1000);
    EXPECT_EQ(hash.size(), 100u);
    EXPECT_FALSE(TRY(hash.Set("f2", "new")));
    EXPECT_FALSE(TRY(hash.Set("f3", "new", Hash::Deadline::kKeep)));
    EXPECT_EQ(TRY(hash.DeadlineOf("f2")), kNoExpiry);
    EXPECT_EQ(TRY(hash.DeadlineOf("f3")), now_ms() + 2000);
    return hash.SetDeadline("f3", kNoExpiry);
  });
  with_hash([&](Hash& hash) -> Status {
    EXPECT_FALSE(hash.has_deadlines());
    return Ok();
  });
}

TEST_F(HashTest, SpreadsWhenThereAreTooManyFields) {
  Fill("h", 128);
  EXPECT_EQ(EncodingOf("h"), Encoding::kPacked);
  SetField("h", "f0", "other");
  EXPECT_EQ(EncodingOf("h"), Encoding::kPacked);
  SetField("h", "one more", "1");
  EXPECT_EQ(EncodingOf("h"), Encoding::kSpread);
  EXPECT_EQ(All("h").size(), 129u);
  EXPECT_EQ(ValueOf("h", "f0"), "other");
  EXPECT_EQ(ValueOf("h", "f127"), "127");
}

TEST_F(HashTest, SpreadsForALongFieldOrValue) {
  SetField("f", std::string(64, 'x'), "1");
  EXPECT_EQ(EncodingOf("f"), Encoding::kPacked);
  SetField("f", std::string(65, 'x'), "1");
  EXPECT_EQ(EncodingOf("f"), Encoding::kSpread);
  SetField("v", "a", std::string(65, 'x'));
  EXPECT_EQ(EncodingOf("v"), Encoding::kSpread);
}

TEST_F(HashTest, SpreadsWhenTheRecordGetsTooLarge) {
  limits_.hash_max_listpack_entries = 100000;
  limits_.packed_max_bytes = 1000;
  Fill("h", 400);
  EXPECT_EQ(EncodingOf("h"), Encoding::kSpread);
  EXPECT_EQ(All("h").size(), 400u);
}

// As in Redis, a hash that shrinks keeps its large form.
TEST_F(HashTest, NeverPacksAgain) {
  Fill("h", 200);
  for (int i = 1; i < 200; ++i) EXPECT_TRUE(RemoveField("h", "f" + std::to_string(i)));
  EXPECT_EQ(EncodingOf("h"), Encoding::kSpread);
  EXPECT_EQ(Fields("h"), std::vector<std::string>{"f0"});
}

TEST_F(HashTest, TheKeyIsRemovedWithItsLastField) {
  for (const int count : {3, 200}) {
    Fill("h", count);
    for (int i = 0; i < count; ++i) EXPECT_TRUE(RemoveField("h", "f" + std::to_string(i)));
    EXPECT_FALSE(Exists("h"));
    EXPECT_FALSE(RemoveField("h", "f0"));
  }
}

// One command may set a field twice, before and after the hash spreads.
TEST_F(HashTest, AFieldSetTwiceInOneCommandCountsOnce) {
  Run("h", [](Keyspace& keyspace, const Key& key) -> Status {
    Hash hash(keyspace, key);
    TRY(hash.Open());
    int added = 0;
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < 300; ++i) added += TRY(hash.Set("f" + std::to_string(i), std::to_string(round)));
    }
    EXPECT_EQ(added, 300);
    EXPECT_EQ(hash.size(), 300u);
    return hash.Save();
  });
  const auto all = All("h");
  EXPECT_EQ(all.size(), 300u);
  for (const auto& [field, value] : all) EXPECT_EQ(value, "1") << field;
}

TEST_F(HashTest, SurvivesARestart) {
  Fill("packed", 10);
  Fill("spread", 500);
  const auto packed = All("packed");
  const auto spread = All("spread");
  Commit();
  Reopen();
  EXPECT_EQ(All("packed"), packed);
  EXPECT_EQ(All("spread"), spread);
}

TEST_F(HashTest, RanksNameEveryFieldOnce) {
  for (const int count : {20, 1000}) {
    const std::string name = "h" + std::to_string(count);
    Fill(name, count);
    std::map<std::string, std::string> found;
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      Hash hash(keyspace, key);
      TRY(hash.Open());
      for (uint64_t rank = 0; rank < hash.size(); ++rank) {
        FieldPair pair = TRY(hash.At(rank, true));
        found.emplace(pair.field, pair.value);
      }
      return Ok();
    });
    EXPECT_EQ(found, All(name));
  }
}

// Few ranks are looked up one by one, many are picked from a walk; both must find the same fields.
TEST_F(HashTest, ForEachRankFindsWhatAtFinds) {
  Fill("h", 1000);
  Run("h", [&](Keyspace& keyspace, const Key& key) -> Status {
    Hash hash(keyspace, key);
    TRY(hash.Open());
    for (const uint64_t step : {7, 400}) {
      std::vector<uint64_t> ranks;
      for (uint64_t rank = 3; rank < hash.size(); rank += step) ranks.push_back(rank);
      size_t next = 0;
      TRY(hash.ForEachRank(ranks, true, [&](std::string_view field, std::string_view value) -> Result<bool> {
        const FieldPair pair = TRY(hash.At(ranks[next++], true));
        EXPECT_EQ(pair.field, field);
        EXPECT_EQ(pair.value, value);
        return true;
      }));
      EXPECT_EQ(next, ranks.size());
    }
    return Ok();
  });
}

// HSCAN's guarantee, and that its cursor is a position that needs no memory of the scan.
TEST_F(HashTest, ScanReturnsEveryFieldThatExistsThroughout) {
  Fill("h", 500);
  std::map<std::string, int> seen;
  uint64_t position = 0;
  int round = 0;
  do {
    Run("h", [&](Keyspace& keyspace, const Key& key) -> Status {
      Hash hash(keyspace, key);
      TRY(hash.Open());
      position = TRY(hash.Scan(position, 10, [&](std::string_view field, std::string_view) -> Result<bool> {
        ++seen[std::string(field)];
        return true;
      }));
      return Ok();
    });
    SetField("h", "new" + std::to_string(round), "1");
    RemoveField("h", "f" + std::to_string(499 - round));
    ++round;
  } while (position != 0);
  EXPECT_GE(round, 45);
  for (int i = 0; i < 499 - round; ++i) EXPECT_EQ(seen["f" + std::to_string(i)], 1) << i;
}

TEST_F(HashTest, CorruptRecordsAreErrors) {
  const auto read = [this](std::string_view name) {
    Code code = Code::kOk;
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      Hash hash(keyspace, key);
      Status status = hash.Open();
      if (status.ok()) status = hash.ForEach([](std::string_view, std::string_view) { return Result<bool>(true); });
      code = status.code();
      return Ok();
    });
    return code;
  };
  const auto bytes = [](std::initializer_list<int> values) { return std::string(values.begin(), values.end()); };
  WriteRaw("short", Type::kHash, Encoding::kPacked, bytes({2, 2, 'a', 5}));
  WriteRaw("odd", Type::kHash, Encoding::kPacked, bytes({1, 2, 'a'}));
  WriteRaw("none", Type::kHash, Encoding::kPacked, bytes({0}));
  WriteRaw("cut", Type::kHash, Encoding::kPacked, bytes({1, 2, 'a', 8, 'b'}));
  WriteRaw("raw", Type::kHash, Encoding::kRaw, "text");
  for (const char* name : {"short", "odd", "none", "cut", "raw"}) {
    EXPECT_EQ(read(name), Code::kCorruption) << name;
  }
}

// A long random history compared with std::map, with limits that make the hash spread on the way.
TEST_F(HashTest, BehavesLikeAMap) {
  limits_.hash_max_listpack_entries = 40;
  std::map<std::string, std::string> model;
  for (int step = 0; step < 3000; ++step) {
    const std::string field = std::to_string(random_.Below(80));
    if (random_.Below(3) != 0) {
      const std::string value = random_.Below(2) ? std::to_string(random_.Next()) : "v" + field;
      EXPECT_EQ(SetField("h", field, value), model.insert_or_assign(field, value).second);
    } else {
      EXPECT_EQ(RemoveField("h", field), model.erase(field) == 1);
    }
    if (step % 500 == 499) {
      EXPECT_EQ(All("h"), model);
      Commit();
    }
  }
}

}  // namespace
}  // namespace cairn
