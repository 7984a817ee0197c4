// SPDX-License-Identifier: BSD-3-Clause
//
// RateLimit: a listener's qps-limit, shared by its I/O threads. It delays and does not refuse: a request without a
// token gets a waiting time. Up to a second's tokens can be saved, so short bursts pass.
//
// Thread: any; guarded by mutex_.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"
#include "base/mutex.h"

namespace cairn {

class RateLimit {
 public:
  // 0 for `per_second`: no delay.
  explicit RateLimit(int64_t per_second) : per_second_(per_second), tokens_(static_cast<double>(per_second)) {}

  bool unlimited() const { return per_second_ == 0; }

  // Takes a token and returns 0, or returns the microseconds until one is available.
  int64_t Take() {
    if (unlimited()) return 0;
    const MutexLock lock(mutex_);
    const int64_t now_us = MonotonicUs();
    const auto rate = static_cast<double>(per_second_);
    tokens_ = std::min(rate, tokens_ + rate * static_cast<double>(now_us - filled_us_) / 1e6);
    filled_us_ = now_us;
    if (tokens_ >= 1) {
      tokens_ -= 1;
      return 0;
    }
    return static_cast<int64_t>((1 - tokens_) * 1e6 / rate) + 1;
  }

  // Returns an unused token.
  void Return() {
    if (unlimited()) return;
    const MutexLock lock(mutex_);
    tokens_ += 1;
  }

 private:
  const int64_t per_second_;
  Mutex mutex_;
  double tokens_ ABSL_GUARDED_BY(mutex_);
  int64_t filled_us_ ABSL_GUARDED_BY(mutex_) = MonotonicUs();
};

}  // namespace cairn
