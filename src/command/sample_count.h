// SPDX-License-Identifier: BSD-3-Clause
//
// The count of SRANDMEMBER, HRANDFIELD and ZRANDMEMBER: so many different elements, or, when
// negative, so many draws of which some may be the same.
//
// Thread: any.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "command/args.h"

namespace cairn {

struct SampleCount {
  uint64_t count = 0;
  bool distinct = true;

  // Whether drawing this often from `size` elements is cheaper after reading all of them once.
  bool ReadsAll(uint64_t size) const { return size / 16 <= count; }
};

// The next argument. REQUIRES: there is one.
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
