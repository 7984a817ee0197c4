// SPDX-License-Identifier: BSD-3-Clause
//
// Sets by member and as a whole: SADD, SISMEMBER, SMEMBERS and similar commands. Random members are in set_random.cc,
// commands on several sets in set_store.cc.
#include "types/set.h"

#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/named.h"
#include "command/scan_options.h"

namespace cairn {
namespace {

// SADD key member [member ...]
Status SAdd(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Set> set(ctx, args.Bytes());
  TRY(set.Open());
  int64_t added = 0;
  while (args.More()) added += TRY(set.Add(args.Bytes()));
  TRY(set.Save());
  if (added > 0) ctx.Changed(kSetEvent, "sadd", set.key.bytes(), static_cast<uint64_t>(added));
  reply.Integer(added);
  return Ok();
}

// SREM key member [member ...]
Status SRem(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Set> set(ctx, args.Bytes());
  TRY(set.Open());
  int64_t removed = 0;
  while (args.More() && set.size() > 0) removed += TRY(set.Remove(args.Bytes()));
  const bool is_empty = set.size() == 0;
  TRY(set.Save());
  if (removed > 0) ctx.Shrunk(kSetEvent, "srem", set.key.bytes(), static_cast<uint64_t>(removed), is_empty);
  reply.Integer(removed);
  return Ok();
}

// SMOVE source destination member
Status SMove(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key source_key = keys.Name(args.Bytes());
  const Key target_key = keys.Name(args.Bytes());
  const std::string_view member = args.Bytes();
  KeyEntry entry = TRY(keys.Find(source_key));
  if (!entry.exists()) {  // whatever type the destination has
    reply.Integer(0);
    return Ok();
  }
  if (entry.type() != Type::kSet) return Status::Reply(errors::kWrongType);
  Set source(keys, source_key);
  TRY(source.Open(std::move(entry)));
  Set target(keys, target_key);
  TRY(target.Open());
  if (source_key.bytes() == target_key.bytes()) {
    reply.Integer(TRY(source.Contains(member)) ? 1 : 0);
    return Ok();
  }
  const bool moved = TRY(source.Remove(member));
  if (moved) {
    const bool added = TRY(target.Add(member));
    const bool is_empty = source.size() == 0;
    TRY(source.Save());
    ctx.Shrunk(kSetEvent, "srem", source_key.bytes(), 1, is_empty);
    TRY(target.Save());
    if (added) ctx.Changed(kSetEvent, "sadd", target_key.bytes());
  }
  reply.Integer(moved ? 1 : 0);
  return Ok();
}

// SISMEMBER key member
Status SIsMember(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Set> set(ctx, args.Bytes());
  TRY(set.Open());
  reply.Integer(set.exists() && TRY(set.Contains(args.Bytes())) ? 1 : 0);
  return Ok();
}

// SMISMEMBER key member [member ...]
Status SMIsMember(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Set> set(ctx, args.Bytes());
  TRY(set.Open());
  reply.Array(args.left());
  while (args.More()) reply.Integer(TRY(set.Contains(args.Bytes())) ? 1 : 0);
  return Ok();
}

// SCARD key
Status SCard(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Set> set(ctx, args.Bytes());
  TRY(set.Open());
  reply.Integer(static_cast<int64_t>(set.size()));
  return Ok();
}

// SMEMBERS key
Status SMembers(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Set> set(ctx, args.Bytes());
  TRY(set.Open());
  reply.Set(set.size());
  return set.ForEach([&reply](std::string_view member) -> Result<bool> {
    reply.Bulk(member);
    return true;
  });
}

// SSCAN key cursor [MATCH pattern] [COUNT count]
Status SScan(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const uint64_t cursor = TRY(ParseScanCursor(args));
  Set set(keys, key);
  TRY(set.Open());
  if (!set.exists()) {
    ReplyScanCursor(reply, 0);
    reply.Array(0);
    return Ok();
  }
  const ScanOptions options = TRY(ParseScanOptions(args, ScanOf::kMembers));
  std::string members;
  Reply found(members, reply);
  size_t shown = 0;
  const auto visit = [&](std::string_view member) -> Result<bool> {
    if (!TRY(options.Matches(ctx.txn().command(), member))) return true;
    found.Bulk(member);
    ++shown;
    return true;
  };
  ReplyScanCursor(reply, TRY(set.Scan(cursor, options.count, visit)));
  reply.Array(shown);
  reply.Append(found);
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "sadd", .arity = -3, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kInsert)}, .run = SAdd,
     .group = Group::kSet, .since = "1.0.0", .summary = "Adds members to a set; creates the set if needed.",
     .complexity = "O(N) with N the number of members given", .syntax = "key member [member ...]"},
    {.name = "srem", .arity = -3, .flags = kWrite | kFast, .keys = {OneKey(kRW | kDelete)}, .run = SRem,
     .group = Group::kSet, .since = "1.0.0", .summary = "Removes members from a set, and the key with its last member.",
     .complexity = "O(N) with N the number of members given", .syntax = "key member [member ...]"},
    {.name = "smove", .arity = 4, .flags = kWrite | kFast,
     .keys = {OneKey(kRW | kAccess | kDelete), OneKey(kRW | kInsert, 2)}, .run = SMove, .group = Group::kSet,
     .since = "1.0.0", .summary = "Moves a member from one set to another.", .complexity = "O(1)",
     .syntax = "source destination member"},
    {.name = "sismember", .arity = 3, .flags = kReadonly | kFast, .keys = {OneKey(kRO)}, .run = SIsMember,
     .group = Group::kSet, .since = "1.0.0", .summary = "Returns whether a set has a member.", .complexity = "O(1)",
     .syntax = "key member"},
    {.name = "smismember", .arity = -3, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)}, .run = SMIsMember,
     .group = Group::kSet, .since = "6.2.0", .summary = "Returns for each of several members whether a set has it.",
     .complexity = "O(N) with N the number of members asked for", .syntax = "key member [member ...]"},
    {.name = "scard", .arity = 2, .flags = kReadonly | kFast, .keys = {OneKey(kRO)}, .run = SCard, .group = Group::kSet,
     .since = "1.0.0", .summary = "Returns the number of members of a set.", .complexity = "O(1)", .syntax = "key"},
    {.name = "smembers", .arity = 2, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = SMembers,
     .group = Group::kSet, .since = "1.0.0", .summary = "Returns all members of a set.",
     .complexity = "O(N) with N the number of members", .syntax = "key", .tips = "nondeterministic_output_order"},
    {.name = "sscan", .arity = -3, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = SScan,
     .group = Group::kSet, .since = "2.8.0", .summary = "Returns some members of a set and the next cursor.",
     .complexity = "O(N) with N the count asked for", .syntax = "key cursor [MATCH pattern] [COUNT count]",
     .tips = "nondeterministic_output"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> SetCommands() { return kRows; }

}  // namespace cairn
