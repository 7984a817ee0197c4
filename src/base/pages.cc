// SPDX-License-Identifier: BSD-3-Clause
#include "base/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace cairn {

void DiscardPages(std::string_view bytes) {
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t first = (start + page - 1) / page * page;
  const uintptr_t end = (start + bytes.size()) / page * page;
  if (first < end) (void)madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

}  // namespace cairn
