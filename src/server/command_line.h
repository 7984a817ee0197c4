// SPDX-License-Identifier: BSD-3-Clause
//
// The command line, in redis-server's style:
//
//   cairn-server [<config file> | -] [--<directive> <word> ...] ...
//   cairn-server --help | --version | --list-directives | --check-config [...]
//
// A directive's words go up to the next argument that starts with two dashes. Directives go to the table of directives;
// gflags handles the few switches that are no directives (docs/decisions/command-line.md).
//
// Thread: main, before the server runs.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "config/config.h"

namespace cairn {

struct StartUp {
  std::unique_ptr<Config> config;
  std::string config_file;         // absolute path; empty: no file, or the standard input
  bool checks_config = false;      // do not serve, only check the configuration
  std::optional<int> exit_status;  // set: do not serve, exit with this status
};

// Reads the configuration file and the command line. Prints the answer to --help and other switches to the standard
// output, and errors to the standard error.
StartUp ReadStartUp(int argc, char** argv);

}  // namespace cairn
