// SPDX-License-Identifier: BSD-3-Clause
//
// The end of a process that cannot go on: a line in the log and exit status 1, so that its supervisor starts it again.
// Nothing is flushed or closed: the data directory is left as a crash leaves it.
//
// Thread: any.
#pragma once

#include <string_view>

namespace cairn {

// Logs "FATAL: " and `why`, a sentence that says what happened and what becomes of the data.
[[noreturn]] void EndProcess(std::string_view why);

}  // namespace cairn
