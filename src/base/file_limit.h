// SPDX-License-Identifier: BSD-3-Clause
//
// The limit on open files (RLIMIT_NOFILE): each client and each table of the store counts.
#pragma once

#include <cstdint>

namespace cairn {

// Raises the limit to the hard limit, or to `wanted` if that is more and the process may raise the hard limit too.
// Returns the resulting limit, which is the old one if it cannot be raised. Thread: any.
uint64_t RaiseFileLimit(uint64_t wanted);

}  // namespace cairn
