// SPDX-License-Identifier: BSD-3-Clause
//
// The command line of the programs beside the server. gflags describes, checks and stores the flags; its own parser
// would end a program with the status 1 after a wrong flag, which some of them use for another result, and after
// --help.
//
// Thread: main, before other threads start.
#pragma once

namespace cairn {

// Parses the flags and removes them from the arguments: --flag=value, --flag value, and --flag and --noflag of a bool.
// A wrong flag ends the program with the status `wrong_usage`; --help prints `usage` and the flags and ends it with 0,
// and so does --version.
void ParseToolFlags(const char* usage, int wrong_usage, int& argc, char**& argv);

// Prints the usage to the standard error stream.
void ShowUsage(const char* program);

}  // namespace cairn
