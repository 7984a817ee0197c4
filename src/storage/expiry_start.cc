// SPDX-License-Identifier: BSD-3-Clause
#include "storage/expiry_start.h"

namespace cairn {

void ExpiryStart::Note(int64_t when_ms) {
  int64_t noted = noted_ms_.load(std::memory_order_relaxed);
  while (when_ms < noted && !noted_ms_.compare_exchange_weak(noted, when_ms)) {
  }
}

RowKey ExpiryStart::Take() {
  const MutexLock lock(mutex_);
  if (const int64_t noted_ms = noted_ms_.exchange(INT64_MAX); noted_ms <= left_ms_) {
    left_ms_ = noted_ms;
    left_key_row_.clear();
  }
  return MakeExpiryRow(left_ms_, left_key_row_, 0);
}

void ExpiryStart::Leave(int64_t when_ms, std::string_view key_row) {
  const MutexLock lock(mutex_);
  left_ms_ = when_ms;
  left_key_row_ = key_row;
}

RowKey ExpiryStart::First() const {
  const MutexLock lock(mutex_);
  const int64_t noted_ms = noted_ms_;
  return noted_ms <= left_ms_ ? MakeExpiryRow(noted_ms, {}, 0) : MakeExpiryRow(left_ms_, left_key_row_, 0);
}

}  // namespace cairn
