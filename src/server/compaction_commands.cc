// SPDX-License-Identifier: BSD-3-Clause
//
// COMPACT: compacts all data, a database, or the keys that match a pattern; its progress; and its end.
#include "base/number.h"
#include "command/args.h"
#include "command/context.h"
#include "command/database_index.h"
#include "server/families.h"
#include "storage/store.h"

namespace cairn {
namespace {

// COMPACT STATUS
void WriteStatus(Compactor& compactor, Reply& reply) {
  const CompactionProgress progress = compactor.Progress();
  const auto text = [&reply](std::string_view name, std::string_view value) {
    reply.Bulk(name);
    reply.Bulk(value);
  };
  const auto number = [&reply](std::string_view name, int64_t value) {
    reply.Bulk(name);
    reply.Integer(value);
  };
  constexpr size_t kFields = 13;
  reply.Map(kFields);
  text("state", progress.is_running ? "running" : "idle");
  text("reason", progress.started_ms == 0 ? "" : NameOf(progress.reason));
  text("scope", progress.scope);
  text("result", progress.result);
  number("started-unix-time", progress.started_ms / 1000);
  number("ended-unix-time", progress.ended_ms / 1000);
  number("percent", progress.percent());
  number("bytes-read", static_cast<int64_t>(progress.bytes_read));
  number("bytes-written", static_cast<int64_t>(progress.bytes_written));
  number("file-bytes-before", static_cast<int64_t>(progress.bytes_before));
  number("file-bytes", static_cast<int64_t>(progress.bytes_after));
  number("writes-since-compaction", static_cast<int64_t>(compactor.writes()));
  number("last-compaction-unix-time", compactor.last_ms() / 1000);
}

// An integer is a database, everything else a pattern for keys of the selected database.
Result<CompactionScope> ParseScope(CommandContext& ctx, Args& args) {
  Store& store = ctx.txn().store();
  if (ParseInt64(args.Peek())) return ScopeOfDatabase(store, TRY(ParseDatabase(ctx, args)));
  return ScopeOfPattern(store, ctx.keys().db(), args.Bytes());
}

// COMPACT [STATUS | CANCEL | [db | pattern] [SYNC | ASYNC]]: SYNC, the default, replies when the compaction is done.
Status Compact(CommandContext& ctx, Args& args, Reply& reply) {
  Compactor& compactor = ctx.txn().store().compactor();
  if (args.left() == 1 && args.Keyword("status")) {
    WriteStatus(compactor, reply);
    return Ok();
  }
  if (args.left() == 1 && args.Keyword("cancel")) {
    if (!compactor.Cancel()) return Status::Reply("ERR No compaction in progress");
    reply.Ok();
    return Ok();
  }
  // CANCEL must not queue behind the threads that compact, so only these wait.
  if (ctx.txn().command().lane() == Lane::kFast) return Status::WouldWait();
  const std::string_view last = args.all().back();
  const bool is_async = args.More() && EqualsIgnoreCase(last, "async");
  const bool has_mode = is_async || (args.More() && EqualsIgnoreCase(last, "sync"));
  const size_t scope_words = args.left() - (has_mode ? 1 : 0);
  if (scope_words > 1) return Status::Reply(errors::kSyntax);
  CompactionScope scope = scope_words == 0 ? ScopeOfAll() : TRY(ParseScope(ctx, args));
  if (is_async) {
    TRY(compactor.StartCompacting(std::move(scope)));
    reply.Simple("Background compaction started");
    return Ok();
  }
  TRY(compactor.Compact(scope));
  reply.Ok();
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "compact", .arity = -1, .flags = kAdmin | kNoScript | kNoMulti, .run = Compact,
     .group = Group::kServer, .since = "7.2.0",
     .summary = "Compacts data, so that deleted, expired and overwritten data takes no space.",
     .complexity = "O(N) with N the bytes of the data",
     .syntax = "[STATUS | CANCEL | [db | pattern] [SYNC | ASYNC]]"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> CompactionCommands() { return kRows; }

}  // namespace cairn
