// SPDX-License-Identifier: BSD-3-Clause
//
// The server's log (spdlog): one line per message, with time, level and thread, to the standard output or to a file. A
// message says what happened and where, how the server reacted, and what the operator can do.
//
// Thread: any.
#pragma once

#include <fmt/format.h>

#include <string>

namespace cairn {

enum class LogSeverity : unsigned char { kDebug, kVerbose, kNotice, kWarning };

// Called before the first message; with an empty `file`, the log goes to the standard output. A file that is renamed or
// deleted later is made again. False if the file cannot be opened; `error` is the reason.
bool OpenLog(const std::string& file, std::string& error);
// Messages below `least` are dropped.
void SetLogSeverity(LogSeverity least);
// Whether messages of this severity are written.
bool IsLogged(LogSeverity severity);
void LogFormatted(LogSeverity severity, fmt::string_view format, fmt::format_args args);
// Writes a message, formatted as by fmt::format.
template <typename... Args>
void Log(LogSeverity severity, fmt::format_string<Args...> format, Args&&... args) {
  LogFormatted(severity, format, fmt::make_format_args(args...));
}

}  // namespace cairn
