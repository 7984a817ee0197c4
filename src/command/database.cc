// SPDX-License-Identifier: BSD-3-Clause
//
// Whole databases: their size, a random key, swapping two, emptying one or all.
//
// Rows name their database by a keyspace number. FLUSHDB gives a database a new number, and SWAPDB exchanges the
// numbers of two. Both touch no row and take the same time for any number of keys.
#include "base/number.h"
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "storage/store.h"

namespace cairn {
namespace {

// RANDOMKEY
Status RandomKey(CommandContext& ctx, Args&, Reply& reply) {
  const std::optional<std::string> key = TRY(ctx.keys().RandomKey(ctx.random()));
  if (key) {
    reply.Bulk(*key);
  } else {
    reply.Null();
  }
  return Ok();
}

// DBSIZE
Status DbSize(CommandContext& ctx, Args&, Reply& reply) {
  if (ctx.txn().databases().lacks_counts()) return ctx.txn().command().MeetLock();
  reply.Integer(ctx.keys().Count());
  return Ok();
}

// ASYNC and SYNC are both accepted and mean the same: a flush leaves no work for later.
Status ParseFlushMode(Args& args) {
  if (!args.Keyword("async")) (void)args.Keyword("sync");
  return args.Done();
}

Status Empty(CommandContext& ctx, int db) {
  ctx.CountChanges(static_cast<uint64_t>(ctx.keys(db).Count()));
  return ctx.txn().databases().Replace(db);
}

// FLUSHDB [ASYNC | SYNC]
Status FlushDb(CommandContext& ctx, Args& args, Reply& reply) {
  TRY(ParseFlushMode(args));
  TRY(Empty(ctx, ctx.keys().db()));
  ctx.NotifyFlushed();
  ctx.Replicate(args.all());  // even if the database was empty
  reply.Ok();
  return Ok();
}

// FLUSHALL [ASYNC | SYNC]
Status FlushAll(CommandContext& ctx, Args& args, Reply& reply) {
  TRY(ParseFlushMode(args));
  for (int db = 0; db < ctx.txn().store().databases().size(); ++db) TRY(Empty(ctx, db));
  ctx.NotifyFlushed();
  ctx.Replicate(args.all());
  reply.Ok();
  return Ok();
}

// SWAPDB index1 index2
Status SwapDb(CommandContext& ctx, Args& args, Reply& reply) {
  const int64_t db1 = args.IntegerIn(INT32_MIN, INT32_MAX, "ERR invalid first DB index");
  const int64_t db2 = args.IntegerIn(INT32_MIN, INT32_MAX, "ERR invalid second DB index");
  TRY(args.Done());
  const int databases = ctx.txn().store().databases().size();
  if (db1 < 0 || db1 >= databases || db2 < 0 || db2 >= databases) {
    return Status::Reply(errors::kDbIndexRange);
  }
  if (db1 != db2) ctx.txn().databases().Swap(static_cast<int>(db1), static_cast<int>(db2));
  ctx.CountChanges(1);
  reply.Ok();
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "randomkey",
     .arity = 1,
     .flags = kReadonly | kSlowLane,  // the iterator may have to sort a memtable
     .run = RandomKey,
     .since = "1.0.0",
     .summary = "Returns a random key of the selected database.",
     .complexity = "O(1)",
     .tips = "request_policy:all_shards response_policy:special nondeterministic_output"},
    {.name = "dbsize", .arity = 1, .flags = kReadonly | kFast, .run = DbSize, .group = Group::kServer, .since = "1.0.0",
     .summary = "Returns the number of keys in the selected database.", .complexity = "O(1)", .acl = "keyspace",
     .tips = "request_policy:all_shards response_policy:agg_sum"},
    {.name = "flushdb", .arity = -1, .flags = kWrite | kLockAll, .run = FlushDb, .group = Group::kServer,
     .since = "1.0.0", .summary = "Deletes every key of the selected database.", .complexity = "O(1)",
     .syntax = "[ASYNC | SYNC]", .acl = "keyspace dangerous",
     .tips = "request_policy:all_shards response_policy:all_succeeded"},
    {.name = "flushall", .arity = -1, .flags = kWrite | kLockAll, .run = FlushAll, .group = Group::kServer,
     .since = "1.0.0", .summary = "Deletes every key of every database.",
     .complexity = "O(N) with N the number of databases", .syntax = "[ASYNC | SYNC]", .acl = "keyspace dangerous",
     .tips = "request_policy:all_shards response_policy:all_succeeded"},
    {.name = "swapdb", .arity = 3, .flags = kWrite | kFast | kLockAll, .run = SwapDb, .group = Group::kServer,
     .since = "4.0.0", .summary = "Swaps two databases.", .complexity = "O(1)", .syntax = "index1 index2",
     .acl = "keyspace dangerous"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> DatabaseCommands() { return kRows; }

}  // namespace cairn
