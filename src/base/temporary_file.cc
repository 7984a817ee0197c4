// SPDX-License-Identifier: BSD-3-Clause
#include "base/temporary_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <random>

namespace cairn {

int CreateBeside(const std::string& path, mode_t mode, std::string& name) {
  std::random_device random;  // the kernel's random numbers
  for (;;) {
    char digits[17];
    const uint64_t drawn = uint64_t{random()} << 32 | random();
    std::snprintf(digits, sizeof digits, "%016" PRIx64, drawn);
    name = path + "." + digits + ".tmp";
    const int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
}

}  // namespace cairn
