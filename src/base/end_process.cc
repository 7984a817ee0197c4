// SPDX-License-Identifier: BSD-3-Clause
#include "base/end_process.h"

#include <unistd.h>

#include <string>

#include "base/log.h"

namespace cairn {

void EndProcess(std::string_view why) {
  Log(LogSeverity::kWarning, "FATAL: {}", why);
  _exit(1);
}

}  // namespace cairn
