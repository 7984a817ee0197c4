// SPDX-License-Identifier: BSD-3-Clause
//
// What redis.call leads to: the checks that a command in a script passes, its locks, its function on the run's
// transaction, its reply.
//
// Locks. The keys a script declares are locked before it runs. A command that writes others takes their stripes here,
// without waiting; if somebody holds one, the script starts over, in the end holding everything. A stripe stays taken
// until the tick's commit, and reads of keys that are not locked are checked when the run is over, so a script is one
// step to all others whatever it touches.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "script/script_run.h"

namespace cairn {

enum class CallResult : unsigned char {
  kReplied,  // `out` is the command's reply
  kRefused,  // `out` is the error's text, with its code
  kEnded,    // run.stop says why the run must end
};

// Runs the command `argv`, not empty, for the script.
CallResult CallCommand(ScriptRun& run, std::span<const std::string_view> argv, std::string& out);

// The command `argv` names; null when there is none or no such subcommand.
const Command* FindCalled(const CommandTable& table, std::span<const std::string_view> argv);

}  // namespace cairn
