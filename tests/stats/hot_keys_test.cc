// SPDX-License-Identifier: BSD-3-Clause
//
// The keys with the largest sums, and the sessions that measure them.
#include "stats/hot_keys.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "stats/top_keys.h"

namespace cairn {
namespace {

std::vector<std::string> Names(const std::vector<TopKeys::Sum>& sums) {
  std::vector<std::string> names;
  for (const TopKeys::Sum& sum : sums) names.push_back(sum.key);
  return names;
}

TEST(TopKeys, AreExactWhileAllKeysFit) {
  TopKeys keys(3);
  keys.Add("a", 5);
  keys.Add("b", 7);
  keys.Add("a", 4);
  keys.Add("nothing", 0);
  keys.Add("c", 1);
  const auto largest = keys.Largest(2);
  ASSERT_EQ(Names(largest), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(largest[0].sum, 9u);
  EXPECT_EQ(largest[1].sum, 7u);
  EXPECT_EQ(keys.Largest(9).size(), 3u);
}

// A tenth of the keys gets half of the weight, in any order of arrival: these are found, with sums that are never above
// the true ones.
TEST(TopKeys, FindTheHotKeysAmongMany) {
  Random random(3);
  TopKeys keys(100);
  std::map<std::string, uint64_t> truth;
  for (int i = 0; i < 200000; ++i) {
    const bool is_hot = random.Below(2) == 0;
    const std::string key = is_hot ? "hot" + std::to_string(random.Below(10)) : std::to_string(random.Below(100000));
    const uint64_t weight = 1 + random.Below(20);
    keys.Add(key, weight);
    truth[key] += weight;
  }
  const auto largest = keys.Largest(10);
  ASSERT_EQ(largest.size(), 10u);
  for (const TopKeys::Sum& sum : largest) {
    EXPECT_TRUE(sum.key.starts_with("hot")) << sum.key;
    EXPECT_LE(sum.sum, truth[sum.key]);
    EXPECT_GE(sum.sum, truth[sum.key] * 9 / 10);
  }
}

// A client must not fill the memory with names.
TEST(TopKeys, KeepBoundedMemory) {
  TopKeys keys(10);
  keys.Add(std::string(TopKeys::kMostKeyBytes + 1, 'k'), 100);
  EXPECT_TRUE(keys.Largest(10).empty());
  for (int i = 0; i < 1000; ++i) keys.Add(std::to_string(i), 1);
  EXPECT_EQ(keys.Largest(1000).size(), 10u);
}

const std::vector<std::string_view> kTwo = {"a", "b"};
const std::vector<std::string_view> kOne = {"b"};

TEST(HotKeys, DivideACommandByItsKeys) {
  HotKeys hot_keys;
  hot_keys.Note(kOne, 100, 100, 999);  // no session
  EXPECT_FALSE(hot_keys.Get(999));
  ASSERT_TRUE(hot_keys.Start({.cpu = true, .net = true}, 1000));
  EXPECT_TRUE(hot_keys.is_on());
  hot_keys.Note(kTwo, 3, 100, 1001);
  hot_keys.Note(kTwo, 2, 100, 1001);
  hot_keys.Note(kOne, 10, 1, 1002);
  const auto results = hot_keys.Get(1003);
  ASSERT_TRUE(results);
  EXPECT_TRUE(results->is_active);
  EXPECT_EQ(results->took_ms, 3);
  EXPECT_EQ(results->usec, 15u);
  EXPECT_EQ(results->bytes, 201u);
  ASSERT_EQ(Names(results->by_usec), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(results->by_usec[0].sum, 12u);  // 12.5
  EXPECT_EQ(results->by_usec[1].sum, 2u);   // 2.5
  ASSERT_EQ(Names(results->by_bytes), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(results->by_bytes[1].sum, 100u);
}

TEST(HotKeys, EndAfterTheirDuration) {
  HotKeys hot_keys;
  ASSERT_TRUE(hot_keys.Start({.net = true, .duration_ms = 2000}, 1000));
  hot_keys.Note(kOne, 1, 10, 2999);
  hot_keys.Note(kOne, 1, 10, 3000);
  EXPECT_FALSE(hot_keys.is_on());
  EXPECT_FALSE(hot_keys.Stop(9000));
  const auto results = hot_keys.Get(9000);
  EXPECT_FALSE(results->is_active);
  EXPECT_EQ(results->took_ms, 2000);
  EXPECT_EQ(results->bytes, 10u);
  EXPECT_TRUE(results->by_usec.empty());
}

TEST(HotKeys, AreResetOnlyWhenStopped) {
  HotKeys hot_keys;
  EXPECT_TRUE(hot_keys.Reset(1));
  EXPECT_FALSE(hot_keys.Stop(1));
  ASSERT_TRUE(hot_keys.Start({.cpu = true}, 1));
  EXPECT_FALSE(hot_keys.Start({.cpu = true}, 2));
  EXPECT_FALSE(hot_keys.Reset(2));
  EXPECT_TRUE(hot_keys.Stop(3));
  EXPECT_TRUE(hot_keys.Get(4));
  EXPECT_TRUE(hot_keys.Reset(4));
  EXPECT_FALSE(hot_keys.Get(5));
  EXPECT_TRUE(hot_keys.Start({.cpu = true}, 6));
}

// One of ten commands is sampled; the totals count all.
TEST(HotKeys, SampleCommands) {
  HotKeys hot_keys;
  ASSERT_TRUE(hot_keys.Start({.net = true, .sample_ratio = 10}, 1));
  for (int i = 0; i < 10000; ++i) hot_keys.Note(kOne, 1, 10, 2);
  const auto results = hot_keys.Get(3);
  EXPECT_EQ(results->bytes, 100000u);
  EXPECT_EQ(results->by_bytes[0].sum, results->sampled_bytes);
  EXPECT_NEAR(static_cast<double>(results->sampled_bytes), 10000, 1500);
}

}  // namespace
}  // namespace cairn
