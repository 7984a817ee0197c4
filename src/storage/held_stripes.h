// SPDX-License-Identifier: BSD-3-Clause
//
// HeldStripes: the lock stripes that one transaction holds until its commit. Stripes taken over from its predecessor
// are not returned either: the predecessor may have ended by then.
//
// Thread: that of its transaction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/stripes.h"

namespace cairn {

class HeldStripes {
 public:
  // Locks stripes of `all` for `owner`. Both outlive this object.
  HeldStripes(Stripes& all, const Transaction* owner) : all_(all), owner_(owner) {}

  bool Has(uint32_t stripe) const { return all_.IsHeldBy(stripe, owner_); }
  bool empty() const { return locked_.empty() && taken_over_.empty(); }
  // Whether a stripe was locked and not taken over.
  bool has_locked() const { return !locked_.empty(); }
  bool has_taken_over() const { return !taken_over_.empty(); }

  // Locks those of `stripes` that are not held yet, all or none, without waiting. `first` is the owner's predecessor
  // or null. Returns false if another transaction holds one.
  bool TryLock(std::span<const uint32_t> stripes, const Transaction* first);
  // Waits for all. REQUIRES: no stripe is locked yet; that prevents deadlocks.
  void Lock(std::span<const uint32_t> stripes);
  bool TryTakeOver(uint32_t stripe, const Transaction* first);

  // A commit begins or ends: adds one to the versions of all held stripes.
  void Advance();
  void Release();
  // Calls `visit(stripe)` for each.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const uint32_t stripe : locked_) visit(stripe);
    for (const uint32_t stripe : taken_over_) visit(stripe);
  }

 private:
  Stripes& all_;
  const Transaction* const owner_;
  std::vector<uint32_t> locked_;
  std::vector<uint32_t> taken_over_;
};

}  // namespace cairn
