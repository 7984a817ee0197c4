// SPDX-License-Identifier: BSD-3-Clause
//
// ASSERT: a claim about the program itself, checked in every build. Bytes from disk or from a client are
// never asserted about; they get an error (base/result.h).
#pragma once

namespace cairn {

// Prints the claim and where it was made, then aborts.
[[noreturn]] void AssertFailed(const char* file, int line, const char* condition, const char* message);

}  // namespace cairn

#define ASSERT(condition, message) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::cairn::AssertFailed(__FILE__, __LINE__, #condition, message))
