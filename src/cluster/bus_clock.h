// SPDX-License-Identifier: BSD-3-Clause
//
// The clock of the cluster bus. The times of pings and pongs are Unix times on the wire and in nodes.conf, and the bus
// also measures lengths with them. So its clock is set to the wall clock at the first call, and then goes on by the
// monotonic one: a jump of the wall clock would hide a node that has failed, or make one fail that has not.
// A node whose clock is ahead of another's only makes that one ping more often: it ignores pongs of the future.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace cairn {

// What WallMs() would be without jumps since the first call. Thread: any.
inline int64_t BusNowMs() {
  static const int64_t shift_ms = WallMs() - MonotonicMs();
  return MonotonicMs() + shift_ms;
}

}  // namespace cairn
