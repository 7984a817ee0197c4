// SPDX-License-Identifier: BSD-3-Clause
//
// Samples: random choices of ranks, and picking the elements at those ranks out of a walk.
//
// Thread: any; the caller owns the random generator.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/random.h"
#include "base/result.h"

namespace cairn {

// Called with an element's member and value (empty for a set). Returns whether to continue.
using ElementVisitor = absl::FunctionRef<Result<bool>(std::string_view member, std::string_view value)>;

// Returns `count` of the ranks below `total`, ascending; every choice is equally likely. REQUIRES: count <= total.
std::vector<uint64_t> SampleRanks(uint64_t total, uint64_t count, Random& random);

// A visitor for a walk over all elements. It passes on the elements at `ranks`, ascending and distinct, and ends the
// walk after the last of them.
class RankPicker {
 public:
  RankPicker(std::span<const uint64_t> ranks, ElementVisitor visit) : ranks_(ranks), visit_(visit) {}

  Result<bool> operator()(std::string_view member, std::string_view value) {
    if (next_ == ranks_.size()) return false;
    if (rank_++ != ranks_[next_]) return true;
    ++next_;
    return visit_(member, value);
  }

 private:
  std::span<const uint64_t> ranks_;
  ElementVisitor visit_;
  uint64_t rank_ = 0;
  size_t next_ = 0;
};

}  // namespace cairn
