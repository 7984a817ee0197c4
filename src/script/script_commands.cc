// SPDX-License-Identifier: BSD-3-Clause
//
// SCRIPT: the cache of scripts, and stopping a script that takes too long. The cache is not data: changes are visible
// at once, also within MULTI, and are lost when the server ends.
#include "acl/catalogue.h"
#include "command/help.h"
#include "command/parts.h"
#include "script/families.h"
#include "script/flags.h"
#include "script/run_command.h"
#include "script/scripting.h"

namespace cairn {
namespace {

constexpr std::string_view kFull =
    "OOM the scripts of SCRIPT LOAD have reached their memory limit; SCRIPT FLUSH frees it";

constexpr std::string_view kNoSuchScript = "NOSCRIPT No matching script.";

// SCRIPT LOAD script
Status Load(Scripting& scripting, CommandContext& ctx, Args& args, Reply& reply) {
  TRY(CheckSize(ctx, args, args[2]));
  const std::string_view body = args[2];
  std::string sha = Sha1Hex(body);
  Scripting::Lease vm = scripting.Borrow();  // given back after a refusal, so that the state releases the script
  std::shared_ptr<const Script> script = scripting.cache().Find(sha);
  if (script == nullptr) {
    const ScriptHead head = TRY(ReadScriptHead(body));
    script = std::make_shared<const Script>(std::move(sha), body, head.size, head.flags);
    TRY(vm->Compile(script));
  }
  if (!scripting.cache().AddLoaded(script)) return Status::Reply(kFull);
  reply.Bulk(script->sha);
  return Ok();
}

// SCRIPT EXISTS sha1 [sha1 ...]
Status Exists(Scripting& scripting, CommandContext&, Args& args, Reply& reply) {
  reply.Array(args.size() - 2);
  for (size_t i = 2; i < args.size(); ++i) {
    reply.Integer(scripting.cache().Find(LowerCase(args[i])) != nullptr);
  }
  return Ok();
}

// SCRIPT SHOW sha1
Status Show(Scripting& scripting, CommandContext&, Args& args, Reply& reply) {
  const auto script = scripting.cache().Find(LowerCase(args[2]));
  if (script == nullptr) return Status::Reply(kNoSuchScript);
  reply.Bulk(script->body);
  return Ok();
}

// SCRIPT FLUSH [ASYNC | SYNC]
Status Flush(Scripting& scripting, CommandContext&, Args& args, Reply& reply) {
  const bool is_mode = args.size() == 3 && (EqualsIgnoreCase(args[2], "sync") || EqualsIgnoreCase(args[2], "async"));
  if (args.size() != 2 && !is_mode) return Status::Reply("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
  scripting.cache().Flush();
  reply.Ok();
  return Ok();
}

// SCRIPT KILL
Status Kill(Scripting& scripting, CommandContext&, Args&, Reply& reply) {
  TRY(scripting.Kill(false));
  reply.Ok();
  return Ok();
}

// SCRIPT DEBUG <YES | SYNC | NO>
Status Debug(CommandContext&, Args& args, Reply& reply) {
  if (EqualsIgnoreCase(args[2], "yes") || EqualsIgnoreCase(args[2], "sync")) {
    return Status::Reply("ERR the Lua debugger is not available on this server");
  }
  if (!EqualsIgnoreCase(args[2], "no")) return Status::Reply("ERR Use SCRIPT DEBUG YES/SYNC/NO");
  reply.Ok();
  return Ok();
}

constexpr std::string_view kHelp[] = {
    "DEBUG (YES|SYNC|NO)",
    "    Select whether scripts run in the debugger; only NO is supported.",
    "EXISTS <sha1> [<sha1> ...]",
    "    Return whether the scripts are in the cache.",
    "FLUSH [ASYNC|SYNC]",
    "    Remove all scripts from the cache. Both modes are the same here.",
    "KILL",
    "    Kill the script that has been running for too long, unless it has written.",
    "LOAD <script>",
    "    Add a script to the cache without running it.",
    "SHOW <sha1>",
    "    Return the text of a script in the cache.",
};

constexpr auto kGroup = Group::kScripting;
constexpr std::string_view kAllNodes = "request_policy:all_nodes response_policy:all_succeeded";

// clang-format off
constexpr CommandRow kSubRows[] = {
    {.name = "load", .arity = 3, .flags = kNoScript | kStale, .run = With<Load>, .group = kGroup, .since = "2.6.0",
     .summary = "Adds a script to the cache.", .complexity = "O(N) with N the size of the script", .syntax = "script",
     .tips = kAllNodes},
    {.name = "exists", .arity = -3, .flags = kNoScript, .run = With<Exists>, .group = kGroup, .since = "2.6.0",
     .summary = "Returns which scripts are in the cache.", .complexity = "O(N) with N the number of scripts",
     .syntax = "sha1 [sha1 ...]", .tips = "request_policy:all_shards response_policy:agg_logical_and"},
    {.name = "show", .arity = 3, .flags = kNoScript | kStale, .run = With<Show>, .group = kGroup, .since = "8.0.0",
     .summary = "Returns the text of a script in the cache.", .complexity = "O(1)", .syntax = "sha1"},
    {.name = "flush", .arity = -2, .flags = kNoScript, .run = With<Flush>, .group = kGroup, .since = "2.6.0",
     .summary = "Removes all scripts from the cache.", .complexity = "O(N) with N the number of scripts",
     .syntax = "[ASYNC | SYNC]", .tips = kAllNodes},
    {.name = "kill", .arity = 2, .flags = kNoScript | kAllowBusy, .run = With<Kill>, .group = kGroup, .since = "2.6.0",
     .summary = "Kills a script that runs for too long.", .complexity = "O(1)",
     .tips = "request_policy:all_shards response_policy:one_succeeded"},
    {.name = "debug", .arity = 3, .flags = kNoScript, .run = Debug, .group = kGroup, .since = "3.2.0",
     .summary = "Selects whether scripts run in a debugger.", .complexity = "O(1)", .syntax = "<YES | SYNC | NO>"},
    {.name = "help", .arity = 2, .flags = kLoading | kStale, .run = Help<kHelp>, .group = kGroup, .since = "5.0.0",
     .summary = "Describes the subcommands.", .complexity = "O(1)"},
};

constexpr CommandRow kRows[] = {
    {.name = "script", .arity = -2, .flags = kSubcommands, .group = kGroup, .since = "2.6.0",
     .summary = "Commands about the cache of scripts.", .complexity = "Depends on the subcommand.",
     .subcommands = kSubRows},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ScriptCommands() { return kRows; }

}  // namespace cairn
