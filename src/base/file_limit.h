// SPDX-License-Identifier: BSD-3-Clause
//
// How many files the process may have open (RLIMIT_NOFILE): a client is one, and so is each table of the store.
#pragma once

#include <cstdint>

namespace cairn {

// Raises the limit to the hard limit, or to `wanted` where that is more and the process may raise the hard limit too.
// Returns the limit that holds then; it stays where it was when it cannot be raised. Thread: any.
uint64_t RaiseFileLimit(uint64_t wanted);

}  // namespace cairn
