// SPDX-License-Identifier: BSD-3-Clause
//
// A set behaves the same in every form, the limits decide the form, and random members are uniform.
#include "types/set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "collection_fixture.h"
#include "types/sample.h"
#include "types/set_algebra.h"
#include "types/set_builder.h"

namespace cairn {
namespace {

using Members = std::vector<std::string>;

class SetTest : public CollectionFixture {
 protected:
  // Returns how many of the members are new.
  int Add(std::string_view name, const Members& members) {
    int added = 0;
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      Set set(keyspace, key);
      TRY(set.Open());
      for (const std::string& member : members) added += TRY(set.Add(member));
      return set.Save();
    });
    return added;
  }

  bool Remove(std::string_view name, std::string_view member) {
    bool was_there = false;
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      Set set(keyspace, key);
      TRY(set.Open());
      was_there = TRY(set.Remove(member));
      return set.Save();
    });
    return was_there;
  }

  bool Has(std::string_view name, std::string_view member) {
    bool has = false;
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      Set set(keyspace, key);
      TRY(set.Open());
      has = TRY(set.Contains(member));
      return Ok();
    });
    return has;
  }

  Members All(std::string_view name) {
    Members members;
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      Set set(keyspace, key);
      TRY(set.Open());
      return set.ForEach([&](std::string_view member) -> Result<bool> {
        members.emplace_back(member);
        return true;
      });
    });
    return members;
  }

  std::set<std::string> Sorted(std::string_view name) {
    const Members members = All(name);
    return {members.begin(), members.end()};
  }

  static Members Numbered(std::string_view prefix, int count) {
    Members members;
    for (int i = 0; i < count; ++i) members.push_back(std::string(prefix) + std::to_string(i));
    return members;
  }

  void Build(std::string_view name, const Members& members) {
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      SetBuilder builder(keyspace);
      for (const std::string& member : members) builder.Add(member);
      return builder.StoreTo(key, TRY(keyspace.Find(key)), kNoExpiry);
    });
  }
};

TEST_F(SetTest, IntegersAreKeptAscending) {
  EXPECT_EQ(Add("s", {"5", "-3", "9223372036854775807", "0", "5", "-9223372036854775808"}), 5);
  EXPECT_EQ(EncodingOf("s"), Encoding::kIntegers);
  EXPECT_EQ(All("s"), (Members{"-9223372036854775808", "-3", "0", "5", "9223372036854775807"}));
  for (const std::string& member : All("s")) EXPECT_TRUE(Has("s", member)) << member;
  for (const char* other : {"1", "05", "-0", "", "x", "9223372036854775808"}) {
    EXPECT_FALSE(Has("s", other)) << other;
  }
}

TEST_F(SetTest, ATextMakesItPacked) {
  Add("s", {"3", "1"});
  Add("s", {"01"});
  EXPECT_EQ(EncodingOf("s"), Encoding::kPacked);
  EXPECT_EQ(All("s"), (Members{"1", "3", "01"}));
  EXPECT_TRUE(Remove("s", "01"));
  EXPECT_EQ(EncodingOf("s"), Encoding::kPacked);
}

TEST_F(SetTest, SpreadsAsTheLimitsSay) {
  Add("integers", Numbered("", 512));
  EXPECT_EQ(EncodingOf("integers"), Encoding::kIntegers);
  Add("integers", {"512"});
  EXPECT_EQ(EncodingOf("integers"), Encoding::kSpread);
  EXPECT_EQ(All("integers").size(), 513u);

  Add("texts", Numbered("m", 128));
  EXPECT_EQ(EncodingOf("texts"), Encoding::kPacked);
  Add("texts", {"m0", "one more"});
  EXPECT_EQ(EncodingOf("texts"), Encoding::kSpread);
  EXPECT_EQ(All("texts").size(), 129u);

  Add("long", {std::string(64, 'x')});
  EXPECT_EQ(EncodingOf("long"), Encoding::kPacked);
  Add("long", {std::string(65, 'x')});
  EXPECT_EQ(EncodingOf("long"), Encoding::kSpread);
}

TEST_F(SetTest, IntegersBeyondTheirLimitArePackedIfFew) {
  limits_.set_max_intset_entries = 0;
  Add("s", {"1"});
  EXPECT_EQ(EncodingOf("s"), Encoding::kPacked);
}

TEST_F(SetTest, SpreadsWhenTheRecordGetsTooLarge) {
  limits_.packed_max_bytes = 300;
  Add("texts", Numbered("member-", 100));
  EXPECT_EQ(EncodingOf("texts"), Encoding::kSpread);
  Members far;
  for (int i = 0; i < 100; ++i) far.push_back(std::to_string(int64_t{1000000007} * i));
  Add("integers", far);
  EXPECT_EQ(EncodingOf("integers"), Encoding::kSpread);
  EXPECT_EQ(Sorted("integers"), std::set<std::string>(far.begin(), far.end()));
}

TEST_F(SetTest, TheKeyIsRemovedWithItsLastMember) {
  for (const Members& members : {Members{"1", "2"}, Members{"a", "b"}, Numbered("m", 300)}) {
    Add("s", members);
    for (const std::string& member : members) EXPECT_TRUE(Remove("s", member));
    EXPECT_FALSE(Exists("s"));
  }
}

TEST_F(SetTest, SurvivesARestart) {
  Add("integers", Numbered("", 50));
  Add("texts", Numbered("m", 50));
  Add("many", Numbered("m", 1000));
  const auto integers = All("integers"), texts = All("texts"), many = All("many");
  Commit();
  Reopen();
  EXPECT_EQ(All("integers"), integers);
  EXPECT_EQ(All("texts"), texts);
  EXPECT_EQ(All("many"), many);
}

// A result of integers has the small encoding whatever its sources had, as in Redis.
TEST_F(SetTest, ABuiltSetTakesTheSmallestForm) {
  Build("integers", {"3", "1", "2", "1"});
  EXPECT_EQ(EncodingOf("integers"), Encoding::kIntegers);
  EXPECT_EQ(All("integers"), (Members{"1", "2", "3"}));
  Build("mixed", {"3", "1", "x", "3", "2"});
  EXPECT_EQ(EncodingOf("mixed"), Encoding::kPacked);
  EXPECT_EQ(All("mixed"), (Members{"1", "3", "x", "2"}));
  Build("many", Numbered("", 600));
  EXPECT_EQ(EncodingOf("many"), Encoding::kSpread);
  EXPECT_EQ(All("many").size(), 600u);
  Build("many", {});
  EXPECT_FALSE(Exists("many"));
}

TEST_F(SetTest, PopRemovesTheMemberAtARank) {
  for (const Members& members : {Numbered("", 30), Numbered("m", 30), Numbered("m", 500)}) {
    Add("s", members);
    std::set<std::string> popped;
    for (size_t i = 0; i < members.size(); ++i) {
      Run("s", [&](Keyspace& keyspace, const Key& key) -> Status {
        Set set(keyspace, key);
        TRY(set.Open());
        EXPECT_EQ(set.size(), members.size() - i);
        popped.insert(TRY(set.Pop(random_.Below(set.size()))));
        return set.Save();
      });
      if (i % 100 == 99) Commit();
    }
    EXPECT_EQ(popped, std::set<std::string>(members.begin(), members.end()));
    EXPECT_FALSE(Exists("s"));
  }
}

TEST_F(SetTest, PopRanksRemovesExactlyTheMembersAtTheRanks) {
  for (const Members& members : {Numbered("", 40), Numbered("m", 40), Numbered("m", 1000)}) {
    Add("s", members);
    const Members before = All("s");
    Members popped;
    const std::vector<uint64_t> ranks = SampleRanks(before.size(), 9, random_);
    Run("s", [&](Keyspace& keyspace, const Key& key) -> Status {
      Set set(keyspace, key);
      TRY(set.Open());
      popped = TRY(set.PopRanks(ranks));
      return set.Save();
    });
    Members expected;
    for (const uint64_t rank : ranks) expected.push_back(before[rank]);
    EXPECT_EQ(popped, expected);
    const auto left = Sorted("s");
    EXPECT_EQ(left.size(), members.size() - 9);
    for (const std::string& member : popped) EXPECT_FALSE(left.contains(member));
    Build("s", {});
  }
}

// Sum of (observed - expected)^2 / expected over the members.
double ChiSquare(const std::map<std::string, int>& drawn, size_t members, int draws) {
  const double expected = static_cast<double>(draws) / static_cast<double>(members);
  double sum = static_cast<double>(members - drawn.size()) * expected;
  for (const auto& [member, times] : drawn) sum += (times - expected) * (times - expected) / expected;
  return sum;
}

TEST_F(SetTest, RandomMembersAreUniform) {
  Add("s", Numbered("m", 1000));
  Commit();
  std::map<std::string, int> drawn;
  Run("s", [&](Keyspace& keyspace, const Key& key) -> Status {
    Set set(keyspace, key);
    TRY(set.Open());
    for (int i = 0; i < 100000; ++i) ++drawn[TRY(set.At(random_.Below(set.size())))];
    return Ok();
  });
  // 999 degrees of freedom: mean 999, standard deviation 44.7; 1200 is four and a half deviations away.
  EXPECT_LT(ChiSquare(drawn, 1000, 100000), 1200);
}

TEST(SampleRanks, AreDistinctAscendingAndUniform) {
  Random random(3);
  for (const uint64_t count : {1, 20, 60, 200}) {
    std::map<std::string, int> drawn;
    const int rounds = 20000;
    for (int round = 0; round < rounds; ++round) {
      const std::vector<uint64_t> ranks = SampleRanks(200, count, random);
      ASSERT_EQ(ranks.size(), count);
      ASSERT_TRUE(std::adjacent_find(ranks.begin(), ranks.end(), std::greater_equal<>()) == ranks.end());
      ASSERT_LT(ranks.back(), 200u);
      for (const uint64_t rank : ranks) ++drawn[std::to_string(rank)];
    }
    // At most 199 degrees of freedom: standard deviation 20; sampling without repetition varies less.
    EXPECT_LT(ChiSquare(drawn, 200, rounds * static_cast<int>(count)), 300) << count;
  }
}

// The results do not depend on the form of the sets.
TEST_F(SetTest, AlgebraIsTheSameInEveryForm) {
  const std::vector<Members> pools = {Numbered("", 30), Numbered("", 900), Numbered("m", 30), Numbered("m", 900)};
  for (int round = 0; round < 60; ++round) {
    std::vector<std::set<std::string>> models(3);
    for (int i = 0; i < 3; ++i) {
      Members members;
      for (const std::string& member : pools[random_.Below(pools.size())]) {
        if (random_.Below(2)) members.push_back(member);
      }
      if (members.empty()) members.push_back("0");
      models[i] = {members.begin(), members.end()};
      Build("s" + std::to_string(i), members);
    }
    std::set<std::string> common, difference;
    for (const std::string& member : models[0]) {
      const bool in1 = models[1].contains(member), in2 = models[2].contains(member);
      if (in1 && in2) common.insert(member);
      if (!in1 && !in2) difference.insert(member);
    }
    std::set<std::string> intersected, subtracted;
    Run("s0", [&](Keyspace& keyspace, const Key&) -> Status {
      const Key keys[] = {keyspace.Name("s0"), keyspace.Name("s1"), keyspace.Name("s2")};
      std::vector<Set> sets;
      for (const Key& key : keys) TRY(sets.emplace_back(keyspace, key).Open());
      CommandMemory& memory = keyspace.txn().command().memory();
      TRY(IntersectSets(memory, sets, [&](std::string_view member) -> Result<bool> {
        EXPECT_TRUE(intersected.insert(std::string(member)).second);
        return true;
      }));
      return SubtractSets(memory, sets[0], std::span(sets).subspan(1), [&](std::string_view member) -> Result<bool> {
        EXPECT_TRUE(subtracted.insert(std::string(member)).second);
        return true;
      });
    });
    EXPECT_EQ(intersected, common) << "round " << round;
    EXPECT_EQ(subtracted, difference) << "round " << round;
  }
}

TEST_F(SetTest, CorruptRecordsAreErrors) {
  const auto read = [this](std::string_view name) {
    Code code = Code::kOk;
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      Set set(keyspace, key);
      Status status = set.Open();
      if (status.ok()) status = set.ForEach([](std::string_view) { return Result<bool>(true); });
      code = status.code();
      return Ok();
    });
    return code;
  };
  const auto bytes = [](std::initializer_list<int> values) { return std::string(values.begin(), values.end()); };
  WriteRaw("short", Type::kSet, Encoding::kPacked, bytes({2, 2, 'a'}));
  WriteRaw("none", Type::kSet, Encoding::kPacked, bytes({0}));
  WriteRaw("few", Type::kSet, Encoding::kIntegers, bytes({3, 2, 0}));
  WriteRaw("empty", Type::kSet, Encoding::kIntegers, "");
  WriteRaw("raw", Type::kSet, Encoding::kRaw, "text");
  for (const char* name : {"short", "none", "few", "empty", "raw"}) {
    EXPECT_EQ(read(name), Code::kCorruption) << name;
  }
}

// A long random history compared with std::set, growing from integers through packed to spread.
TEST_F(SetTest, BehavesLikeASet) {
  limits_.set_max_intset_entries = 25;
  limits_.set_max_listpack_entries = 50;
  std::set<std::string> model;
  for (int step = 0; step < 4000; ++step) {
    const uint64_t number = random_.Below(20 + static_cast<uint64_t>(step) / 20);
    const std::string member = step > 1500 && number % 3 == 0 ? "m" + std::to_string(number) : std::to_string(number);
    if (random_.Below(5) < 3) {
      EXPECT_EQ(Add("s", {member}), model.insert(member).second ? 1 : 0);
    } else {
      EXPECT_EQ(Remove("s", member), model.erase(member) == 1);
    }
    if (step % 500 == 499) {
      EXPECT_EQ(Sorted("s"), model);
      EXPECT_EQ(All("s").size(), model.size());
      Commit();
    }
  }
}

}  // namespace
}  // namespace cairn
