// SPDX-License-Identifier: BSD-3-Clause
//
// ReadSet: the stripes that a command has read without a lock, with their versions at that time. While no version has
// changed, all that the command has read belongs to one state.
//
// A command may read any number of keys; what it keeps is bounded by the number of stripes.
//
// Thread: that of its transaction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "storage/stripes.h"

namespace cairn {

class ReadSet {
 public:
  explicit ReadSet(const Stripes& stripes) : stripes_(stripes) {}

  void Clear() { seen_.clear(); }
  void Add(uint32_t stripe, uint64_t version) {
    if (seen_.size() == kMostSeen) KeepFirstReads();
    seen_.push_back({stripe, version});
  }
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
  static constexpr size_t kMostSeen = 4 * kStripeCount;

  // Drops all reads of a stripe but the first. The others add nothing: versions only grow, so the first one holds only
  // while all do.
  void KeepFirstReads() {
    const auto stripe_of = [](const Seen& seen) { return seen.stripe; };
    std::ranges::stable_sort(seen_, {}, stripe_of);
    const auto repeated = std::ranges::unique(seen_, {}, stripe_of);
    seen_.erase(repeated.begin(), repeated.end());
  }
  bool IsSame(const Seen& seen) const { return stripes_.Version(seen.stripe) == seen.version; }

  const Stripes& stripes_;
  std::vector<Seen> seen_;
};

}  // namespace cairn
