// SPDX-License-Identifier: BSD-3-Clause
//
// The count of SRANDMEMBER and HRANDFIELD: that many distinct elements or, if negative, that many draws
// with possible repetitions.
//
// The number of draws has no natural limit, so a count in the billions is refused when the reply gets too large,
// instead of being served until memory is exhausted.
//
// Thread: any.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/result.h"
#include "command/args.h"
#include "resp/reply.h"

namespace cairn {

struct SampleCount {
  uint64_t count = 0;
  bool distinct = true;

  // Whether this many draws from `size` elements are cheaper after reading all elements once.
  bool ReadsAll(uint64_t size) const { return size / 16 <= count; }
};

inline constexpr size_t kMostDrawnBytes = size_t{1} << 30;  // of the reply

// Checks after each draw whether the reply may still grow.
inline Status CheckDraws(const Reply& reply) {
  return reply.size() < kMostDrawnBytes && !reply.is_cut() ? Ok() : Status::Reply("ERR value is out of range");
}

// Checks before draws are read whether the reply may hold them; they take at least `bytes`.
inline Status CheckDraws(Reply& reply, size_t bytes) {
  const bool fits = reply.Fits(bytes) && bytes < kMostDrawnBytes - std::min(reply.size(), kMostDrawnBytes);
  return fits ? CheckDraws(reply) : Status::Reply("ERR value is out of range");
}

// Parses the next argument. REQUIRES: there is one.
inline Result<SampleCount> ParseSampleCount(Args& args) {
  const int64_t count = args.Integer();
  TRY(args.Check());
  if (count == INT64_MIN) {
    return Status::Reply(
        "ERR value is out of range, value must between -9223372036854775807 and "
        "9223372036854775807");
  }
  return SampleCount{static_cast<uint64_t>(count < 0 ? -count : count), count >= 0};
}

}  // namespace cairn
