// SPDX-License-Identifier: BSD-3-Clause
//
// Longest common subsequence of two texts, for LCS.
//
// This is the standard table of lengths, one row per byte of `a`, of which only two rows are kept. The walk back from
// the end needs no lengths: for each cell it only needs to know whether the cell above was the longer neighbour. So one
// bit per cell is stored, a 32nd of a table of lengths.
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

// A run of bytes common to both texts: a[a_first..a_last] == b[b_first..b_last], ends included.
struct CommonRun {
  uint32_t a_first;
  uint32_t a_last;
  uint32_t b_first;
  uint32_t b_last;

  uint32_t size() const { return a_last - a_first + 1; }
};

struct CommonSubsequence {
  std::string text;
  std::vector<CommonRun> runs;  // from the end of the texts to their start
};

// REQUIRES: both sizes are below 2^32.
uint32_t CommonLength(std::string_view a, std::string_view b);
CommonSubsequence FindCommonSubsequence(std::string_view a, std::string_view b);

}  // namespace cairn
