// SPDX-License-Identifier: BSD-3-Clause
//
// Blocking list commands: BLPOP and similar ones. Each does what its plain form does. If no element is available, it
// returns MustBlock, and runs again from the start when one of its keys has changed.
#include "command/args.h"
#include "command/block_timeout.h"
#include "command/context.h"
#include "command/families.h"
#include "command/fixed.h"
#include "command/list_move.h"
#include "command/list_move_many.h"

namespace cairn {
namespace {

// BLPOP and BRPOP.
// key [key ...] timeout
Status BlockingPop(CommandContext& ctx, Args& args, Reply& reply, ListEnd end) {
  TRY(SetBlockTimeout(ctx, args[args.size() - 1]));
  Keyspace keys = ctx.keys();
  for (size_t i = 1; i + 1 < args.size(); ++i) {
    const Key key = keys.Name(args[i]);
    List list(keys, key);
    TRY(list.Open());
    if (!list.exists()) continue;
    reply.Array(2);
    reply.Bulk(args[i]);
    TRY(list.Pop(end, 1, [&reply](const Item& item) { ReplyItem(reply, item); }));
    const bool is_empty = list.size() == 0;
    TRY(list.Save());
    ctx.Shrunk(kListEvent, PopEvent(end), args[i], 1, is_empty);
    ctx.Replicate({end == ListEnd::kHead ? "LPOP" : "RPOP", args[i]});
    return Ok();
  }
  return Status::MustBlock();
}

// BLMOVE source destination LEFT|RIGHT LEFT|RIGHT timeout
Status BLMove(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view source = args.Bytes();
  const std::string_view destination = args.Bytes();
  const ListEnd from = ReadListEnd(args);
  const ListEnd to = ReadListEnd(args);
  const std::string_view timeout = args.Bytes();
  TRY(args.Done());
  TRY(SetBlockTimeout(ctx, timeout));
  if (!TRY(MoveItem(ctx, source, destination, from, to, reply))) return Status::MustBlock();
  ctx.Replicate({"LMOVE", source, destination, args[3], args[4]});
  return Ok();
}

// BLMOVEM source destination LEFT|RIGHT LEFT|RIGHT timeout [COUNT|EXACTLY count OBO|BULK]
Status BLMoveM(CommandContext& ctx, Args& args, Reply& reply) {
  MoveManyArgs move = ReadMoveManyKeys(args);
  const std::string_view timeout = args.Bytes();
  TRY(ReadMoveManyCount(args, move));
  TRY(SetBlockTimeout(ctx, timeout));
  return TRY(MoveMany(ctx, move, reply)) ? Ok() : Status::MustBlock();
}

// BRPOPLPUSH source destination timeout
Status BRPopLPush(CommandContext& ctx, Args& args, Reply& reply) {
  TRY(SetBlockTimeout(ctx, args[3]));
  const bool moved = TRY(MoveItem(ctx, args[1], args[2], ListEnd::kTail, ListEnd::kHead, reply));
  if (!moved) return Status::MustBlock();
  ctx.Replicate({"RPOPLPUSH", args[1], args[2]});
  return Ok();
}

// BLMPOP timeout numkeys key [key ...] LEFT|RIGHT [COUNT count]
Status BLMPop(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view timeout = args.Bytes();
  const PopManyArgs pop = TRY(ReadPopManyArgs(args));
  TRY(SetBlockTimeout(ctx, timeout));
  return TRY(PopMany(ctx, pop, reply)) ? Ok() : Status::MustBlock();
}

constexpr uint32_t kBlockingWrite = kWrite | kBlocking;

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "blpop", .arity = -3, .flags = kBlockingWrite,
     .keys = {{.flags = kRW | kAccess | kDelete, .begin = 1, .last = -2}}, .run = Fixed<BlockingPop, ListEnd::kHead>,
     .group = Group::kList, .since = "2.0.0",
     .summary = "Pops the first element of the first non-empty list of several; blocks until there is one.",
     .complexity = "O(N) with N the number of keys", .syntax = "key [key ...] timeout", .awaits = Type::kList},
    {.name = "brpop", .arity = -3, .flags = kBlockingWrite,
     .keys = {{.flags = kRW | kAccess | kDelete, .begin = 1, .last = -2}}, .run = Fixed<BlockingPop, ListEnd::kTail>,
     .group = Group::kList, .since = "2.0.0",
     .summary = "Pops the last element of the first non-empty list of several; blocks until there is one.",
     .complexity = "O(N) with N the number of keys", .syntax = "key [key ...] timeout", .awaits = Type::kList},
    {.name = "blmove", .arity = 6, .flags = kBlockingWrite | kDenyOom,
     .keys = {OneKey(kRW | kAccess | kDelete, 1), OneKey(kRW | kInsert, 2)}, .run = BLMove, .group = Group::kList,
     .since = "6.2.0", .summary = "Moves an element from one list to another; blocks until there is one.",
     .complexity = "O(1)", .syntax = "source destination <LEFT | RIGHT> <LEFT | RIGHT> timeout", .awaits = Type::kList},
    {.name = "blmovem", .arity = -6, .flags = kBlockingWrite | kDenyOom,
     .keys = {OneKey(kRW | kAccess | kDelete, 1), OneKey(kRW | kInsert, 2)}, .run = BLMoveM, .group = Group::kList,
     .since = "8.10.0", .summary = "Moves elements from one list to another; blocks until there are enough.",
     .complexity = "O(N) with N the number of elements moved",
     .syntax = "source destination <LEFT | RIGHT> <LEFT | RIGHT> timeout "
               "[<COUNT count | EXACTLY exactly> <OBO | BULK>]",
     .awaits = Type::kList},
    {.name = "brpoplpush", .arity = 4, .flags = kBlockingWrite | kDenyOom,
     .keys = {OneKey(kRW | kAccess | kDelete, 1), OneKey(kRW | kInsert, 2)}, .run = BRPopLPush, .group = Group::kList,
     .since = "2.2.0",
     .summary = "Moves the last element of one list to the head of another; blocks until there is one.",
     .complexity = "O(1)", .syntax = "source destination timeout", .awaits = Type::kList},
    {.name = "blmpop", .arity = -5, .flags = kWrite | kBlocking, .keys = {CountedKeys(kRW | kAccess | kDelete, 2)},
     .run = BLMPop, .group = Group::kList, .since = "7.0.0",
     .summary = "Pops elements from the first non-empty list of several; blocks until there is one.",
     .complexity = "O(N+M) with N the number of keys and M the number of elements taken",
     .syntax = "timeout numkeys key [key ...] <LEFT | RIGHT> [COUNT count]", .awaits = Type::kList},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ListBlockCommands() { return kRows; }

}  // namespace cairn
