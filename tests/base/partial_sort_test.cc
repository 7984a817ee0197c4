// SPDX-License-Identifier: BSD-3-Clause
//
// PartialSort puts the wanted elements in order for any input, and no input makes the time explode.
// tests/integration/test_sort.py and test_geo.py compare the order of equal elements with redis-server.
#include "base/partial_sort.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "base/random.h"

namespace cairn {
namespace {

using Numbers = std::vector<uint64_t>;

int Compare(uint64_t a, uint64_t b) { return a < b ? -1 : static_cast<int>(a > b); }

void ExpectSorted(const Numbers& input, size_t first, size_t last) {
  Numbers numbers = input;
  PartialSort(std::span(numbers), first, last - first + 1, Compare);
  Numbers expected = input;
  std::sort(expected.begin(), expected.end());
  for (size_t i = first; i <= last; ++i) {
    ASSERT_EQ(numbers[i], expected[i]) << "position " << i << " of " << first << " to " << last << " of "
                                       << input.size();
  }
  std::sort(numbers.begin(), numbers.end());
  ASSERT_EQ(numbers, expected);  // no element is lost
}

TEST(PartialSort, OrdersTheWantedPositions) {
  Random random(1);
  for (size_t round = 0; round < 20'000; ++round) {
    Numbers numbers(1 + random.Below(round % 100 == 0 ? 2000 : 60));
    const uint64_t values = 1 + random.Below(2 * numbers.size());
    for (uint64_t& number : numbers) number = random.Below(values);
    const size_t first = random.Below(numbers.size());
    ExpectSorted(numbers, first, first + random.Below(numbers.size() - first));
  }
}

TEST(PartialSort, OrdersSortedAndEqualElements) {
  Numbers rising(1000);
  for (size_t i = 0; i < rising.size(); ++i) rising[i] = i;
  ExpectSorted(rising, 0, 9);
  ExpectSorted(rising, 0, 999);
  ExpectSorted(Numbers(rising.rbegin(), rising.rend()), 500, 510);
  ExpectSorted(Numbers(1000, 7), 0, 999);
}

// McIlroy's "A Killer Adversary for Quicksort" (1999): values are chosen during the comparisons so that the pivot is
// always as bad as possible.
TEST(PartialSort, AnAdversarialInputTakesNoLonger) {
  constexpr uint64_t kNumbers = 20'000;
  constexpr uint64_t kGas = kNumbers;
  Numbers values(kNumbers, kGas);
  uint64_t solid = 0;
  uint64_t candidate = 0;
  uint64_t compared = 0;
  const auto compare = [&](uint64_t a, uint64_t b) {
    ++compared;
    if (values[a] == kGas && values[b] == kGas) values[a == candidate ? a : b] = solid++;
    if (values[a] == kGas) candidate = a;
    if (values[b] == kGas) candidate = b;
    return Compare(values[a], values[b]);
  };
  Numbers order(kNumbers);
  for (uint64_t i = 0; i < kNumbers; ++i) order[i] = i;
  PartialSort(std::span(order), 0, kNumbers - 1, compare);  // all but one position: a full sort uses another algorithm
  EXPECT_LT(compared, kNumbers * 200);
}

}  // namespace
}  // namespace cairn
