// SPDX-License-Identifier: BSD-3-Clause
//
// ReadSet: the stripes that a command has looked at without a lock, with their versions then. As long as no version has
// changed, all that the command has read is of one state.
//
// Thread: its transaction's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "storage/stripes.h"

namespace cairn {

class ReadSet {
 public:
  explicit ReadSet(const Stripes& stripes) : stripes_(stripes) {}

  void Clear() { seen_.clear(); }
  void Add(uint32_t stripe, uint64_t version) { seen_.push_back({stripe, version}); }
  bool StillHolds() const {
    return std::all_of(seen_.begin(), seen_.end(), [this](const Seen& seen) { return IsSame(seen); });
  }
  // Whether the stripe is as it was at the command's first look at it; so is one that it has not looked at.
  bool StillHolds(uint32_t stripe) const {
    const auto first =
        std::find_if(seen_.begin(), seen_.end(), [stripe](const Seen& seen) { return seen.stripe == stripe; });
    return first == seen_.end() || IsSame(*first);
  }

 private:
  struct Seen {
    uint32_t stripe;
    uint64_t version;
  };
  bool IsSame(const Seen& seen) const { return stripes_.Version(seen.stripe) == seen.version; }

  const Stripes& stripes_;
  std::vector<Seen> seen_;
};

}  // namespace cairn
