// SPDX-License-Identifier: BSD-3-Clause
#include "storage/held_stripes.h"

#include <algorithm>

namespace cairn {

bool HeldStripes::TryLock(std::span<const uint32_t> stripes, const Transaction* first) {
  const size_t held_before = locked_.size();
  for (const uint32_t stripe : stripes) {
    if (Has(stripe)) continue;
    if (all_.TryLock(stripe, owner_)) {
      locked_.push_back(stripe);
      continue;
    }
    if (TryTakeOver(stripe, first)) continue;
    while (locked_.size() > held_before) {
      all_.Unlock(locked_.back(), owner_);
      locked_.pop_back();
    }
    return false;
  }
  return true;
}

bool HeldStripes::TryTakeOver(uint32_t stripe, const Transaction* first) {
  if (first == nullptr || !all_.IsHeldBy(stripe, first)) return false;
  if (!all_.TryTakeOver(stripe, first, owner_)) return false;
  taken_over_.push_back(stripe);
  return true;
}

void HeldStripes::Lock(std::span<const uint32_t> stripes) {
  std::vector<uint32_t> sorted(stripes.begin(), stripes.end());
  if (!std::is_sorted(sorted.begin(), sorted.end())) std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  for (const uint32_t stripe : sorted) {
    all_.Lock(stripe, owner_);
    locked_.push_back(stripe);
  }
}

void HeldStripes::Advance() {
  ForEach([this](uint32_t stripe) { all_.Advance(stripe); });
}

void HeldStripes::Release() {
  ForEach([this](uint32_t stripe) { all_.Unlock(stripe, owner_); });
  locked_.clear();
  taken_over_.clear();
}

}  // namespace cairn
