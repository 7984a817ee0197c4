// SPDX-License-Identifier: BSD-3-Clause
#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace cairn {

void AssertFailed(const char* file, int line, const char* condition, const char* message) {
  std::fprintf(stderr, "%s:%d: assertion failed: %s (%s)\n", file, line, message, condition);
  std::abort();
}

}  // namespace cairn
