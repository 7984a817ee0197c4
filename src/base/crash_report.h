// SPDX-License-Identifier: BSD-3-Clause
//
// The report of a crash: the signal, the thread and its stack, in the log, before the process ends as it would without
// a report (with a core dump, if the system makes one). Redis prints such a report too (crash-log-enabled). Names of
// functions are found in the symbol table of the program's file, with Abseil's symbolizer.
#pragma once

#include <signal.h>

#include <array>
#include <string>

namespace cairn {

// The signals of a crash.
inline constexpr std::array kCrashSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// Prepares reports for the log in `log_file`, or on the standard output if the name is empty or the file cannot be
// opened in the crash. `program` is argv[0]. Called once, before other threads are started.
void PrepareCrashReports(const char* program, const std::string& log_file);

// Whether these signals write a report; at first they do not. REQUIRES: PrepareCrashReports was called.
void SetCrashReports(bool enabled);

}  // namespace cairn
