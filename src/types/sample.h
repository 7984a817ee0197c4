// SPDX-License-Identifier: BSD-3-Clause
//
// Samples: which ranks a random choice falls on, and picking the elements at them out of a walk.
//
// Thread: any; the random generator is the caller's.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/random.h"
#include "base/result.h"

namespace cairn {

// Called with an element's member and value (a set's value is empty); answers whether to go on.
using ElementVisitor = absl::FunctionRef<Result<bool>(std::string_view member, std::string_view value)>;

// `count` of the ranks below `total`, ascending; every choice is equally likely. REQUIRES: count <= total.
std::vector<uint64_t> SampleRanks(uint64_t total, uint64_t count, Random& random);

// A visitor of a whole walk that passes on the elements at `ranks`, ascending and distinct, and
// ends the walk after the last of them.
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
