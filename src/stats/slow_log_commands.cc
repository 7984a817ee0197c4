// SPDX-License-Identifier: BSD-3-Clause
//
// SLOWLOG and its subcommands (stats/slow_log.h).
#include "command/help.h"
#include "command/parts.h"
#include "stats/families.h"
#include "stats/slow_log.h"

namespace cairn {
namespace {

constexpr int64_t kDefaultCount = 10;
constexpr std::string_view kBadCount = "ERR count should be greater than or equal to -1";

void ReplyEntry(Reply& reply, const SlowLogEntry& entry) {
  reply.Array(6);
  reply.Integer(entry.id);
  reply.Integer(entry.unix_s);
  reply.Integer(entry.duration_us);
  reply.Array(entry.argv.size());
  for (const std::string& argument : entry.argv) reply.Bulk(argument);
  reply.Bulk(entry.peer);
  reply.Bulk(entry.client_name);
}

// SLOWLOG GET [count]
Status SlowLogGet(SlowLog& log, CommandContext&, Args& args, Reply& reply) {
  args.Skip(1);
  if (args.left() > 1) return Status::Error(Code::kReply, errors::BadSubcommand(args[1], "SLOWLOG"));
  const int64_t count = args.More() ? args.IntegerIn(-1, INT64_MAX, kBadCount) : kDefaultCount;
  TRY(args.Done());
  const std::vector<SlowLogEntry> entries = log.Newest(count);
  reply.Array(entries.size());
  for (const SlowLogEntry& entry : entries) ReplyEntry(reply, entry);
  return Ok();
}

// SLOWLOG LEN
Status SlowLogLen(SlowLog& log, CommandContext&, Args&, Reply& reply) {
  reply.Integer(static_cast<int64_t>(log.size()));
  return Ok();
}

// SLOWLOG RESET
Status SlowLogReset(SlowLog& log, CommandContext&, Args&, Reply& reply) {
  log.Reset();
  reply.Ok();
  return Ok();
}

constexpr std::string_view kHelp[] = {
    "GET [<count>]",
    "    Show the newest entries (default: 10; -1: all). Each has its id, the time,",
    "    the microseconds taken, the arguments, the client's address and its name.",
    "LEN",
    "    Count the entries.",
    "RESET",
    "    Delete all entries.",
};

constexpr uint32_t kFlags = kAdmin | kLoading | kStale;
constexpr auto kGroup = Group::kServer;

// clang-format off
constexpr CommandRow kSubcommandRows[] = {
    {.name = "get", .arity = -2, .flags = kFlags, .run = With<SlowLogGet>, .group = kGroup, .since = "2.2.12",
     .summary = "Returns the slow log's entries.", .complexity = "O(N) with N the number of entries returned",
     .syntax = "[count]", .tips = "request_policy:all_nodes nondeterministic_output"},
    {.name = "len", .arity = 2, .flags = kFlags, .run = With<SlowLogLen>, .group = kGroup, .since = "2.2.12",
     .summary = "Returns the number of entries in the slow log.", .complexity = "O(1)",
     .tips = "request_policy:all_nodes response_policy:agg_sum nondeterministic_output"},
    {.name = "reset", .arity = 2, .flags = kFlags, .run = With<SlowLogReset>, .group = kGroup, .since = "2.2.12",
     .summary = "Empties the slow log.", .complexity = "O(N) with N the number of entries",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
    {.name = "help", .arity = 2, .flags = kLoading | kStale, .run = Help<kHelp>, .group = kGroup, .since = "6.2.0",
     .summary = "Describes the subcommands.", .complexity = "O(1)"},
};

constexpr CommandRow kRows[] = {
    {.name = "slowlog", .arity = -2, .flags = kSubcommands, .group = kGroup, .since = "2.2.12",
     .summary = "Commands about the slow log.", .complexity = "Depends on the subcommand.",
     .subcommands = kSubcommandRows},
};
// clang-format on

}  // namespace

std::span<const CommandRow> SlowLogCommands() { return kRows; }

}  // namespace cairn
