// SPDX-License-Identifier: BSD-3-Clause
//
// Moves between lists (LMOVE, RPOPLPUSH and LMOVEM), and pops from the first non-empty list of several (LMPOP).
#include "command/list_move.h"

#include <algorithm>
#include <string>

#include "command/families.h"
#include "command/list_move_many.h"

namespace cairn {

void ReplyItem(Reply& reply, const Item& item) {
  if (item.is_integer()) {
    reply.BulkInteger(item.integer());
  } else {
    reply.Bulk(item.bytes());
  }
}

std::string_view PushEvent(ListEnd end) { return end == ListEnd::kHead ? "lpush" : "rpush"; }
std::string_view PopEvent(ListEnd end) { return end == ListEnd::kHead ? "lpop" : "rpop"; }

ListEnd ReadListEnd(Args& args) {
  if (args.Keyword("LEFT")) return ListEnd::kHead;
  if (!args.Keyword("RIGHT")) args.Fail(errors::kSyntax);
  return ListEnd::kTail;
}

Result<PopManyArgs> ReadPopManyArgs(Args& args) {
  PopManyArgs pop;
  const auto numkeys = static_cast<uint64_t>(args.IntegerIn(1, INT64_MAX, "ERR numkeys should be greater than 0"));
  if (numkeys >= args.left()) args.Fail(errors::kSyntax);
  TRY(args.Check());
  pop.keys = args.all().subspan(args.position(), numkeys);
  args.Skip(numkeys);
  pop.end = ReadListEnd(args);
  if (args.Keyword("COUNT")) {
    if (!args.More()) args.Fail(errors::kSyntax);
    pop.count = static_cast<uint64_t>(args.IntegerIn(1, INT64_MAX, "ERR count should be greater than 0"));
  }
  TRY(args.Done());
  return pop;
}

Result<bool> MoveItem(CommandContext& ctx, std::string_view source, std::string_view destination, ListEnd from,
                      ListEnd to, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key source_key = keys.Name(source);
  List source_list(keys, source_key);
  TRY(source_list.Open());
  if (!source_list.exists()) return false;
  const Key destination_key = keys.Name(destination);
  List destination_list(keys, destination_key);
  TRY(destination_list.Open());

  std::string value;
  TRY(source_list.Pop(from, 1, [&value](const Item& item) { value = item.ToString(); }));
  const bool is_rotation = source == destination;
  const std::string_view pushed = value;
  TRY((is_rotation ? source_list : destination_list).Push(to, std::span(&pushed, 1)));
  const bool is_empty = source_list.size() == 0;
  TRY(source_list.Save());
  if (!is_rotation) TRY(destination_list.Save());
  ctx.Emit(kListEvent, PushEvent(to), destination);
  ctx.Shrunk(kListEvent, PopEvent(from), source, 1, is_empty);
  reply.Bulk(value);
  return true;
}

Result<bool> PopMany(CommandContext& ctx, const PopManyArgs& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  for (const std::string_view name : args.keys) {
    const Key key = keys.Name(name);
    List list(keys, key);
    TRY(list.Open());
    if (!list.exists()) continue;
    const uint64_t n = std::min(args.count, list.size());
    reply.Array(2);
    reply.Bulk(name);
    reply.Array(n);
    TRY(list.Pop(args.end, n, [&reply](const Item& item) { ReplyItem(reply, item); }));
    const bool is_empty = list.size() == 0;
    TRY(list.Save());
    ctx.Shrunk(kListEvent, PopEvent(args.end), name, n, is_empty);
    if (ctx.is_replicated()) {
      ctx.Replicate({args.end == ListEnd::kHead ? "LPOP" : "RPOP", name, std::to_string(n)});
    }
    return true;
  }
  return false;
}

namespace {

// LMOVE source destination LEFT|RIGHT LEFT|RIGHT
Status LMove(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view source = args.Bytes();
  const std::string_view destination = args.Bytes();
  const ListEnd from = ReadListEnd(args);
  const ListEnd to = ReadListEnd(args);
  TRY(args.Done());
  if (!TRY(MoveItem(ctx, source, destination, from, to, reply))) reply.Null();
  return Ok();
}

// LMOVEM source destination LEFT|RIGHT LEFT|RIGHT [COUNT|EXACTLY count OBO|BULK]
Status LMoveM(CommandContext& ctx, Args& args, Reply& reply) {
  MoveManyArgs move = ReadMoveManyKeys(args);
  TRY(ReadMoveManyCount(args, move));
  if (!TRY(MoveMany(ctx, move, reply))) reply.NullArray();
  return Ok();
}

// RPOPLPUSH source destination
Status RPopLPush(CommandContext& ctx, Args& args, Reply& reply) {
  if (!TRY(MoveItem(ctx, args[1], args[2], ListEnd::kTail, ListEnd::kHead, reply))) reply.Null();
  return Ok();
}

// LMPOP numkeys key [key ...] LEFT|RIGHT [COUNT count]
Status LMPop(CommandContext& ctx, Args& args, Reply& reply) {
  const PopManyArgs pop = TRY(ReadPopManyArgs(args));
  if (!TRY(PopMany(ctx, pop, reply))) reply.NullArray();
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "lmove", .arity = 5, .flags = kWrite | kDenyOom,
     .keys = {OneKey(kRW | kAccess | kDelete, 1), OneKey(kRW | kInsert, 2)}, .run = LMove, .group = Group::kList,
     .since = "6.2.0", .summary = "Moves an element from an end of one list to an end of another.",
     .complexity = "O(1)", .syntax = "source destination <LEFT | RIGHT> <LEFT | RIGHT>"},
    {.name = "lmovem", .arity = -5, .flags = kWrite | kDenyOom,
     .keys = {OneKey(kRW | kAccess | kDelete, 1), OneKey(kRW | kInsert, 2)}, .run = LMoveM, .group = Group::kList,
     .since = "8.10.0", .summary = "Moves elements from an end of one list to an end of another.",
     .complexity = "O(N) with N the number of elements moved",
     .syntax = "source destination <LEFT | RIGHT> <LEFT | RIGHT> [<COUNT count | EXACTLY exactly> <OBO | BULK>]"},
    {.name = "rpoplpush", .arity = 3, .flags = kWrite | kDenyOom,
     .keys = {OneKey(kRW | kAccess | kDelete, 1), OneKey(kRW | kInsert, 2)}, .run = RPopLPush, .group = Group::kList,
     .since = "1.2.0", .summary = "Moves the last element of one list to the head of another.", .complexity = "O(1)",
     .syntax = "source destination"},
    {.name = "lmpop", .arity = -4, .flags = kWrite, .keys = {CountedKeys(kRW | kAccess | kDelete, 1)}, .run = LMPop,
     .group = Group::kList, .since = "7.0.0", .summary = "Pops elements from the first non-empty list of several.",
     .complexity = "O(N+M) with N the number of keys and M the number of elements taken",
     .syntax = "numkeys key [key ...] <LEFT | RIGHT> [COUNT count]"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ListMoveCommands() { return kRows; }

}  // namespace cairn
