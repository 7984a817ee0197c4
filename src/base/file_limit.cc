// SPDX-License-Identifier: BSD-3-Clause
#include "base/file_limit.h"

#include <sys/resource.h>

namespace cairn {
namespace {

constexpr uint64_t kUnknownLimit = 1024;  // the usual default

}  // namespace

uint64_t RaiseFileLimit(uint64_t wanted) {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kUnknownLimit;
  if (limit.rlim_max < wanted) {
    const rlimit raised{wanted, wanted};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) return wanted;
  }
  const rlimit soft_as_hard{limit.rlim_max, limit.rlim_max};
  return setrlimit(RLIMIT_NOFILE, &soft_as_hard) == 0 ? limit.rlim_max : limit.rlim_cur;
}

}  // namespace cairn
