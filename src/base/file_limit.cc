// SPDX-License-Identifier: BSD-3-Clause
#include "base/file_limit.h"

#include <sys/resource.h>

namespace cairn {

void RaiseFileLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace cairn
