// SPDX-License-Identifier: BSD-3-Clause
//
// ReadSet: the stripes that a command has read without a lock, with their versions at that time. While no version has
// changed, all that the command has read belongs to one state.
//
// Thread: that of its transaction.
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
  // Whether the stripe is unchanged since the command's first read of it; true if it has not read it.
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
