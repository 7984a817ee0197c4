// SPDX-License-Identifier: BSD-3-Clause
//
// The commands about the server itself: TIME, SHUTDOWN, SAVE and related ones.
//
// SAVE and BGSAVE write an RDB file (replication/rdb_saves.h). BGREWRITEAOF has the effect that Redis's users expect:
// when it returns, everything written before is on the disk, and the next start has little log to replay. It does this
// before it replies, so its own client waits, and no other.
#include "base/clock.h"
#include "client/client_pause.h"
#include "command/busy_scripts.h"
#include "command/help.h"
#include "command/parts.h"
#include "replication/rdb_saves.h"
#include "replication/saving.h"
#include "server/families.h"
#include "stats/server_state.h"
#include "storage/store.h"

namespace cairn {
namespace {

// TIME
Status Time(CommandContext& ctx, Args&, Reply& reply) {
  const int64_t script_us = ctx.session().script.time_us;
  const int64_t now_us = script_us != 0 ? script_us : WallUs();
  reply.Array(2);
  reply.BulkInteger(now_us / 1000000);
  reply.BulkInteger(now_us % 1000000);
  return Ok();
}

// SHUTDOWN [NOSAVE | SAVE] [NOW] [FORCE] [ABORT]: on success the connection closes without a reply.
Status Shutdown(const ServerParts& parts, CommandContext& ctx, Args& args, Reply&) {
  ShutdownOptions options;
  bool abort = false;
  const size_t words = args.left();
  while (args.More()) {
    if (args.Keyword("save")) {
      options.save = true;
    } else if (args.Keyword("nosave")) {
      options.no_save = true;
    } else if (args.Keyword("now")) {
      options.now = true;
    } else if (args.Keyword("force")) {
      options.force = true;
    } else if (args.Keyword("abort")) {
      abort = true;
    } else {
      return Status::Reply(errors::kSyntax);
    }
  }
  if ((abort && words > 1) || (options.save && options.no_save)) return Status::Reply(errors::kSyntax);
  // A shutdown never waits for anything, so there is none to abort.
  if (abort) return Status::Reply("ERR No shutdown in progress.");
  const BusyScripts& busy = parts.busy_scripts;
  if (!options.no_save && busy.any()) return Status::Reply(busy.refusal());
  const ShutdownSaves saves{ctx.txn().store(), parts.pause, parts.rdb_saves, parts.memory_databases};
  if (ctx.txn().command().lane() == Lane::kFast && SavesBeforeShutdown(saves, options)) return Status::WouldWait();
  TRY(SaveBeforeShutdown(saves, options));
  parts.shutdown.Ask(options);
  return Ok();
}

// LASTSAVE
Status LastSave(const ServerParts& parts, CommandContext&, Args&, Reply& reply) {
  reply.Integer(parts.saves.last_unix_s);
  return Ok();
}

// SAVE
Status Save(const ServerParts& parts, CommandContext&, Args&, Reply& reply) {
  TRY(parts.rdb_saves.Save());
  reply.Ok();
  return Ok();
}

// BGSAVE [SCHEDULE]: within a transaction, the file must include the commands before it, which are not committed yet.
Status BgSave(const ServerParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  if (args.left() > 1 || (args.More() && !args.Keyword("schedule"))) return Status::Reply(errors::kSyntax);
  const bool in_transaction = ctx.session().multi.active;
  RdbSaves& saves = parts.rdb_saves;
  TRY(in_transaction ? saves.Schedule() : saves.StartInBackground());
  reply.Simple(in_transaction ? "Background saving scheduled" : "Background saving started");
  return Ok();
}

// BGREWRITEAOF
Status BgRewriteAof(const ServerParts& parts, CommandContext& ctx, Args&, Reply& reply) {
  TRY(SaveEverything(ctx.txn().store(), parts.saves));
  reply.Simple("Background append only file rewriting started");
  return Ok();
}

constexpr auto kGroup = Group::kServer;

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "time", .arity = 1, .flags = kLoading | kStale | kFast, .run = Time, .group = kGroup, .since = "2.6.0",
     .summary = "Returns the server's time.", .complexity = "O(1)", .tips = "nondeterministic_output"},
    {.name = "shutdown", .arity = -1, .flags = kAdmin | kNoScript | kLoading | kStale | kNoMulti | kAllowBusy,
     .run = With<Shutdown>, .group = kGroup, .since = "1.0.0", .summary = "Shuts the server down after a flush.",
     .complexity = "O(N) with N the bytes to write", .syntax = "[NOSAVE | SAVE] [NOW] [FORCE] [ABORT]"},
    {.name = "lastsave", .arity = 1, .flags = kLoading | kStale | kFast, .run = With<LastSave>, .group = kGroup,
     .since = "1.0.0", .summary = "Returns the time of the last save.", .complexity = "O(1)", .acl = "admin dangerous",
     .tips = "nondeterministic_output"},
    {.name = "save", .arity = 1, .flags = kAdmin | kNoScript | kNoAsyncLoading | kNoMulti | kSlowLane,
     .run = With<Save>, .group = kGroup, .since = "1.0.0", .summary = "Saves the data set to an RDB file.",
     .complexity = "O(N) with N the bytes to write"},
    {.name = "bgsave", .arity = -1, .flags = kAdmin | kNoScript | kNoAsyncLoading | kSlowLane, .run = With<BgSave>,
     .group = kGroup, .since = "1.0.0", .summary = "Saves the data set to an RDB file in the background.",
     .complexity = "O(N) with N the bytes to write", .syntax = "[SCHEDULE]"},
    {.name = "bgrewriteaof", .arity = 1, .flags = kAdmin | kNoScript | kNoAsyncLoading | kSlowLane,
     .run = With<BgRewriteAof>, .group = kGroup, .since = "1.0.0",
     .summary = "Flushes the memtables, so that the log can be shortened.",
     .complexity = "O(N) with N the bytes to write"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ServerCommands() { return kRows; }

}  // namespace cairn
