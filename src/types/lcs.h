// SPDX-License-Identifier: BSD-3-Clause
//
// Longest common subsequence of two texts, for LCS.
//
// The classic table of lengths, a row per byte of `a`, of which only two rows are kept: walking
// back from the end needs no lengths, only for every cell whether the one above was the longer
// neighbour, so a bit a cell is remembered. That is a 32nd of what a table of lengths takes.
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

// A run of bytes that both texts have: a[a_first..a_last] == b[b_first..b_last], ends included.
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

// REQUIRES of both: sizes below 2^32.
uint32_t CommonLength(std::string_view a, std::string_view b);
CommonSubsequence FindCommonSubsequence(std::string_view a, std::string_view b);

}  // namespace cairn
