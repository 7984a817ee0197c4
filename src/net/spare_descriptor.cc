// SPDX-License-Identifier: BSD-3-Clause
#include "net/spare_descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace cairn {

void SpareDescriptor::Give() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

void SpareDescriptor::Take() {
  if (fd_ < 0) fd_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

}  // namespace cairn
