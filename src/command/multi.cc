// SPDX-License-Identifier: BSD-3-Clause
//
// MULTI, EXEC, DISCARD, WATCH and UNWATCH. The dispatcher queues commands. EXEC runs the queue on one transaction,
// whose stripes the dispatcher has locked, so no other client sees a part of it, and it commits as one batch.
#include "base/clock.h"
#include "command/access.h"
#include "command/context.h"
#include "command/families.h"
#include "command/waiters.h"

namespace cairn {
namespace {

// A watched key that has expired since WATCH counts as changed, although no commit changed it.
bool AnyExpired(CommandContext& ctx) {
  for (const WatchedKey& key : ctx.session().watch.keys) {
    if (key.expire_ms >= 0 && key.expire_ms <= ctx.now_ms()) return true;
  }
  return false;
}

// MULTI
Status Multi(CommandContext& ctx, Args&, Reply& reply) {
  if (ctx.session().multi.active) return Status::Reply("ERR MULTI calls can not be nested");
  ctx.session().multi.active = true;
  ctx.session().ShowQueued();
  reply.Ok();
  return Ok();
}

// Runs one queued command. An error becomes its reply and undoes its writes only.
Status RunQueued(CommandContext& ctx, QueuedCommand& queued, Reply& reply) {
  const std::vector<std::string_view> argv(queued.argv.begin(), queued.argv.end());
  const int64_t started_us = MonotonicUs();
  queued.error.clear();  // EXEC may run again
  queued.denial = CheckAccess(ctx.session(), *queued.command, argv);
  if (queued.denial) {
    queued.error = LateDenialText(queued.denial);
    reply.Error(queued.error);
    return Ok();
  }
  const Transaction::Savepoint savepoint = ctx.txn().MakeSavepoint();
  const size_t mark = reply.size();
  CommandContext own = ctx.For(*queued.command);
  Status status = RunCommand(own, argv, reply);
  queued.usec = MonotonicUs() - started_us;
  if (status.ok()) return Ok();
  if (status.Is(Code::kWouldWait) || status.Is(Code::kCorruption) || status.Is(Code::kIo)) return status;
  // A command that would block keeps its writes: XREADGROUP may have created its consumer.
  if (!status.Is(Code::kMustBlock)) ctx.txn().RollbackTo(savepoint);
  reply.Rewind(mark);
  if (status.Is(Code::kReply)) {
    queued.error = status.text();
    reply.Error(queued.error);
  } else if (queued.command->row().group == Group::kList && queued.command->row().arity > 0) {
    reply.Null();
  } else {
    reply.NullArray();
  }
  return Ok();
}

// EXEC
Status Exec(CommandContext& ctx, Args&, Reply& reply) {
  MultiState& multi = ctx.session().multi;
  multi.ran = false;
  if (!multi.active) return Status::Reply("ERR EXEC without MULTI");
  if (multi.aborted) return Status::Reply("EXECABORT Transaction discarded because of previous errors.");
  if (ctx.session().watch.broken || AnyExpired(ctx)) {
    reply.NullArray();
    return Ok();
  }
  multi.ran = true;
  reply.Array(multi.queue.size());
  for (QueuedCommand& queued : multi.queue) {
    const size_t mark = reply.size();
    TRY(RunQueued(ctx, queued, reply));
    queued.reply_bytes = reply.size() - mark;
  }
  return Ok();
}

// DISCARD
Status Discard(CommandContext& ctx, Args&, Reply& reply) {
  if (!ctx.session().multi.active) return Status::Reply("ERR DISCARD without MULTI");
  ctx.session().multi = MultiState();
  ctx.session().ShowQueued();
  ctx.waiters().Unwatch(ctx.session());
  reply.Ok();
  return Ok();
}

// WATCH key [key ...]
Status Watch(CommandContext& ctx, Args& args, Reply& reply) {
  Session& session = ctx.session();
  if (session.multi.active) return Status::Reply("ERR WATCH inside MULTI is not allowed");
  std::vector<WatchedKey> watched;
  std::vector<bool> existed;
  std::vector<uint32_t> stripes;
  for (size_t i = 1; i < args.size(); ++i) stripes.push_back(StripeOf(args[i]));
  TRY(ctx.txn().Lock(stripes));  // so that no commit falls between the read and the registration
  TRY(ctx.txn().AwaitListener(stripes));
  Keyspace keys = ctx.keys();
  while (args.More()) {
    const Key key = keys.Name(args.Bytes());
    const KeyEntry entry = TRY(keys.Find(key));
    watched.push_back({session.db, std::string(key.bytes()), key.stripe(), entry.expire_ms()});
    existed.push_back(entry.exists());
  }
  for (size_t i = 0; i < watched.size(); ++i) {
    const auto [key, is_new] = session.watch.keys.insert(std::move(watched[i]));
    if (!is_new) continue;
    ctx.waiters().Watch(session, key->db, MakeKeyRow(ctx.txn().databases().keyspace(key->db), key->key), existed[i]);
  }
  reply.Ok();
  return Ok();
}

// UNWATCH
Status Unwatch(CommandContext& ctx, Args&, Reply& reply) {
  ctx.waiters().Unwatch(ctx.session());
  reply.Ok();
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "multi", .arity = 1, .flags = kNoScript | kLoading | kStale | kFast | kAllowBusy | kNotQueued,
     .run = Multi, .group = Group::kTransactions, .since = "1.2.0",
     .summary = "Starts a transaction; later commands are queued.", .complexity = "O(1)"},
    {.name = "exec", .arity = 1, .flags = kNoScript | kLoading | kStale | kSkipSlowlog | kNotQueued | kRunsQueue,
     .run = Exec, .group = Group::kTransactions, .since = "1.2.0", .summary = "Runs the queued commands atomically.",
     .complexity = "The sum over the queued commands"},
    {.name = "discard", .arity = 1, .flags = kNoScript | kLoading | kStale | kFast | kAllowBusy | kNotQueued,
     .run = Discard, .group = Group::kTransactions, .since = "2.0.0", .summary = "Discards the queued commands.",
     .complexity = "O(n) with n the commands queued"},
    {.name = "watch", .arity = -2, .flags = kNoScript | kLoading | kStale | kFast | kAllowBusy | kNotQueued,
     .keys = {KeysToEnd(kRO)}, .run = Watch, .group = Group::kTransactions, .since = "2.2.0",
     .summary = "Makes the next EXEC fail if one of the keys changes before it.", .complexity = "O(1) for each key",
     .syntax = "key [key ...]"},
    {.name = "unwatch", .arity = 1, .flags = kNoScript | kLoading | kStale | kFast | kAllowBusy, .run = Unwatch,
     .group = Group::kTransactions, .since = "2.2.0", .summary = "Stops watching all keys.", .complexity = "O(1)"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> TransactionCommands() { return kRows; }

}  // namespace cairn
