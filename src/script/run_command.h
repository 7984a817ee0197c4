// SPDX-License-Identifier: BSD-3-Clause
//
// Shared parts of EVAL and FCALL: numkeys, keys and arguments, and the setup of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "command/args.h"
#include "script/script_run.h"

namespace cairn {

class Scripting;

struct ScriptArguments {
  std::span<const std::string_view> keys;
  std::span<const std::string_view> args;
};

// Parses name numkeys [key ...] [arg ...]; the error for an invalid numkeys is `not_a_number`.
Result<ScriptArguments> ReadScriptArguments(const Args& args, std::string_view not_a_number);

// Returns kWouldWait on the fast lane for a request so large that compiling it would delay other clients.
Status CheckSize(CommandContext& ctx, const Args& args, std::string_view code);

// Whether the script or function of the request is declared as no-writes. False if it does not exist. `command` is
// EVAL, EVALSHA or FCALL. Any thread.
bool IsSaidToOnlyRead(const Scripting& scripting, std::string_view command, std::span<const std::string_view> argv);

// Checks the flags, and sets whether the run may write. `read_only`: called by a *_RO command.
Status PrepareRun(ScriptRun& run, uint32_t flags, bool read_only);

// Runs `body` with the session in a script's state, and restores the session afterwards.
Status RunAsScript(ScriptRun& run, const std::function<Status()>& body);

}  // namespace cairn
