// SPDX-License-Identifier: BSD-3-Clause
//
// ASSERT: checks an assumption about the program itself, in every build. Never used for bytes from disk or from a
// client: those get an error (base/result.h).
#pragma once

namespace cairn {

// Prints the condition and its place in the source, then aborts.
[[noreturn]] void AssertFailed(const char* file, int line, const char* condition, const char* message);

}  // namespace cairn

#define ASSERT(condition, message) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::cairn::AssertFailed(__FILE__, __LINE__, #condition, message))
