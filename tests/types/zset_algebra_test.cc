// SPDX-License-Identifier: BSD-3-Clause
//
// Unions, intersections and differences compared with maps.
#include "types/zset_algebra.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "storage/store_fixture.h"

namespace cairn {
namespace {

using Scores = std::map<std::string, double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class ZsetAlgebraTest : public StoreFixture {
 protected:
  void SetUp() override {
    StoreFixture::SetUp();
    Begin();
    keys_.emplace(txn(), 0, limits_);
    names_.reserve(100);
  }

  void AddZset(std::string_view name, const Scores& scores) {
    names_.push_back(keys_->Name(name));
    Lock(names_.back());
    const auto entry = keys_->Find(names_.back());
    ASSERT_TRUE(entry.ok());
    std::vector<ScoredMember> elements;
    for (const auto& [member, score] : scores) elements.push_back({member, score});
    ASSERT_TRUE(Zset::Replace(*keys_, names_.back(), *entry, elements).ok());
  }

  void AddSet(std::string_view name, const std::vector<std::string>& members) {
    names_.push_back(keys_->Name(name));
    Lock(names_.back());
    Set set(*keys_, names_.back());
    ASSERT_TRUE(set.Open().ok());
    for (const std::string& member : members) ASSERT_TRUE(set.Add(member).ok());
    ASSERT_TRUE(set.Save().ok());
  }

  // All keys created so far, with these weights.
  std::vector<ZsetSource> Sources(const std::vector<double>& weights = {}) {
    std::vector<ZsetSource> sources;
    for (size_t i = 0; i < names_.size(); ++i) {
      auto source = ZsetSource::Find(*keys_, names_[i]);
      EXPECT_TRUE(source.ok());
      sources.push_back(std::move(*source));
      if (i < weights.size()) sources.back().weight = weights[i];
    }
    return sources;
  }

  static Scores AsMap(const Result<std::vector<ScoredMember>>& result) {
    Scores scores;
    EXPECT_TRUE(result.ok());
    EXPECT_TRUE(std::is_sorted((*result).begin(), (*result).end()));
    for (const ScoredMember& element : *result) scores[element.member] = element.score;
    EXPECT_EQ(scores.size(), (*result).size());
    return scores;
  }

  Scores Union(std::vector<ZsetSource> sources, Aggregate aggregate) {
    return AsMap(UniteZsets(txn().command().memory(), std::move(sources), aggregate));
  }
  Scores Difference(std::vector<ZsetSource> sources) {
    return AsMap(SubtractZsets(txn().command().memory(), std::move(sources)));
  }
  Scores Inter(std::vector<ZsetSource> sources, Aggregate aggregate) {
    Scores scores;
    EXPECT_TRUE(IntersectZsets(txn().command().memory(), std::move(sources), aggregate,
                               [&](std::string_view member, double score) {
                                 scores[std::string(member)] = score;
                                 return true;
                               })
                    .ok());
    return scores;
  }

  Limits limits_;
  std::optional<Keyspace> keys_;
  std::vector<Key> names_;
};

TEST_F(ZsetAlgebraTest, CombinesScores) {
  AddZset("z1", {{"a", 1}, {"b", 2}, {"c", 3}});
  AddZset("z2", {{"b", 10}, {"c", -20}, {"d", 30}});
  EXPECT_EQ(Union(Sources(), Aggregate::kSum), (Scores{{"a", 1}, {"b", 12}, {"c", -17}, {"d", 30}}));
  EXPECT_EQ(Union(Sources({2, 3}), Aggregate::kMax), (Scores{{"a", 2}, {"b", 30}, {"c", 6}, {"d", 90}}));
  EXPECT_EQ(Inter(Sources(), Aggregate::kMin), (Scores{{"b", 2}, {"c", -20}}));
  EXPECT_EQ(Difference(Sources()), (Scores{{"a", 1}}));
}

// The members of a set have score 1.
TEST_F(ZsetAlgebraTest, AcceptsSetsToo) {
  AddZset("z", {{"a", 5}, {"7", 6}});
  AddSet("integers", {"7", "8"});
  AddSet("texts", {"a", "7"});
  EXPECT_EQ(Union(Sources({1, 2, 4}), Aggregate::kSum), (Scores{{"a", 9}, {"7", 12}, {"8", 2}}));
  EXPECT_EQ(Inter(Sources(), Aggregate::kSum), (Scores{{"7", 8}}));
}

// NaN counts as 0.
TEST_F(ZsetAlgebraTest, ReplacesNanByZero) {
  AddZset("z1", {{"a", kInfinity}, {"b", kInfinity}});
  AddZset("z2", {{"a", -kInfinity}});
  EXPECT_EQ(Union(Sources(), Aggregate::kSum), (Scores{{"a", 0}, {"b", kInfinity}}));
  EXPECT_EQ(Union(Sources({0, 1}), Aggregate::kSum), (Scores{{"a", -kInfinity}, {"b", 0}}));
}

// An intersection of large sets reads none of them into memory, so a visitor that needs one member ends it at once. The
// fast lane's work budget shows how much was read.
TEST_F(ZsetAlgebraTest, DoesNotReadALargeSourceToAnswerQuestions) {
  Scores large;
  for (int i = 0; i < 70'000; ++i) large[std::to_string(i)] = i;
  AddZset("z", large);
  Finish();
  Begin(Lane::kFast);
  std::vector<ZsetSource> sources = Sources();
  sources.push_back(std::move(Sources()[0]));
  size_t visited = 0;
  const Status status = IntersectZsets(txn().command().memory(), std::move(sources), Aggregate::kSum,
                                       [&](std::string_view, double score) {
                                         EXPECT_EQ(score, 0);  // twice 0: the first member in order
                                         ++visited;
                                         return false;
                                       });
  EXPECT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(visited, 1);
}

// The differences of sets that are too large to be read into memory are the same.
TEST_F(ZsetAlgebraTest, SubtractsFromALargeSet) {
  Scores large;
  for (int i = 0; i < 70'000; ++i) large[std::to_string(i)] = i;
  AddZset("large", large);
  for (int i = 10; i < 70'000; ++i) large.erase(std::to_string(i));
  AddZset("few", large);
  const Scores left = Difference(Sources());
  EXPECT_EQ(left.size(), 69'990);
  EXPECT_EQ(left.begin()->second, 10);
}

TEST_F(ZsetAlgebraTest, MissingKeysAreEmpty) {
  AddZset("z", {{"a", 1}});
  AddZset("nothing", {});
  EXPECT_EQ(Union(Sources(), Aggregate::kSum), (Scores{{"a", 1}}));
  EXPECT_EQ(Inter(Sources(), Aggregate::kSum), Scores());
  EXPECT_EQ(Difference(Sources()), (Scores{{"a", 1}}));
}

// The result is the same whether a source is walked or looked up.
TEST_F(ZsetAlgebraTest, TheResultDoesNotDependOnSizes) {
  Random random(7);
  for (int round = 0; round < 30; ++round) {
    names_.clear();
    std::vector<Scores> model;
    limits_.zset_max_listpack_entries = static_cast<int64_t>(random.Below(2) * 1000);
    for (int i = 0; i < 3; ++i) {
      Scores scores;
      const uint64_t size = uint64_t{1} << random.Below(9);
      for (uint64_t j = 0; j < size; ++j) scores[std::to_string(random.Below(2 * size))] = 1;
      static const std::string kNames[] = {"x", "y", "z"};
      AddZset(kNames[i], scores);
      model.push_back(scores);
    }
    Scores united, common, rest;
    for (const Scores& scores : model) {
      for (const auto& [member, score] : scores) united[member] += score;
    }
    for (const auto& [member, score] : united) {
      if (score == 3) common[member] = 3;
    }
    for (const auto& [member, score] : model[0]) {
      if (!model[1].contains(member) && !model[2].contains(member)) rest[member] = score;
    }
    EXPECT_EQ(Union(Sources(), Aggregate::kSum), united);
    EXPECT_EQ(Inter(Sources(), Aggregate::kSum), common);
    EXPECT_EQ(Difference(Sources()), rest);
  }
}

}  // namespace
}  // namespace cairn
