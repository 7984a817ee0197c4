// SPDX-License-Identifier: BSD-3-Clause
//
// Unions, intersections and differences of sorted sets and sets, returned, counted or stored.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/fixed.h"
#include "command/zset_reply.h"
#include "types/zset_algebra.h"

namespace cairn {
namespace {

constexpr std::string_view kWeight = "ERR weight value is not a float";
constexpr std::string_view kLimit = "ERR LIMIT can't be negative";

enum class Operation : uint8_t { kUnion, kInter, kDiff };
enum class Outcome : uint8_t { kReply, kStore, kCount };

struct Form {
  Operation operation;
  Outcome outcome;
};

struct Inputs {
  std::vector<Key> keys;  // sources refer to these
  std::vector<ZsetSource> sources;
  Aggregate aggregate = Aggregate::kSum;
  bool with_scores = false;
  uint64_t limit = 0;  // for a count; 0: none
};

std::string NoInput(std::string_view command) {
  return "ERR at least 1 input key is needed for '" + std::string(command) + "' command";
}

// Parses numkeys key [key ...] and looks the keys up at once: a wrong type is reported before an invalid option.
Status ReadSources(CommandContext& ctx, Args& args, Keyspace& keys, Inputs& inputs) {
  const int64_t numkeys = args.Integer();
  TRY(args.Check());
  if (numkeys < 1) return Status::Reply(NoInput(ctx.command().full_name()));
  if (static_cast<uint64_t>(numkeys) > args.left()) return Status::Reply(errors::kSyntax);
  inputs.keys.reserve(static_cast<size_t>(numkeys));
  inputs.sources.reserve(static_cast<size_t>(numkeys));
  for (int64_t i = 0; i < numkeys; ++i) {
    inputs.keys.push_back(keys.Name(args.Bytes()));
    inputs.sources.push_back(TRY(ZsetSource::Find(keys, inputs.keys.back())));
  }
  return Ok();
}

void ReadAggregate(Args& args, Aggregate& aggregate) {
  if (args.Keyword("sum")) {
    aggregate = Aggregate::kSum;
  } else if (args.Keyword("min")) {
    aggregate = Aggregate::kMin;
  } else if (args.Keyword("max")) {
    aggregate = Aggregate::kMax;
  } else if (args.Keyword("count")) {
    aggregate = Aggregate::kCount;
  } else {
    args.Fail(errors::kSyntax);
  }
}

// Parses [WEIGHTS weight ...] [AGGREGATE SUM | MIN | MAX | COUNT] [WITHSCORES] [LIMIT limit], as far as the form allows
// them.
Status ReadOptions(Args& args, const Form& form, Inputs& inputs) {
  const bool combines = form.operation != Operation::kDiff && form.outcome != Outcome::kCount;
  while (args.More()) {
    if (combines && args.left() > inputs.sources.size() && args.Keyword("weights")) {
      for (ZsetSource& source : inputs.sources) source.weight = args.Float(kWeight);
    } else if (combines && args.left() > 1 && args.Keyword("aggregate")) {
      ReadAggregate(args, inputs.aggregate);
    } else if (form.outcome == Outcome::kReply && args.Keyword("withscores")) {
      inputs.with_scores = true;
    } else if (form.outcome == Outcome::kCount && args.left() > 1 && args.Keyword("limit")) {
      inputs.limit = static_cast<uint64_t>(args.IntegerIn(0, INT64_MAX, kLimit));
    } else {
      args.Fail(errors::kSyntax);
    }
  }
  return args.Done();
}

Result<std::vector<ScoredMember>> Intersect(CommandMemory& memory, Inputs& inputs) {
  std::vector<ScoredMember> elements;
  TRY(IntersectZsets(memory, std::move(inputs.sources), inputs.aggregate, [&](std::string_view member, double score) {
    memory.Use(BytesOfScored(member));
    elements.push_back({std::string(member), score});
    return true;
  }));
  std::sort(elements.begin(), elements.end());
  return elements;
}

Result<std::vector<ScoredMember>> Compute(CommandMemory& memory, Operation operation, Inputs& inputs) {
  switch (operation) {
    case Operation::kUnion: return UniteZsets(memory, std::move(inputs.sources), inputs.aggregate);
    case Operation::kInter: return Intersect(memory, inputs);
    case Operation::kDiff: return SubtractZsets(memory, std::move(inputs.sources));
  }
  return Status::Reply(errors::kSyntax);
}

// ZUNION, ZINTER and ZDIFF.
Status ReplyResult(CommandContext& ctx, Args& args, Reply& reply, Operation operation) {
  Keyspace keys = ctx.keys();
  Inputs inputs;
  TRY(ReadSources(ctx, args, keys, inputs));
  TRY(ReadOptions(args, {operation, Outcome::kReply}, inputs));
  const ElementsReply elements(reply, FormOf(reply, inputs.with_scores));
  const auto result = TRY(Compute(ctx.txn().command().memory(), operation, inputs));
  for (const ScoredMember& element : result) elements(element.member, element.score);
  elements.Finish();
  return Ok();
}

// ZUNIONSTORE, ZINTERSTORE and ZDIFFSTORE.
Status StoreResult(CommandContext& ctx, Args& args, Reply& reply, Operation operation) {
  Keyspace keys = ctx.keys();
  const Key target = keys.Name(args.Bytes());
  Inputs inputs;
  keys.EmitMisses(true);
  TRY(ReadSources(ctx, args, keys, inputs));
  keys.EmitMisses(false);
  TRY(ReadOptions(args, {operation, Outcome::kStore}, inputs));
  auto result = TRY(Compute(ctx.txn().command().memory(), operation, inputs));
  const KeyEntry replaced = TRY(keys.Find(target, Access::kPeek));
  reply.Integer(static_cast<int64_t>(result.size()));
  const bool is_empty = result.empty();
  TRY(Zset::Replace(keys, target, replaced, std::move(result)));
  ctx.Stored(kZsetEvent, ctx.command().row().name, target.bytes(), is_empty, replaced.exists());
  return Ok();
}

// ZINTERCARD numkeys key [key ...] [LIMIT limit]
Status ZInterCard(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  Inputs inputs;
  TRY(ReadSources(ctx, args, keys, inputs));
  TRY(ReadOptions(args, {Operation::kInter, Outcome::kCount}, inputs));
  uint64_t count = 0;
  TRY(IntersectZsets(ctx.txn().command().memory(), std::move(inputs.sources), inputs.aggregate,
                     [&](std::string_view, double) { return ++count != inputs.limit; }));
  reply.Integer(static_cast<int64_t>(count));
  return Ok();
}

constexpr std::string_view kUnionCost = "O(N+M*log(M)) with N the sum of the sizes and M the size of the result";
constexpr std::string_view kInterCost =
    "O(N*K+M*log(M)) with N the smallest size, K the number of keys and M the size of the result";
constexpr std::string_view kDiffCost =
    "O(N*K+M*log(M)) with N the size of the first, K the number of keys and M the size of the "
    "result";

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "zunion", .arity = -3, .flags = kReadonly, .keys = {CountedKeys(kRO | kAccess, 1)},
     .run = Fixed<ReplyResult, Operation::kUnion>, .group = Group::kSortedSet, .since = "6.2.0",
     .summary = "Returns the union of sorted sets.", .complexity = kUnionCost,
     .syntax = "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE SUM | MIN | MAX | COUNT] [WITHSCORES]"},
    {.name = "zinter", .arity = -3, .flags = kReadonly, .keys = {CountedKeys(kRO | kAccess, 1)},
     .run = Fixed<ReplyResult, Operation::kInter>, .group = Group::kSortedSet, .since = "6.2.0",
     .summary = "Returns the intersection of sorted sets.", .complexity = kInterCost,
     .syntax = "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE SUM | MIN | MAX | COUNT] [WITHSCORES]"},
    {.name = "zdiff", .arity = -3, .flags = kReadonly, .keys = {CountedKeys(kRO | kAccess, 1)},
     .run = Fixed<ReplyResult, Operation::kDiff>, .group = Group::kSortedSet, .since = "6.2.0",
     .summary = "Returns the difference between the first sorted set and the others.", .complexity = kDiffCost,
     .syntax = "numkeys key [key ...] [WITHSCORES]"},
    {.name = "zintercard", .arity = -3, .flags = kReadonly, .keys = {CountedKeys(kRO | kAccess, 1)}, .run = ZInterCard,
     .group = Group::kSortedSet, .since = "7.0.0",
     .summary = "Returns the size of the intersection of sorted sets, up to a limit.",
     .complexity = "O(N*K) with N the smallest size and K the number of keys",
     .syntax = "numkeys key [key ...] [LIMIT limit]"},
    {.name = "zunionstore", .arity = -4, .flags = kWrite | kDenyOom,
     .keys = {OneKey(kOW | kUpdate), CountedKeys(kRO | kAccess, 2)}, .run = Fixed<StoreResult, Operation::kUnion>,
     .group = Group::kSortedSet, .since = "2.0.0", .summary = "Stores the union of sorted sets.",
     .complexity = kUnionCost,
     .syntax = "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE SUM | MIN | MAX | COUNT]"},
    {.name = "zinterstore", .arity = -4, .flags = kWrite | kDenyOom,
     .keys = {OneKey(kOW | kUpdate), CountedKeys(kRO | kAccess, 2)}, .run = Fixed<StoreResult, Operation::kInter>,
     .group = Group::kSortedSet, .since = "2.0.0", .summary = "Stores the intersection of sorted sets.",
     .complexity = kInterCost,
     .syntax = "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE SUM | MIN | MAX | COUNT]"},
    {.name = "zdiffstore", .arity = -4, .flags = kWrite | kDenyOom,
     .keys = {OneKey(kOW | kUpdate), CountedKeys(kRO | kAccess, 2)}, .run = Fixed<StoreResult, Operation::kDiff>,
     .group = Group::kSortedSet, .since = "6.2.0",
     .summary = "Stores the difference between the first sorted set and the others.", .complexity = kDiffCost,
     .syntax = "destination numkeys key [key ...]"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ZsetStoreCommands() { return kRows; }

}  // namespace cairn
