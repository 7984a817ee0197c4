// SPDX-License-Identifier: BSD-3-Clause
//
// Ends a process that cannot continue: a line in the log and exit status 1, so that its supervisor restarts it.
// Nothing is flushed or closed: the data directory is left as after a crash.
//
// Thread: any.
#pragma once

#include <string_view>

namespace cairn {

// Logs "FATAL: " and `why`, a message about the cause and the state of the data.
[[noreturn]] void EndProcess(std::string_view why);

}  // namespace cairn
