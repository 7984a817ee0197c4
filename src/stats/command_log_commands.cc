// SPDX-License-Identifier: BSD-3-Clause
//
// SLOWLOG and COMMANDLOG, and their subcommands (stats/command_log.h).
#include "command/help.h"
#include "command/parts.h"
#include "stats/command_log.h"
#include "stats/families.h"

namespace cairn {
namespace {

constexpr int64_t kDefaultCount = 10;
constexpr std::string_view kBadCount = "ERR count should be greater than or equal to -1";

void ReplyEntry(Reply& reply, const CommandLogEntry& entry) {
  reply.Array(6);
  reply.Integer(entry.id);
  reply.Integer(entry.unix_s);
  reply.Integer(entry.value);
  reply.Array(entry.argv.size());
  for (const std::string& argument : entry.argv) reply.Bulk(argument);
  reply.Bulk(entry.peer);
  reply.Bulk(entry.client_name);
}

void ReplyNewest(Reply& reply, const CommandLog& log, int64_t count) {
  const std::vector<CommandLogEntry> entries = log.Newest(count);
  reply.Array(entries.size());
  for (const CommandLogEntry& entry : entries) ReplyEntry(reply, entry);
}

void ReplyReset(Reply& reply, CommandLog& log) {
  log.Reset();
  reply.Ok();
}

// SLOWLOG GET [count]
Status SlowLogGet(CommandLogs& logs, CommandContext&, Args& args, Reply& reply) {
  args.Skip(1);
  if (args.left() > 1) return Status::Error(Code::kReply, errors::BadSubcommand(args[1], "SLOWLOG"));
  const int64_t count = args.More() ? args.IntegerIn(-1, INT64_MAX, kBadCount) : kDefaultCount;
  TRY(args.Done());
  ReplyNewest(reply, logs.slow, count);
  return Ok();
}

// SLOWLOG LEN
Status SlowLogLen(CommandLogs& logs, CommandContext&, Args&, Reply& reply) {
  reply.Integer(static_cast<int64_t>(logs.slow.size()));
  return Ok();
}

// SLOWLOG RESET
Status SlowLogReset(CommandLogs& logs, CommandContext&, Args&, Reply& reply) {
  ReplyReset(reply, logs.slow);
  return Ok();
}

Result<CommandLog*> TakeType(CommandLogs& logs, Args& args) {
  TRY(args.Check());
  if (args.Keyword("slow")) return &logs.slow;
  if (args.Keyword("large-request")) return &logs.large_requests;
  if (args.Keyword("large-reply")) return &logs.large_replies;
  return Status::Reply("ERR type should be one of the following: slow, large-request, large-reply");
}

// COMMANDLOG GET count <SLOW | LARGE-REQUEST | LARGE-REPLY>
Status CommandLogGet(CommandLogs& logs, CommandContext&, Args& args, Reply& reply) {
  args.Skip(1);
  const int64_t count = args.IntegerIn(-1, INT64_MAX, kBadCount);
  const CommandLog* const log = TRY(TakeType(logs, args));
  ReplyNewest(reply, *log, count);
  return Ok();
}

// COMMANDLOG LEN <SLOW | LARGE-REQUEST | LARGE-REPLY>
Status CommandLogLen(CommandLogs& logs, CommandContext&, Args& args, Reply& reply) {
  args.Skip(1);
  const CommandLog* const log = TRY(TakeType(logs, args));
  reply.Integer(static_cast<int64_t>(log->size()));
  return Ok();
}

// COMMANDLOG RESET <SLOW | LARGE-REQUEST | LARGE-REPLY>
Status CommandLogReset(CommandLogs& logs, CommandContext&, Args& args, Reply& reply) {
  args.Skip(1);
  CommandLog* const log = TRY(TakeType(logs, args));
  ReplyReset(reply, *log);
  return Ok();
}

constexpr std::string_view kSlowLogHelp[] = {
    "GET [<count>]",
    "    Show the newest entries (default: 10; -1: all). Each has its id, the time,",
    "    the microseconds taken, the arguments, the client's address and its name.",
    "LEN",
    "    Count the entries.",
    "RESET",
    "    Delete all entries.",
};

constexpr std::string_view kCommandLogHelp[] = {
    "GET <count> <type>",
    "    Show the newest entries (-1: all). Each has its id, the time, the microseconds",
    "    taken or the bytes of the request or reply, the arguments, the client's address",
    "    and its name. Types: slow, large-request, large-reply.",
    "LEN <type>",
    "    Count the entries.",
    "RESET <type>",
    "    Delete all entries.",
};

constexpr uint32_t kFlags = kAdmin | kLoading | kStale;
constexpr auto kGroup = Group::kServer;

// clang-format off
constexpr CommandRow kSlowLogRows[] = {
    {.name = "get", .arity = -2, .flags = kFlags, .run = With<SlowLogGet>, .group = kGroup, .since = "2.2.12",
     .summary = "Returns the slow log's entries.", .complexity = "O(N) with N the number of entries returned",
     .syntax = "[count]", .tips = "request_policy:all_nodes nondeterministic_output"},
    {.name = "len", .arity = 2, .flags = kFlags, .run = With<SlowLogLen>, .group = kGroup, .since = "2.2.12",
     .summary = "Returns the number of entries in the slow log.", .complexity = "O(1)",
     .tips = "request_policy:all_nodes response_policy:agg_sum nondeterministic_output"},
    {.name = "reset", .arity = 2, .flags = kFlags, .run = With<SlowLogReset>, .group = kGroup, .since = "2.2.12",
     .summary = "Empties the slow log.", .complexity = "O(N) with N the number of entries",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
    {.name = "help", .arity = 2, .flags = kLoading | kStale, .run = Help<kSlowLogHelp>, .group = kGroup,
     .since = "6.2.0", .summary = "Describes the subcommands.", .complexity = "O(1)"},
};

constexpr CommandRow kCommandLogRows[] = {
    {.name = "get", .arity = 4, .flags = kFlags, .run = With<CommandLogGet>, .group = kGroup, .since = "8.1.0",
     .summary = "Returns the entries of a command log.", .complexity = "O(N) with N the number of entries returned",
     .syntax = "count <SLOW | LARGE-REQUEST | LARGE-REPLY>",
     .tips = "request_policy:all_nodes nondeterministic_output"},
    {.name = "len", .arity = 3, .flags = kFlags, .run = With<CommandLogLen>, .group = kGroup, .since = "8.1.0",
     .summary = "Returns the number of entries in a command log.", .complexity = "O(1)",
     .syntax = "<SLOW | LARGE-REQUEST | LARGE-REPLY>",
     .tips = "request_policy:all_nodes response_policy:agg_sum nondeterministic_output"},
    {.name = "reset", .arity = 3, .flags = kFlags, .run = With<CommandLogReset>, .group = kGroup, .since = "8.1.0",
     .summary = "Empties a command log.", .complexity = "O(N) with N the number of entries",
     .syntax = "<SLOW | LARGE-REQUEST | LARGE-REPLY>",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
    {.name = "help", .arity = 2, .flags = kLoading | kStale, .run = Help<kCommandLogHelp>, .group = kGroup,
     .since = "8.1.0", .summary = "Describes the subcommands.", .complexity = "O(1)"},
};

constexpr CommandRow kRows[] = {
    {.name = "commandlog", .arity = -2, .flags = kSubcommands, .group = kGroup, .since = "8.1.0",
     .summary = "Commands about the logs of slow commands, large requests and large replies.",
     .complexity = "Depends on the subcommand.", .subcommands = kCommandLogRows},
    {.name = "slowlog", .arity = -2, .flags = kSubcommands, .group = kGroup, .since = "2.2.12",
     .summary = "Commands about the slow log.", .complexity = "Depends on the subcommand.",
     .subcommands = kSlowLogRows},
};
// clang-format on

}  // namespace

std::span<const CommandRow> CommandLogCommands() { return kRows; }

}  // namespace cairn
