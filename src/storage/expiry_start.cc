// SPDX-License-Identifier: BSD-3-Clause
#include "storage/expiry_start.h"

#include <algorithm>
#include <utility>

#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr int64_t kRetryMs = 60'000;

}  // namespace

// A bound names the mode, which chooses the engine (ModeOfRow). `key_row` may be empty: the first row of that time.
RowKey ExpiryStart::BoundAt(int64_t when_ms, std::string_view key_row) const {
  RowKey row = MakeExpiryRow(when_ms, key_row, 0);
  if (key_row.empty()) AppendU32(row, KeyspaceIn(mode_, 0));
  return row;
}

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
  return BoundAt(left_ms_, left_key_row_);
}

void ExpiryStart::Leave(int64_t when_ms, std::string_view key_row) {
  const MutexLock lock(mutex_);
  left_ms_ = when_ms;
  left_key_row_ = key_row;
}

bool ExpiryStart::Skip(int64_t when_ms, int64_t now_ms) {
  const bool is_first = skipped_ms_ == INT64_MAX;
  if (is_first) retry_at_ms_ = now_ms + kRetryMs;
  skipped_ms_ = std::min(skipped_ms_, when_ms);
  return is_first;
}

void ExpiryStart::RetrySkipped(int64_t now_ms) {
  if (skipped_ms_ == INT64_MAX || now_ms < retry_at_ms_) return;
  Note(std::exchange(skipped_ms_, INT64_MAX));
}

RowKey ExpiryStart::First() const {
  const MutexLock lock(mutex_);
  const int64_t noted_ms = noted_ms_;
  return noted_ms <= left_ms_ ? BoundAt(noted_ms, {}) : BoundAt(left_ms_, left_key_row_);
}

}  // namespace cairn
