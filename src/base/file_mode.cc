// SPDX-License-Identifier: BSD-3-Clause
#include "base/file_mode.h"

#include <sys/stat.h>

namespace cairn {
namespace {

constexpr mode_t kHidden = 0027;

}  // namespace

void HideFilesFromOthers() {
  const mode_t before = umask(kHidden);
  umask(before | kHidden);
}

}  // namespace cairn
