// SPDX-License-Identifier: BSD-3-Clause
//
// The rows within bounds, found by a look at all entries and by the sorted ones.
#include "storage/overlay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"

namespace cairn {
namespace {

RowKey Row(uint64_t number) { return MakeMetaRow(std::to_string(1'000'000 + number)); }

std::vector<std::string> Visited(const Overlay& overlay, const RowKey& lower, const RowKey& upper) {
  std::vector<std::string> rows;
  overlay.VisitRange(lower.tagged(), upper.tagged(), [&](const Overlay::Entry& entry) {
    rows.push_back(std::string(entry.row()) + "=" + std::string(entry.value));
  });
  std::sort(rows.begin(), rows.end());
  return rows;
}

TEST(Overlay, VisitsTheRowsWithinBounds) {
  Random random(3);
  Overlay overlay;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::string> model;
    for (int i = 0; i < 1000; ++i) {
      const uint64_t number = 2 * random.Below(500);
      const RowKey row = Row(number);
      const std::string value = std::to_string(i);
      overlay.Write(row, Overlay::HashOf(row.tagged()), Overlay::State::kPut, value);
      const std::string start = std::string(row.row()) + "=";
      std::erase_if(model, [&](const std::string& text) { return text.starts_with(start); });
      model.push_back(start + value);
      if (i % 50 != 0) continue;
      const uint64_t first = random.Below(1000);
      const RowKey lower = Row(first);
      const RowKey upper = Row(first + random.Below(300));
      std::vector<std::string> wanted;
      for (const std::string& text : model) {
        const std::string name = text.substr(0, text.find('='));
        if (name >= lower.row() && name < upper.row()) wanted.push_back(text);
      }
      std::sort(wanted.begin(), wanted.end());
      ASSERT_EQ(Visited(overlay, lower, upper), wanted) << i;
    }
    overlay.Clear();
  }
}

}  // namespace
}  // namespace cairn
