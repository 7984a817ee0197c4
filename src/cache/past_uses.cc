// SPDX-License-Identifier: BSD-3-Clause
#include "cache/past_uses.h"

#include <algorithm>

namespace cairn {
namespace {

constexpr uint64_t kMix = 0x9E3779B97F4A7C15;  // 2^64 divided by the golden ratio

constexpr size_t kPeriodPart = 32;  // of the rows of the table leave in a period
// A sweep forgets rows of this age. It reaches each set once in kSweepPeriods, before a period's number is used again.
constexpr int kOldestAge = 180;
constexpr size_t kSweepPeriods = 64;

}  // namespace

PastUses::PastUses(size_t bytes) : sets_(bytes / sizeof(Set)) {}

size_t PastUses::SetOf(uint64_t hash) const { return static_cast<size_t>((hash * kMix >> 32) * sets_.size() >> 32); }

int PastUses::AgeOf(uint8_t period) const {
  return period == 0 ? kPeriods : (period_ - period + kPeriods - 1) % (kPeriods - 1);
}

uint8_t PastUses::PeriodAt(int64_t used_s) const {
  uint8_t period = period_;
  for (int age = 0; age < kOldestAge && begins_s_[period] > used_s; ++age) {
    period = period == 1 ? kPeriods - 1 : period - 1;
  }
  return period;
}

void PastUses::BeginPeriod() {
  period_ = period_ == kPeriods - 1 ? 1 : period_ + 1;
  begins_s_[period_] = newest_s_;
  noted_ = 0;
  for (size_t left = sets_.size() / kSweepPeriods + 1; left > 0; --left) {
    for (Row& row : sets_[swept_]) {
      if (AgeOf(row.period) >= kOldestAge) row = Row();
    }
    swept_ = (swept_ + 1) % sets_.size();
  }
}

void PastUses::Note(uint64_t hash, int64_t used_s) {
  newest_s_ = std::max(newest_s_, used_s);
  if (++noted_ > sets_.size() * kRowsPerSet / kPeriodPart) BeginPeriod();
  const Row noted{static_cast<uint8_t>(hash), PeriodAt(used_s)};
  Set& set = sets_[SetOf(hash)];
  Row* place = set.data();
  for (Row& row : set) {
    if (row.period != 0 && row.bits == noted.bits) {
      if (AgeOf(noted.period) < AgeOf(row.period)) row = noted;
      return;
    }
    if (AgeOf(row.period) > AgeOf(place->period)) place = &row;
  }
  if (AgeOf(noted.period) <= AgeOf(place->period)) *place = noted;
}

std::optional<int64_t> PastUses::Find(uint64_t hash) const {
  for (const Row& row : sets_[SetOf(hash)]) {
    if (row.period != 0 && row.bits == static_cast<uint8_t>(hash)) return begins_s_[row.period];
  }
  return std::nullopt;
}

}  // namespace cairn
