// SPDX-License-Identifier: BSD-3-Clause
//
// Pops from the ends of sorted sets, blocking or not.
//
// A blocking form checks its keys in order, like the plain form. If none has members, it returns kMustBlock, and runs
// again from the start when one of them has changed.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "command/args.h"
#include "command/block_timeout.h"
#include "command/context.h"
#include "command/families.h"
#include "command/fixed.h"
#include "command/named.h"
#include "command/zset_reply.h"
#include "types/zset.h"

namespace cairn {
namespace {

constexpr std::string_view kNumKeys = "ERR numkeys should be greater than 0";
constexpr std::string_view kCount = "ERR count should be greater than 0";

enum class End : bool { kLowest, kHighest };

void EmitPopped(CommandContext& ctx, std::string_view name, End end, uint64_t taken, bool is_empty) {
  ctx.Shrunk(kZsetEvent, end == End::kLowest ? "zpopmin" : "zpopmax", name, taken, is_empty);
}

// The command that is replicated for a pop that blocks or chooses among keys.
std::string_view PlainName(End end) { return end == End::kLowest ? "ZPOPMIN" : "ZPOPMAX"; }

// Pops up to `count` members from the set at `name` and returns their number. If the set exists, calls `begin` before
// it writes the members.
template <typename Begin>
Result<std::optional<uint64_t>> PopFrom(CommandContext& ctx, std::string_view name, End end, uint64_t count,
                                        ElementForm form, Reply& reply, Begin begin) {
  Named<Zset> zset(ctx, name);
  TRY(zset.Open());
  if (!zset.exists()) return std::optional<uint64_t>();
  begin();
  const uint64_t taken = std::min(count, zset.size());
  const ElementsReply elements(reply, form);
  TRY(zset.Pop(count, end == End::kHighest, elements));
  elements.Finish();
  const bool is_empty = !zset.exists();
  TRY(zset.Save());
  if (taken > 0) EmitPopped(ctx, name, end, taken, is_empty);
  return std::optional(taken);
}

// ZPOPMIN and ZPOPMAX.
Status Pop(CommandContext& ctx, Args& args, Reply& reply, End end) {
  const std::string_view name = args.Bytes();
  if (args.left() > 1) return Status::Reply(errors::kSyntax);
  const bool has_count = args.More();
  const int64_t count = has_count ? args.IntegerIn(0, INT64_MAX, errors::kNotPositive) : 1;
  TRY(args.Check());
  const ElementForm form = has_count ? FormOf(reply, true) : ElementForm::kFlat;
  const auto found = TRY(PopFrom(ctx, name, end, static_cast<uint64_t>(count), form, reply, [] {}));
  if (!found) reply.Array(0);
  return Ok();
}

struct PopManyArgs {
  std::span<const std::string_view> names;
  End end = End::kLowest;
  uint64_t count = 1;
};

// numkeys key [key ...] <MIN | MAX> [COUNT count]
Result<PopManyArgs> ReadPopManyArgs(Args& args) {
  PopManyArgs pop;
  const int64_t numkeys = args.IntegerIn(1, INT64_MAX, kNumKeys);
  TRY(args.Check());
  if (static_cast<uint64_t>(numkeys) >= args.left()) return Status::Reply(errors::kSyntax);
  pop.names = args.all().subspan(args.position(), static_cast<size_t>(numkeys));
  args.Skip(static_cast<size_t>(numkeys));
  if (args.Keyword("max")) {
    pop.end = End::kHighest;
  } else if (!args.Keyword("min")) {
    return Status::Reply(errors::kSyntax);
  }
  if (args.left() > 1 && args.Keyword("count")) {
    pop.count = static_cast<uint64_t>(args.IntegerIn(1, INT64_MAX, kCount));
  }
  TRY(args.Done());
  return pop;
}

// Replies with the name of the first key that has members, and the members popped. Returns false if no key has any.
Result<bool> PopMany(CommandContext& ctx, const PopManyArgs& pop, Reply& reply) {
  for (const std::string_view name : pop.names) {
    const auto found = TRY(PopFrom(ctx, name, pop.end, pop.count, ElementForm::kPairs, reply, [&] {
      reply.Array(2);
      reply.Bulk(name);
    }));
    if (!found) continue;
    if (ctx.is_replicated()) ctx.Replicate({PlainName(pop.end), name, std::to_string(*found)});
    return true;
  }
  return false;
}

// ZMPOP numkeys key [key ...] <MIN | MAX> [COUNT count]
Status ZMPop(CommandContext& ctx, Args& args, Reply& reply) {
  const PopManyArgs pop = TRY(ReadPopManyArgs(args));
  if (!TRY(PopMany(ctx, pop, reply))) reply.NullArray();
  return Ok();
}

// BZMPOP timeout numkeys key [key ...] <MIN | MAX> [COUNT count]
Status BZMPop(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view timeout = args.Bytes();
  const PopManyArgs pop = TRY(ReadPopManyArgs(args));
  TRY(SetBlockTimeout(ctx, timeout));
  return TRY(PopMany(ctx, pop, reply)) ? Ok() : Status::MustBlock();
}

// BZPOPMIN and BZPOPMAX.
Status BlockingPop(CommandContext& ctx, Args& args, Reply& reply, End end) {
  const size_t last = args.size() - 1;
  TRY(SetBlockTimeout(ctx, args[last]));
  Keyspace keys = ctx.keys();
  for (const std::string_view name : args.all().subspan(1, last - 1)) {
    const Key key = keys.Name(name);
    Zset zset(keys, key);
    TRY(zset.Open());
    if (!zset.exists()) continue;
    TRY(zset.Pop(1, end == End::kHighest, [&](std::string_view member, double score) {
      reply.Array(3);
      reply.Bulk(name);
      reply.Bulk(member);
      reply.Double(score);
      return true;
    }));
    const bool is_empty = !zset.exists();
    TRY(zset.Save());
    EmitPopped(ctx, name, end, 1, is_empty);
    ctx.Replicate({PlainName(end), name});
    return Ok();
  }
  return Status::MustBlock();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "zpopmin", .arity = -2, .flags = kWrite | kFast, .keys = {OneKey(kRW | kAccess | kDelete)},
     .run = Fixed<Pop, End::kLowest>, .group = Group::kSortedSet, .since = "5.0.0",
     .summary = "Pops the members with the lowest scores from a sorted set.",
     .complexity = "O(M*log(N)) with N the size of the set and M the number of members taken", .syntax = "key [count]"},
    {.name = "zpopmax", .arity = -2, .flags = kWrite | kFast, .keys = {OneKey(kRW | kAccess | kDelete)},
     .run = Fixed<Pop, End::kHighest>, .group = Group::kSortedSet, .since = "5.0.0",
     .summary = "Pops the members with the highest scores from a sorted set.",
     .complexity = "O(M*log(N)) with N the size of the set and M the number of members taken", .syntax = "key [count]"},
    {.name = "zmpop", .arity = -4, .flags = kWrite, .keys = {CountedKeys(kRW | kAccess | kDelete, 1)}, .run = ZMPop,
     .group = Group::kSortedSet, .since = "7.0.0",
     .summary = "Pops members from the first non-empty sorted set of several.",
     .complexity = "O(K+M*log(N)) with K the number of keys, N the size of the set and M the number of members taken",
     .syntax = "numkeys key [key ...] <MIN | MAX> [COUNT count]"},
    {.name = "bzpopmin", .arity = -3, .flags = kWrite | kFast | kBlocking,
     .keys = {{.flags = kRW | kAccess | kDelete, .begin = 1, .last = -2}}, .run = Fixed<BlockingPop, End::kLowest>,
     .group = Group::kSortedSet, .since = "5.0.0",
     .summary = "Pops the lowest member of the first non-empty sorted set of several; blocks until there is one.",
     .complexity = "O(log(N)) with N the size of the set", .syntax = "key [key ...] timeout", .awaits = Type::kZset},
    {.name = "bzpopmax", .arity = -3, .flags = kWrite | kFast | kBlocking,
     .keys = {{.flags = kRW | kAccess | kDelete, .begin = 1, .last = -2}}, .run = Fixed<BlockingPop, End::kHighest>,
     .group = Group::kSortedSet, .since = "5.0.0",
     .summary = "Pops the highest member of the first non-empty sorted set of several; blocks until there is one.",
     .complexity = "O(log(N)) with N the size of the set", .syntax = "key [key ...] timeout", .awaits = Type::kZset},
    {.name = "bzmpop", .arity = -5, .flags = kWrite | kBlocking, .keys = {CountedKeys(kRW | kAccess | kDelete, 2)},
     .run = BZMPop, .group = Group::kSortedSet, .since = "7.0.0",
     .summary = "Pops members from the first non-empty sorted set of several; blocks until there are some.",
     .complexity = "O(K+M*log(N)) with K the number of keys, N the size of the set and M the number of members taken",
     .syntax = "timeout numkeys key [key ...] <MIN | MAX> [COUNT count]", .awaits = Type::kZset},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ZsetPopCommands() { return kRows; }

}  // namespace cairn
