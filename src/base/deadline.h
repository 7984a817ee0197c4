// SPDX-License-Identifier: BSD-3-Clause
//
// The monotonic time at which a wait ends. Clients choose the length of some waits, so it may be any int64.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace cairn {

// The end of a wait that begins now; the latest time there is if the wait is longer. REQUIRES: wait_ms >= 0
// Thread: any.
inline int64_t DeadlineUs(int64_t wait_ms) {
  const int64_t now_us = MonotonicUs();
  return wait_ms > (INT64_MAX - now_us) / 1000 ? INT64_MAX : now_us + wait_ms * 1000;
}

}  // namespace cairn
