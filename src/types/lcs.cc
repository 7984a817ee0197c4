// SPDX-License-Identifier: BSD-3-Clause
#include "types/lcs.h"

#include <algorithm>

#include "base/assert.h"

namespace cairn {
namespace {

// Fills the table row by row. Calls visit(i, j, above_is_longer) for every cell whose bytes differ; i and j count from
// 1. Returns the length.
template <typename Visit>
uint32_t FillTable(std::string_view a, std::string_view b, Visit visit) {
  ASSERT(a.size() <= UINT32_MAX && b.size() <= UINT32_MAX, "LCS counts in 32 bits");
  std::vector<uint32_t> above(b.size() + 1);
  std::vector<uint32_t> row(b.size() + 1);
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      if (a[i - 1] == b[j - 1]) {
        row[j] = above[j - 1] + 1;
        continue;
      }
      const bool above_is_longer = above[j] > row[j - 1];
      visit(i, j, above_is_longer);
      row[j] = above_is_longer ? above[j] : row[j - 1];
    }
    std::swap(above, row);
  }
  return above[b.size()];
}

// Collects matches on a walk from the end to the start; adjacent matches form a run.
class RunCollector {
 public:
  explicit RunCollector(std::vector<CommonRun>& runs) : runs_(runs) {}

  void Match(uint32_t a, uint32_t b) {
    if (open_) {
      CommonRun& run = runs_.back();
      --run.a_first;
      --run.b_first;
    } else {
      runs_.push_back({a, a, b, b});
      open_ = true;
    }
  }
  void Break() { open_ = false; }

 private:
  std::vector<CommonRun>& runs_;
  bool open_ = false;
};

}  // namespace

uint32_t CommonLength(std::string_view a, std::string_view b) {
  return FillTable(a, b, [](size_t, size_t, bool) {});
}

CommonSubsequence FindCommonSubsequence(std::string_view a, std::string_view b) {
  std::vector<bool> above_is_longer(a.size() * b.size());
  const uint32_t length =
      FillTable(a, b, [&](size_t i, size_t j, bool above) { above_is_longer[(i - 1) * b.size() + j - 1] = above; });
  CommonSubsequence found;
  found.text.resize(length);
  RunCollector runs(found.runs);
  size_t left = length;
  size_t i = a.size();
  size_t j = b.size();
  while (i > 0 && j > 0) {
    if (a[i - 1] == b[j - 1]) {
      --i;
      --j;
      found.text[--left] = a[i];
      runs.Match(static_cast<uint32_t>(i), static_cast<uint32_t>(j));
    } else {
      const bool up = above_is_longer[(i - 1) * b.size() + j - 1];
      --(up ? i : j);
      runs.Break();
    }
  }
  return found;
}

}  // namespace cairn
