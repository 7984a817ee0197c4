// SPDX-License-Identifier: BSD-3-Clause
//
// Packed rows against a sorted vector of strings.
#include "storage/packed_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"

namespace cairn {
namespace {

void ExpectSame(const PackedRows& rows, const std::vector<std::string>& model) {
  ASSERT_EQ(rows.size(), model.size());
  std::vector<std::string> have;
  rows.VisitFrom(0, [&](std::string_view row) {
    have.emplace_back(row);
    return true;
  });
  ASSERT_EQ(have, model);
}

// Rows of one to three hundred bytes, so lengths take one or two bytes.
TEST(PackedRows, FollowTheModel) {
  Random random(11);
  PackedRows rows;
  std::vector<std::string> model;
  for (int step = 0; step < 4000; ++step) {
    const std::string row(1 + random.Below(300), static_cast<char>('a' + random.Below(26)));
    const auto place = std::lower_bound(model.begin(), model.end(), row);
    const auto at = static_cast<size_t>(place - model.begin());
    ASSERT_EQ(rows.LowerBound(row), at);
    if (place != model.end() && *place == row) {
      ASSERT_EQ(rows[at], row);
      ASSERT_TRUE(rows.Remove(row));
      model.erase(place);
    } else {
      ASSERT_FALSE(rows.Remove(row));
      rows.Add(row);
      model.insert(place, row);
    }
    if (step % 50 == 0) ExpectSame(rows, model);
  }
}

TEST(PackedRows, AreSplitInTwo) {
  const std::vector<std::string> model = {"", "a", "b", "ccc", std::string(200, 'd')};
  for (size_t at = 0; at <= model.size(); ++at) {
    PackedRows lower;
    for (const std::string& row : model) lower.Append(row);
    const PackedRows upper = lower.SplitOff(at);
    ExpectSame(lower, {model.begin(), model.begin() + static_cast<ptrdiff_t>(at)});
    ExpectSame(upper, {model.begin() + static_cast<ptrdiff_t>(at), model.end()});
  }
}

TEST(PackedRows, AreVisitedFromAPlaceUntilVisitReturnsFalse) {
  PackedRows rows;
  for (const char* row : {"a", "b", "c", "d"}) rows.Append(row);
  std::string seen;
  rows.VisitFrom(1, [&](std::string_view row) {
    seen += row;
    return row != "c";
  });
  EXPECT_EQ(seen, "bc");
}

}  // namespace
}  // namespace cairn
