// SPDX-License-Identifier: BSD-3-Clause
//
// FUNCTION: the libraries of functions. They are data: a change is committed like any other, as rows of the meta space,
// and FLUSHALL does not delete them. A change holds the stripe of those rows, so changes are serialized. They run on
// the slow lane, where each command has its own commit.
#include "base/glob.h"
#include "command/help.h"
#include "command/parts.h"
#include "script/families.h"
#include "script/flags.h"
#include "script/function_payload.h"
#include "script/library_store.h"
#include "script/scripting.h"

namespace cairn {
namespace {

// Makes `next` the set of libraries when the transaction is committed.
void Change(Scripting& scripting, CommandContext& ctx, const Libraries& before, std::shared_ptr<const Libraries> next) {
  ChangeLibraries(scripting, ctx.txn(), before, std::move(next));
  ctx.CountChanges(1);
}

// FUNCTION LOAD [REPLACE] function-code
Status Load(Scripting& scripting, CommandContext& ctx, Args& args, Reply& reply) {
  bool replaces = false;
  for (size_t i = 2; i + 1 < args.size(); ++i) {
    if (!EqualsIgnoreCase(args[i], "replace")) {
      return Status::Reply("ERR Unknown option given: " + std::string(errors::Shown(args[i])));
    }
    replaces = true;
  }
  TRY(LockLibraries(ctx.txn()));
  const auto before = LibrariesOf(scripting, ctx.txn());
  const std::string_view code = args[args.size() - 1];
  const LibraryHead head = TRY(ReadLibraryHead(code));
  if (!replaces && before->Find(head.name) != nullptr) {
    return Status::Reply("ERR Library '" + head.name + "' already exists");
  }
  auto next = std::make_shared<Libraries>(*before);
  // A replica must have the libraries of its primary, however much time and memory it takes to load them.
  const bool is_bounded = !ctx.session().is_primary;
  TRY(next->Add(TRY(CompileLibrary(scripting, code, is_bounded))));
  if (is_bounded) TRY(scripting.CheckRoom(*next));
  Change(scripting, ctx, *before, next);
  reply.Bulk(head.name);
  return Ok();
}

// FUNCTION DELETE library-name
Status Delete(Scripting& scripting, CommandContext& ctx, Args& args, Reply& reply) {
  TRY(LockLibraries(ctx.txn()));
  const auto before = LibrariesOf(scripting, ctx.txn());
  if (before->Find(args[2]) == nullptr) return Status::Reply("ERR Library not found");
  auto next = std::make_shared<Libraries>(*before);
  next->Remove(args[2]);
  Change(scripting, ctx, *before, next);
  reply.Ok();
  return Ok();
}

// FUNCTION FLUSH [ASYNC | SYNC]
Status Flush(Scripting& scripting, CommandContext& ctx, Args& args, Reply& reply) {
  if (args.size() > 3) return Status::Reply(errors::BadSubcommand(args[1], "FUNCTION"));
  if (args.size() == 3 && !EqualsIgnoreCase(args[2], "sync") && !EqualsIgnoreCase(args[2], "async")) {
    return Status::Reply("ERR FUNCTION FLUSH only supports SYNC|ASYNC option");
  }
  TRY(LockLibraries(ctx.txn()));
  Change(scripting, ctx, *LibrariesOf(scripting, ctx.txn()), std::make_shared<Libraries>());
  reply.Ok();
  return Ok();
}

Result<RestorePolicy> ReadPolicy(const Args& args) {
  if (args.size() > 4) return Status::Reply(errors::BadSubcommand(args[1], "FUNCTION"));
  if (args.size() == 3 || EqualsIgnoreCase(args[3], "append")) return RestorePolicy::kAppend;
  if (EqualsIgnoreCase(args[3], "replace")) return RestorePolicy::kReplace;
  if (EqualsIgnoreCase(args[3], "flush")) return RestorePolicy::kFlush;
  return Status::Reply("ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.");
}

// FUNCTION RESTORE serialized-value [FLUSH | APPEND | REPLACE]
Status Restore(Scripting& scripting, CommandContext& ctx, Args& args, Reply& reply) {
  const RestorePolicy policy = TRY(ReadPolicy(args));
  const uint64_t most_bytes = ctx.session().is_primary ? UINT64_MAX : scripting.most_library_bytes();
  const std::vector<std::string> codes = TRY(ReadFunctionPayload(args[2], most_bytes));
  TRY(LockLibraries(ctx.txn()));
  TRY(RestoreLibraries(scripting, ctx.txn(), codes, policy, !ctx.session().is_primary));
  ctx.CountChanges(1);
  reply.Ok();
  return Ok();
}

// FUNCTION DUMP
Status Dump(Scripting& scripting, CommandContext& ctx, Args&, Reply& reply) {
  reply.Bulk(WriteFunctionPayload(*LibrariesOf(scripting, ctx.txn())));
  return Ok();
}

void ReplyLibrary(const Library& library, bool with_code, Reply& reply) {
  reply.Map(with_code ? 4 : 3);
  reply.Bulk("library_name");
  reply.Bulk(library.name);
  reply.Bulk("engine");
  reply.Bulk("LUA");
  reply.Bulk("functions");
  reply.Array(library.functions.size());
  for (const Function& function : library.functions) {
    reply.Map(3);
    reply.Bulk("name");
    reply.Bulk(function.name);
    reply.Bulk("description");
    if (function.description) {
      reply.Bulk(*function.description);
    } else {
      reply.Null();
    }
    reply.Bulk("flags");
    const std::vector<std::string_view> flags = ScriptFlagNames(function.flags);
    reply.Set(flags.size());
    for (const std::string_view flag : flags) reply.Simple(flag);
  }
  if (!with_code) return;
  reply.Bulk("library_code");
  reply.Bulk(library.code);
}

// FUNCTION LIST [LIBRARYNAME library-name-pattern] [WITHCODE]
Status List(Scripting& scripting, CommandContext& ctx, Args& args, Reply& reply) {
  args.Skip(1);
  bool with_code = false;
  std::optional<std::string_view> pattern;
  while (args.More()) {
    if (!with_code && args.Keyword("withcode")) {
      with_code = true;
    } else if (!pattern && args.Keyword("libraryname")) {
      if (!args.More()) return Status::Reply("ERR library name argument was not given");
      pattern = args.Bytes();
    } else {
      return Status::Reply("ERR Unknown argument " + std::string(args.Peek()));
    }
  }
  const auto libraries = LibrariesOf(scripting, ctx.txn());
  std::vector<const Library*> listed;
  for (const auto& [name, library] : libraries->all()) {
    if (!pattern || GlobMatches(*pattern, name, LetterCase::kIgnore)) listed.push_back(library.get());
  }
  reply.Array(listed.size());
  for (const Library* library : listed) ReplyLibrary(*library, with_code, reply);
  return Ok();
}

// FUNCTION STATS
Status Stats(Scripting& scripting, CommandContext& ctx, Args&, Reply& reply) {
  Scripting::Busy busy;
  const bool is_busy = scripting.FindBusy(busy);
  if (is_busy && !busy.is_function) return Status::Reply(BusyScripts::kByScript);
  reply.Map(2);
  reply.Bulk("running_script");
  if (is_busy) {
    reply.Map(3);
    reply.Bulk("name");
    reply.Bulk(busy.name);
    reply.Bulk("command");
    reply.Array(busy.argv.size());
    for (const std::string& word : busy.argv) reply.Bulk(word);
    reply.Bulk("duration_ms");
    reply.Integer(busy.running_ms);
  } else {
    reply.Null();
  }
  const auto libraries = LibrariesOf(scripting, ctx.txn());
  reply.Bulk("engines");
  reply.Map(1);
  reply.Bulk("LUA");
  reply.Map(2);
  reply.Bulk("libraries_count");
  reply.Integer(static_cast<int64_t>(libraries->all().size()));
  reply.Bulk("functions_count");
  reply.Integer(static_cast<int64_t>(libraries->function_count()));
  return Ok();
}

// FUNCTION KILL
Status Kill(Scripting& scripting, CommandContext&, Args&, Reply& reply) {
  TRY(scripting.Kill(true));
  reply.Ok();
  return Ok();
}

constexpr std::string_view kHelp[] = {
    "LOAD [REPLACE] <FUNCTION CODE>",
    "    Load a library from the code, whose first line has its name.",
    "DELETE <LIBRARY NAME>",
    "    Delete a library.",
    "LIST [LIBRARYNAME PATTERN] [WITHCODE]",
    "    Return the libraries and their functions.",
    "STATS",
    "    Return the function that has been running for too long, and the number of functions.",
    "KILL",
    "    Kill the function that has been running for too long, unless it has written.",
    "FLUSH [ASYNC|SYNC]",
    "    Delete all libraries. Both modes are the same here.",
    "DUMP",
    "    Return the libraries in serialized form, for FUNCTION RESTORE.",
    "RESTORE <PAYLOAD> [FLUSH|APPEND|REPLACE]",
    "    Add the libraries of a payload: after deleting all others (FLUSH), failing if a name",
    "    exists (APPEND, the default), or replacing libraries of the same name (REPLACE).",
};

constexpr auto kGroup = Group::kScripting;
constexpr std::string_view kAllShards = "request_policy:all_shards response_policy:all_succeeded";
constexpr uint64_t kChanges = kWrite | kNoScript | kSlowLane;

// clang-format off
constexpr CommandRow kSubRows[] = {
    {.name = "load", .arity = -3, .flags = kChanges | kDenyOom, .run = With<Load>, .group = kGroup, .since = "7.0.0",
     .summary = "Loads a library of functions.", .complexity = "O(1)", .syntax = "[REPLACE] function-code",
     .tips = kAllShards},
    {.name = "delete", .arity = 3, .flags = kChanges, .run = With<Delete>, .group = kGroup, .since = "7.0.0",
     .summary = "Deletes a library.", .complexity = "O(1)", .syntax = "library-name", .tips = kAllShards},
    {.name = "flush", .arity = -2, .flags = kChanges, .run = With<Flush>, .group = kGroup, .since = "7.0.0",
     .summary = "Deletes all libraries.", .complexity = "O(N) with N the number of functions",
     .syntax = "[ASYNC | SYNC]", .tips = kAllShards},
    {.name = "restore", .arity = -3, .flags = kChanges | kDenyOom, .run = With<Restore>, .group = kGroup,
     .since = "7.0.0", .summary = "Adds libraries that FUNCTION DUMP serialized.",
     .complexity = "O(N) with N the number of functions", .syntax = "serialized-value [FLUSH | APPEND | REPLACE]",
     .tips = kAllShards},
    {.name = "dump", .arity = 2, .flags = kNoScript, .run = With<Dump>, .group = kGroup, .since = "7.0.0",
     .summary = "Returns all libraries in serialized form.", .complexity = "O(N) with N the number of functions"},
    {.name = "list", .arity = -2, .flags = kNoScript, .run = With<List>, .group = kGroup, .since = "7.0.0",
     .summary = "Returns the libraries and their functions.", .complexity = "O(N) with N the number of functions",
     .syntax = "[LIBRARYNAME library-name-pattern] [WITHCODE]", .tips = "nondeterministic_output_order"},
    {.name = "stats", .arity = 2, .flags = kNoScript | kAllowBusy, .run = With<Stats>, .group = kGroup,
     .since = "7.0.0", .summary = "Returns the running function and the number of functions.", .complexity = "O(1)",
     .tips = "nondeterministic_output request_policy:all_shards response_policy:special"},
    {.name = "kill", .arity = 2, .flags = kNoScript | kAllowBusy, .run = With<Kill>, .group = kGroup, .since = "7.0.0",
     .summary = "Kills a function that runs for too long.", .complexity = "O(1)",
     .tips = "request_policy:all_shards response_policy:one_succeeded"},
    {.name = "help", .arity = 2, .flags = kLoading | kStale, .run = Help<kHelp>, .group = kGroup, .since = "7.0.0",
     .summary = "Describes the subcommands.", .complexity = "O(1)"},
};

constexpr CommandRow kRows[] = {
    {.name = "function", .arity = -2, .flags = kSubcommands, .group = kGroup, .since = "7.0.0",
     .summary = "Commands about functions.", .complexity = "Depends on the subcommand.", .subcommands = kSubRows},
};
// clang-format on

}  // namespace

std::span<const CommandRow> FunctionCommands() { return kRows; }

}  // namespace cairn
