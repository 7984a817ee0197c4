// SPDX-License-Identifier: BSD-3-Clause
//
// A sorted set, packed or spread, compared with a model: a map of scores and an ordered set of pairs.
#include "types/zset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "storage/store_fixture.h"

namespace cairn {
namespace {

using By = ZsetRange::By;
using Outcome = Added::Outcome;
using Elements = std::vector<std::pair<std::string, double>>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The model, with the order under test: by score, then by the member's bytes.
class Model {
 public:
  std::map<std::string, double> scores;

  Elements Sorted() const {
    Elements all(scores.begin(), scores.end());
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second < b.second : a.first < b.first;
    });
    return all;
  }

  Elements Range(const ZsetRange& range) const {
    Elements all = Sorted();
    if (range.reverse) std::reverse(all.begin(), all.end());
    Elements found;
    if (range.by == By::kRank) {
      const auto n = static_cast<int64_t>(all.size());
      const int64_t first = range.first_rank < 0 ? range.first_rank + n : range.first_rank;
      const int64_t last = range.last_rank < 0 ? range.last_rank + n : range.last_rank;
      for (int64_t i = 0; i < n; ++i) {
        if (i >= first && i <= last) found.push_back(all[static_cast<size_t>(i)]);
      }
      return found;
    }
    int64_t skip = range.offset;
    for (const auto& [member, score] : all) {
      const bool inside = range.by == By::kScore ? range.scores.ReachesMin(score) && range.scores.ReachesMax(score)
                                                 : range.members.ReachesMin(member) && range.members.ReachesMax(member);
      if (!inside || skip-- > 0) continue;
      if (range.limit >= 0 && static_cast<int64_t>(found.size()) >= range.limit) break;
      found.emplace_back(member, score);
    }
    return found;
  }
};

// Each test runs twice: with a set that stays packed, and with one that is spread from its first member on.
class ZsetTest : public StoreFixture, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    StoreFixture::SetUp();
    limits_.zset_max_listpack_entries = GetParam() ? 0 : 100000;
    limits_.packed_max_bytes = 1 << 20;
    limits_.packed_large_max_bytes = 0;
  }

  // Runs one change of the set "k" as a command of its own and keeps it.
  template <typename Change>
  void Edit(Change change) {
    Begin();
    Keyspace keys(txn(), 0, limits_);
    const Key key = keys.Name("k");
    Lock(key);
    Zset zset(keys, key);
    const Status opened = zset.Open();
    ASSERT_TRUE(opened.ok()) << opened.text();
    change(zset);
    const Status saved = zset.Save();
    ASSERT_TRUE(saved.ok()) << saved.text();
    Finish();
  }

  // Reads the set.
  template <typename Look>
  void Read(Look look) {
    Begin();
    Keyspace keys(txn(), 0, limits_);
    const Key key = keys.Name("k");
    Zset zset(keys, key);
    const Status opened = zset.Open();
    ASSERT_TRUE(opened.ok()) << opened.text();
    look(zset);
    Finish();
  }

  void Fill(const Elements& elements) {
    Edit([&](Zset& zset) {
      for (const auto& [member, score] : elements) ASSERT_TRUE(zset.Add(member, score, {}).ok());
    });
  }

  Elements Range(const ZsetRange& range) {
    Elements found;
    Read([&](Zset& zset) { found = Walk(zset, range); });
    return found;
  }

  static Elements Walk(Zset& zset, const ZsetRange& range) {
    Elements found;
    const Status status = zset.ForEach(range, [&](std::string_view member, double score) {
      found.emplace_back(member, score);
      return true;
    });
    EXPECT_TRUE(status.ok()) << status.text();
    return found;
  }

  Limits limits_;
};

double RandomScore(Random& random) {
  constexpr double kScores[] = {0, 1, 2, 2.5, -1, -3.25, 1e17, 0.1, kInfinity, -kInfinity};
  return kScores[random.Below(std::size(kScores))];
}

std::string RandomMember(Random& random) {
  constexpr std::string_view kPrefixes[] = {"", "m", "10", "\xff", "-"};
  return std::string(kPrefixes[random.Below(std::size(kPrefixes))]) + std::to_string(random.Below(40));
}

ZsetRange RandomRange(Random& random) {
  ZsetRange range;
  range.by = random.Below(2) == 0 ? By::kRank : By::kScore;
  range.reverse = random.Below(2) == 0;
  range.first_rank = static_cast<int64_t>(random.Below(120)) - 60;
  range.last_rank = static_cast<int64_t>(random.Below(120)) - 60;
  range.scores = {RandomScore(random), RandomScore(random), random.Below(2) == 0, random.Below(2) == 0};
  if (random.Below(2) == 0) range.offset = static_cast<int64_t>(random.Below(100));
  if (random.Below(2) == 0) range.limit = static_cast<int64_t>(random.Below(50));
  return range;
}

// After any changes the set equals the model in content, order, ranks and counts.
TEST_P(ZsetTest, EqualsTheModel) {
  Random random(20240229);
  Model model;
  for (int step = 0; step < 3000; ++step) {
    Edit([&](Zset& zset) {
      const std::string member = RandomMember(random);
      const double score = RandomScore(random);
      const uint64_t action = random.Below(20);
      if (action < 14) {
        const auto added = zset.Add(member, score, {});
        ASSERT_TRUE(added.ok());
        const auto old = model.scores.find(member);
        const Outcome expected = old == model.scores.end() ? Outcome::kAdded
                                 : old->second == score    ? Outcome::kUnchanged
                                                           : Outcome::kUpdated;
        EXPECT_EQ(added->outcome, expected);
        model.scores[member] = score;
      } else if (action < 18) {
        const auto removed = zset.Remove(member);
        ASSERT_TRUE(removed.ok());
        EXPECT_EQ(*removed, model.scores.erase(member) == 1);
      } else if (action == 18) {
        const uint64_t n = random.Below(4);
        const bool highest = random.Below(2) == 0;
        Elements expected = model.Sorted();
        if (highest) std::reverse(expected.begin(), expected.end());
        expected.resize(std::min<size_t>(expected.size(), n));
        Elements popped;
        ASSERT_TRUE(zset.Pop(n, highest,
                             [&](std::string_view m, double s) {
                               popped.emplace_back(m, s);
                               return true;
                             })
                        .ok());
        EXPECT_EQ(popped, expected);
        for (const auto& element : expected) model.scores.erase(element.first);
      } else if (random.Below(10) == 0) {
        ZsetRange range = RandomRange(random);
        range.reverse = false;
        range.offset = 0;
        range.limit = -1;
        const Elements expected = model.Range(range);
        const auto removed = zset.RemoveRange(range);
        ASSERT_TRUE(removed.ok());
        EXPECT_EQ(*removed, expected.size());
        for (const auto& element : expected) model.scores.erase(element.first);
      }
      EXPECT_EQ(zset.size(), model.scores.size());
    });
    if (step % 10 == 0) Commit();
    if (HasFailure()) FAIL() << "at step " << step;

    Read([&](Zset& zset) {
      const ZsetRange range = RandomRange(random);
      EXPECT_EQ(Walk(zset, range), model.Range(range));
      ZsetRange inside{.by = By::kScore, .scores = range.scores};
      const auto count = zset.Count(range.scores);
      ASSERT_TRUE(count.ok());
      EXPECT_EQ(*count, model.Range(inside).size());
      const std::string member = RandomMember(random);
      const auto ranked = zset.RankOf(member, range.reverse);
      ASSERT_TRUE(ranked.ok());
      EXPECT_EQ(ranked->has_value(), model.scores.contains(member));
      if (!ranked->has_value()) return;
      const auto rank = static_cast<int64_t>((*ranked)->rank);
      const Elements at = model.Range({.first_rank = rank, .last_rank = rank, .reverse = range.reverse});
      ASSERT_EQ(at.size(), 1u);
      EXPECT_EQ(at[0], std::make_pair(member, (*ranked)->score));
    });
    if (HasFailure()) FAIL() << "at step " << step;
  }
}

// Members are compared as bytes; an integer is compared as its text.
TEST_P(ZsetTest, WalksByMember) {
  Model model;
  for (const char* member : {"", "0", "1", "10", "2", "a", "aa", "b", "\x01", "\xff", "-5"}) {
    model.scores[member] = 7;
  }
  Fill(model.Sorted());
  const std::vector<LexBound> bounds = {
      {LexBound::Kind::kLowest, ""},     {LexBound::Kind::kHighest, ""},     {LexBound::Kind::kInclusive, ""},
      {LexBound::Kind::kExclusive, ""},  {LexBound::Kind::kInclusive, "1"},  {LexBound::Kind::kExclusive, "1"},
      {LexBound::Kind::kInclusive, "a"}, {LexBound::Kind::kExclusive, "aa"}, {LexBound::Kind::kInclusive, "zz"}};
  for (const LexBound& min : bounds) {
    for (const LexBound& max : bounds) {
      for (const bool reverse : {false, true}) {
        const ZsetRange range{.by = By::kLex, .members = {min, max}, .reverse = reverse, .offset = 1, .limit = 5};
        EXPECT_EQ(Range(range), model.Range(range));
      }
      const ZsetRange all{.by = By::kLex, .members = {min, max}};
      Read([&](Zset& zset) {
        const auto count = zset.Count(all.members);
        ASSERT_TRUE(count.ok());
        EXPECT_EQ(*count, model.Range(all).size());
      });
    }
  }
}

TEST_P(ZsetTest, RemovesByMember) {
  Fill({{"a", 0}, {"b", 0}, {"c", 0}, {"d", 0}});
  Edit([&](Zset& zset) {
    const LexRange middle{{LexBound::Kind::kExclusive, "a"}, {LexBound::Kind::kInclusive, "c"}};
    const auto removed = zset.RemoveRange({.by = By::kLex, .members = middle});
    ASSERT_TRUE(removed.ok());
    EXPECT_EQ(*removed, 2u);
  });
  EXPECT_EQ(Range({}), (Elements{{"a", 0}, {"d", 0}}));
}

// ZADD's options decide what Add does.
TEST_P(ZsetTest, ObeysTheRules) {
  Fill({{"m", 5}});
  const auto outcome = [&](std::string_view member, double score, const AddRules& rules) {
    Added added;
    Edit([&](Zset& zset) {
      auto result = zset.Add(member, score, rules);
      ASSERT_TRUE(result.ok());
      added = *result;
    });
    return added;
  };
  EXPECT_EQ(outcome("m", 9, {.only_new = true}).outcome, Outcome::kRefused);
  EXPECT_EQ(outcome("x", 9, {.only_existing = true}).outcome, Outcome::kRefused);
  EXPECT_EQ(outcome("m", 5, {.only_greater = true}).outcome, Outcome::kRefused);
  EXPECT_EQ(outcome("m", 6, {.only_less = true}).outcome, Outcome::kRefused);
  EXPECT_EQ(outcome("m", 6, {.only_greater = true}).outcome, Outcome::kUpdated);
  EXPECT_EQ(outcome("m", 4, {.only_less = true}).outcome, Outcome::kUpdated);
  EXPECT_EQ(outcome("new", 1, {.only_greater = true}).outcome, Outcome::kAdded);
  EXPECT_EQ(outcome("m", 2.5, {.increment = true}).score, 6.5);
  EXPECT_EQ(outcome("m", kInfinity, {.increment = true}).score, kInfinity);
  EXPECT_EQ(outcome("m", -kInfinity, {.increment = true}).outcome, Outcome::kNotANumber);
  EXPECT_EQ(Range({}), (Elements{{"new", 1}, {"m", kInfinity}}));
}

// A key exists exactly as long as its set has members.
TEST_P(ZsetTest, TheKeyIsRemovedWithItsLastMember) {
  Fill({{"a", 1}, {"b", 2}});
  Edit([](Zset& zset) {
    ASSERT_TRUE(zset.Remove("a").ok());
    ASSERT_TRUE(zset.Remove("b").ok());
  });
  Begin();
  Keyspace keys(txn(), 0, limits_);
  const auto entry = keys.Find(keys.Name("k"));
  ASSERT_TRUE(entry.ok());
  EXPECT_FALSE(entry->exists());
  EXPECT_EQ(keys.Count(), 0);
  Finish();
}

// After a reopen of the store, committed data exists in the same form.
TEST_P(ZsetTest, SurvivesAReopen) {
  Elements elements;
  for (int i = 0; i < 300; ++i) elements.emplace_back("member" + std::to_string(i), i * 0.5);
  std::sort(elements.begin(), elements.end(), [](auto& a, auto& b) { return a.second < b.second; });
  Fill(elements);
  Commit();
  Reopen();
  EXPECT_EQ(Range({}), elements);
  Read([](Zset& zset) { EXPECT_EQ(zset.spread(), GetParam()); });
}

// -0.0 equals 0.0 in every comparison. A spread set still shows the stored sign; a packed one, like Redis's small
// encoding, does not.
TEST_P(ZsetTest, KeepsTheSignOfZero) {
  Fill({{"b", 0.0}, {"a", 0.0}});
  Fill({{"minus", -0.0}});
  Commit();
  Fill({{"a", -0.0}});  // no change: the scores are equal
  const Elements all = Range({});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].first, "a");
  EXPECT_FALSE(std::signbit(all[0].second));
  EXPECT_EQ(all[2].first, "minus");
  EXPECT_EQ(std::signbit(all[2].second), GetParam());
  Read([](Zset& zset) {
    const auto score = zset.Score("minus");
    ASSERT_TRUE(score.ok());
    ASSERT_TRUE(score->has_value());
    EXPECT_EQ(std::signbit(**score), GetParam());
  });
}

// A complete scan returns every member that existed during the whole scan.
TEST_P(ZsetTest, ScanReturnsEveryMemberThatExistsThroughout) {
  Elements elements;
  for (int i = 0; i < 500; ++i) elements.emplace_back(std::to_string(i), i);
  Fill(elements);
  std::set<std::string> seen;
  uint64_t position = 0;
  int round = 0;
  do {
    Read([&](Zset& zset) {
      const auto next = zset.Scan(position, 7, [&](std::string_view member, double score) {
        EXPECT_EQ(std::to_string(static_cast<int>(score)), member);
        seen.emplace(member);
        return true;
      });
      ASSERT_TRUE(next.ok());
      position = *next;
    });
    Edit([&](Zset& zset) { ASSERT_TRUE(zset.Remove(std::to_string(400 + round++ % 100)).ok()); });
  } while (position != 0 && round < 1000);
  for (int i = 0; i < 400; ++i) EXPECT_TRUE(seen.contains(std::to_string(i))) << i;
}

TEST_P(ZsetTest, PicksByRank) {
  Fill({{"a", 1}, {"b", 2}, {"c", 3}});
  Elements picked;
  Read([&](Zset& zset) {
    ASSERT_TRUE(zset.ForEachRank({2, 0, 2},
                                 [&](std::string_view member, double score) {
                                   picked.emplace_back(member, score);
                                   return true;
                                 })
                    .ok());
  });
  EXPECT_EQ(picked, (Elements{{"c", 3}, {"a", 1}, {"c", 3}}));
}

// A large set can be walked at any offset from both ends.
TEST_P(ZsetTest, ReachesDeepOffsets) {
  Model model;
  for (int i = 0; i < 3000; ++i) model.scores["m" + std::to_string(i)] = i / 3;
  Fill(model.Sorted());
  Commit();
  for (const int64_t offset : {0, 10, 100, 1000, 2900, 2999, 3000}) {
    for (const int64_t limit : {int64_t{0}, int64_t{1}, int64_t{200}, int64_t{-1}}) {
      for (const bool reverse : {false, true}) {
        const ZsetRange by_score{.by = By::kScore,
                                 .scores = {.min = 5, .max = 900, .max_exclusive = true},
                                 .reverse = reverse,
                                 .offset = offset,
                                 .limit = limit};
        EXPECT_EQ(Range(by_score), model.Range(by_score)) << offset << " " << limit;
        const ZsetRange by_rank{.first_rank = offset, .last_rank = offset + limit, .reverse = reverse};
        EXPECT_EQ(Range(by_rank), model.Range(by_rank)) << offset << " " << limit;
      }
    }
  }
  EXPECT_EQ(Range({.by = By::kScore, .offset = -1}), Elements());
}

INSTANTIATE_TEST_SUITE_P(Forms, ZsetTest, testing::Bool(),
                         [](const auto& form) { return form.param ? "Spread" : "Packed"; });

class ZsetFormTest : public StoreFixture {
 protected:
  ZsetFormTest() { limits_.packed_large_max_bytes = 0; }

  // Adds members until the set is spread and returns their number; 0 if it never is.
  int MembersUntilSpread(int most, const std::string& suffix) {
    int added = 0;
    bool spread = false;
    Begin();
    Keyspace keys(txn(), 0, limits_);
    const Key key = keys.Name("k");
    Lock(key);
    Zset zset(keys, key);
    EXPECT_TRUE(zset.Open().ok());
    while (added < most && !spread) {
      EXPECT_TRUE(zset.Add(std::to_string(added) + suffix, added, {}).ok());
      ++added;
      spread = zset.spread();
    }
    EXPECT_EQ(zset.size(), static_cast<uint64_t>(added));
    EXPECT_TRUE(zset.Save().ok());
    Finish();
    return spread ? added : 0;
  }

  Limits limits_;
};

// redis.conf's limits, and the limit on bytes, decide when a set is spread; a value equal to a limit still fits.
TEST_F(ZsetFormTest, SpreadsAtTheLimits) {
  limits_.zset_max_listpack_entries = 10;
  EXPECT_EQ(MembersUntilSpread(50, ""), 11);
}

TEST_F(ZsetFormTest, SpreadsAtALongMember) {
  limits_.zset_max_listpack_value = 10;
  EXPECT_EQ(MembersUntilSpread(50, "123456789"), 11);  // "10" is the first with two digits
}

TEST_F(ZsetFormTest, SpreadsAtTheLimitOfBytes) {
  limits_.packed_max_bytes = 1000;
  EXPECT_EQ(MembersUntilSpread(50, std::string(50, 'x')), 19);  // 54 bytes each, 55 from 10 on
}

// A complete value is written in the form that fits it, in order, replacing any old value.
TEST_F(ZsetFormTest, ReplacesAWholeValue) {
  limits_.zset_max_listpack_entries = 3;
  for (const int n : {5, 3, 4, 0, 2}) {
    Begin();
    Keyspace keys(txn(), 0, limits_);
    const Key key = keys.Name("k");
    Lock(key);
    const auto entry = keys.Find(key);
    ASSERT_TRUE(entry.ok());
    std::vector<ScoredMember> elements;
    for (int i = n; i > 0; --i) elements.push_back({"m" + std::to_string(i), i * 1.5});
    ASSERT_TRUE(Zset::Replace(keys, key, *entry, elements).ok());
    Finish();
    Commit();
    Begin();
    Zset zset(keys, key);
    ASSERT_TRUE(zset.Open().ok());
    EXPECT_EQ(zset.size(), static_cast<uint64_t>(n));
    EXPECT_EQ(zset.spread(), n > 3);
    int next = 1;
    EXPECT_TRUE(zset.ForEach([&](std::string_view member, double score) {
                      EXPECT_EQ(member, "m" + std::to_string(next));
                      EXPECT_EQ(score, next++ * 1.5);
                      return true;
                    })
                    .ok());
    EXPECT_EQ(next, n + 1);
    Finish();
  }
}

// The expiry belongs to the key: it stays when members are added and when the set is spread.
TEST_F(ZsetFormTest, KeepsItsExpiry) {
  limits_.zset_max_listpack_entries = 2;
  Keyspace keys(txn(), 0, limits_);
  const Key key = keys.Name("k");
  for (int i = 0; i < 4; ++i) {
    Begin();
    Lock(key);
    Zset zset(keys, key);
    ASSERT_TRUE(zset.Open().ok());
    ASSERT_TRUE(zset.Add(std::to_string(i), i, {}).ok());
    ASSERT_TRUE(zset.Save().ok());
    auto entry = keys.Find(key);
    ASSERT_TRUE(entry.ok());
    if (i == 0) {
      ASSERT_TRUE(keys.SetExpiry(key, *entry, now_ms() + 5000).ok());
    } else {
      EXPECT_EQ(entry->expire_ms(), now_ms() + 5000);
    }
    Finish();
  }
}

// Invalid bytes on disk are an error, never a crash.
TEST(PackedZset, RefusesDamage) {
  PackedZsetWriter writer;
  for (int i = 0; i < 5; ++i) writer.Add("member" + std::to_string(i), i + 0.5);
  const std::string payload = writer.Take();
  ASSERT_TRUE(PackedZset(payload).Read().ok());
  for (size_t size = 1; size < payload.size(); ++size) {
    const auto entries = PackedZset(std::string_view(payload).substr(0, size)).Read();
    ASSERT_FALSE(entries.ok()) << size;
    EXPECT_EQ(entries.status().code(), Code::kCorruption);
  }
}

// The bytes that docs/format.md shows.
TEST(PackedZset, HasTheDocumentedBytes) {
  PackedZsetWriter writer;
  writer.Add("a", -1);
  writer.Add("7", 2);
  EXPECT_EQ(writer.Take(), std::string("\x02\x02"
                                       "a\x02\x1d\x05"));
}

}  // namespace
}  // namespace cairn
