// SPDX-License-Identifier: BSD-3-Clause
//
// The server's log (spdlog): one line per message, with time, level and thread, to the standard output or to a file. A
// message says what happened and where, how the server reacted, and what the operator can do.
//
// Thread: any.
#pragma once

#include <string>
#include <string_view>

namespace cairn {

enum class LogSeverity : unsigned char { kDebug, kVerbose, kNotice, kWarning };

// Called before the first message; with an empty `file`, the log goes to the standard output. False if the file cannot
// be opened; `error` is the reason.
bool OpenLog(const std::string& file, std::string& error);
// Messages below `least` are dropped.
void SetLogSeverity(LogSeverity least);
void Log(LogSeverity severity, std::string_view message);

}  // namespace cairn
