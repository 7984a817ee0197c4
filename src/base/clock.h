// SPDX-License-Identifier: BSD-3-Clause
//
// The two clocks. Wall time decides expiry and is what clients see; monotonic time measures durations.
#pragma once

#include <time.h>

#include <cstdint>

namespace cairn {

// Microseconds since the Unix epoch. Thread: any.
inline int64_t WallUs() {
  timespec ts;
  clock_gettime(CLOCK_REALTIME, &ts);
  return int64_t{ts.tv_sec} * 1000000 + ts.tv_nsec / 1000;
}

// Milliseconds since the Unix epoch. Thread: any.
inline int64_t WallMs() { return WallUs() / 1000; }

// Microseconds since some fixed point; never goes back. Thread: any.
inline int64_t MonotonicUs() {
  timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return int64_t{ts.tv_sec} * 1000000 + ts.tv_nsec / 1000;
}

// Milliseconds since that point. Thread: any.
inline int64_t MonotonicMs() { return MonotonicUs() / 1000; }

}  // namespace cairn
