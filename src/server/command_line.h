// SPDX-License-Identifier: BSD-3-Clause
//
// The command line, in redis-server's style:
//
//   cairn-server [<config file> | -] [--<directive> <word> ...] ...
//   cairn-server --help | --version | --list-directives | --check-config [...]
//
// A directive's words go up to the next argument that starts with two dashes. Directives are given
// to the table of directives; the few switches that are no directives are gflags'
// (docs/decisions/command-line.md).
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
  std::string config_file;         // absolute; empty when there is none or it was the standard input
  std::optional<int> exit_status;  // set: nothing is to be served, end with it
};

// Reads everything there is to read before serving. What is asked for (--help and its kind) goes to
// the standard output, what is wrong to the standard error.
StartUp ReadStartUp(int argc, char** argv);

}  // namespace cairn
