// SPDX-License-Identifier: BSD-3-Clause
//
// HeldStripes: the lock stripes that one transaction holds until its commit. Those it took over from the transaction
// that it follows stay with it too: the other one may be done meanwhile, so they cannot be given back.
//
// Thread: its transaction's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/stripes.h"

namespace cairn {

class HeldStripes {
 public:
  // Takes stripes of `all` in the name of `owner`. Both outlive it.
  HeldStripes(Stripes& all, const Transaction* owner) : all_(all), owner_(owner) {}

  bool Has(uint32_t stripe) const { return all_.IsHeldBy(stripe, owner_); }
  bool empty() const { return locked_.empty() && taken_over_.empty(); }
  // Whether one was locked, not taken over.
  bool has_locked() const { return !locked_.empty(); }
  bool has_taken_over() const { return !taken_over_.empty(); }

  // All or none of those it does not hold yet, without waiting. `first` is the transaction that the owner follows, or
  // null. False when somebody else holds one.
  bool TryLock(std::span<const uint32_t> stripes, const Transaction* first);
  // Waits for all. REQUIRES: it has locked none yet, which is what keeps waiting from ending in a circle.
  void Lock(std::span<const uint32_t> stripes);
  bool TryTakeOver(uint32_t stripe, const Transaction* first);

  // A commit begins, or has ended: the versions of all that are held go on by one.
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
