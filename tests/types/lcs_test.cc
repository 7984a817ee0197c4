// SPDX-License-Identifier: BSD-3-Clause
//
// The result is a subsequence of both texts, and no longer one exists.
#include "types/lcs.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace cairn {
namespace {

size_t LongestByTrying(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return 0;
  const size_t without_either = std::max(LongestByTrying(a.substr(1), b), LongestByTrying(a, b.substr(1)));
  return a[0] == b[0] ? std::max(without_either, 1 + LongestByTrying(a.substr(1), b.substr(1))) : without_either;
}

// The runs, from back to front, form the subsequence in both texts.
void ExpectRunsSpell(const CommonSubsequence& common, std::string_view a, std::string_view b) {
  std::string spelled;
  for (auto run = common.runs.rbegin(); run != common.runs.rend(); ++run) {
    EXPECT_EQ(a.substr(run->a_first, run->size()), b.substr(run->b_first, run->size()));
    spelled += a.substr(run->a_first, run->size());
  }
  EXPECT_EQ(spelled, common.text);
}

TEST(Lcs, IsTheLongestOfAll) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    std::string a;
    std::string b;
    for (uint64_t n = random.Below(9); n > 0; --n) a += "abc"[random.Below(3)];
    for (uint64_t n = random.Below(9); n > 0; --n) b += "abc"[random.Below(3)];
    SCOPED_TRACE(a + " and " + b);
    const CommonSubsequence common = FindCommonSubsequence(a, b);
    EXPECT_EQ(common.text.size(), LongestByTrying(a, b));
    EXPECT_EQ(CommonLength(a, b), common.text.size());
    ExpectRunsSpell(common, a, b);
  }
}

TEST(Lcs, JoinsNeighboursIntoRuns) {
  const CommonSubsequence common = FindCommonSubsequence("ohmytext", "mynewtext");
  EXPECT_EQ(common.text, "mytext");
  ASSERT_EQ(common.runs.size(), 2u);
  EXPECT_EQ(common.runs[0].a_first, 4u);
  EXPECT_EQ(common.runs[0].a_last, 7u);
  EXPECT_EQ(common.runs[0].b_first, 5u);
  EXPECT_EQ(common.runs[1].size(), 2u);
}

TEST(Lcs, OfEmptyTextsIsEmpty) {
  EXPECT_EQ(CommonLength("", "abc"), 0u);
  EXPECT_EQ(FindCommonSubsequence("abc", "").text, "");
  EXPECT_TRUE(FindCommonSubsequence("abc", "xyz").runs.empty());
}

}  // namespace
}  // namespace cairn
