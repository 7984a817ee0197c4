// SPDX-License-Identifier: BSD-3-Clause
//
// redis.call: the checks of a command in a script, its locks, its run on the transaction, and its reply.
//
// Locks. The keys that a script declares are locked before it runs. A command that writes other keys takes their
// stripes here without waiting; if one is taken, the script starts over, finally with all stripes locked. A stripe is
// held until the tick's commit, and reads of keys that are not locked are validated at the end of the run. So a script
// is atomic whatever keys it uses.
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

// Runs the command `argv`, which is not empty, for the script.
CallResult CallCommand(ScriptRun& run, std::span<const std::string_view> argv, std::string& out);

// Returns the command that `argv` names; null if there is no such command or subcommand.
const Command* FindCalled(const CommandTable& table, std::span<const std::string_view> argv);

}  // namespace cairn
