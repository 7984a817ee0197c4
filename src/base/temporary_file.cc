// SPDX-License-Identifier: BSD-3-Clause
#include "base/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <random>

namespace cairn {

int CreateBeside(const std::string& path, mode_t mode, std::string& name) {
  std::random_device random;  // the kernel's random numbers
  for (;;) {
    name = fmt::format("{}.{:016x}.tmp", path, uint64_t{random()} << 32 | random());
    const int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
}

}  // namespace cairn
