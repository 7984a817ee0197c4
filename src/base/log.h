// SPDX-License-Identifier: BSD-3-Clause
//
// The server's log: one line a message, with time, level and thread, to the standard output or to a file
// (spdlog). A message says what happened, where, what was done about it and what the operator can do.
//
// Thread: any.
#pragma once

#include <string>
#include <string_view>

namespace cairn {

enum class LogSeverity : unsigned char { kDebug, kVerbose, kNotice, kWarning };

// To be called before the first message; an empty `file` is the standard output. False: the file cannot be
// opened, `error` says why.
bool OpenLog(const std::string& file, std::string& error);
// Messages below `least` are dropped.
void SetLogSeverity(LogSeverity least);
void Log(LogSeverity severity, std::string_view message);

}  // namespace cairn
