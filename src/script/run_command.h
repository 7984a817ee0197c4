// SPDX-License-Identifier: BSD-3-Clause
//
// What EVAL and FCALL have in common: numkeys, keys and arguments, and the surroundings of a run.
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

// name numkeys [key ...] [arg ...]; a numkeys that is no number is answered with `not_a_number`.
Result<ScriptArguments> ReadScriptArguments(const Args& args, std::string_view not_a_number);

// kWouldWait on the fast lane for a request so large that reading and compiling it would hold up other clients.
Status CheckSize(CommandContext& ctx, const Args& args, std::string_view code);

// Whether the author of the script or function that the request is about says that it writes nothing (no-writes). Not
// so when there is none of its name. `command` is EVAL, EVALSHA or FCALL. Any thread.
bool IsSaidToOnlyRead(const Scripting& scripting, std::string_view command, std::span<const std::string_view> argv);

// Refuses what the flags do not allow and says whether the run may write. `read_only`: called by a *_RO command.
Status PrepareRun(ScriptRun& run, uint32_t flags, bool read_only);

// Runs `body` with the session as a script sees it; afterwards the session is as before.
Status RunAsScript(ScriptRun& run, const std::function<Status()>& body);

}  // namespace cairn
