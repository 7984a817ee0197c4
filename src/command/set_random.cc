// SPDX-License-Identifier: BSD-3-Clause
//
// Random members: SPOP and SRANDMEMBER. All members are equally likely. In a spread set a random member is found by its
// rank (storage/ranks.h), so neither command walks over the set.
#include <algorithm>

#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/named.h"
#include "command/sample_count.h"
#include "types/sample.h"
#include "types/set.h"
#include "types/set_builder.h"

namespace cairn {
namespace {

// If at most a fifth as many members remain as are removed, the rest is written as a new value. The threshold is
// Redis's: clients can see it, since a new value may have a smaller encoding.
constexpr uint64_t kRestFraction = 5;

// Replicates the removal of a drawn member.
void ReplicateRemoval(CommandContext& ctx, const Key& key, std::string_view member) {
  ctx.Replicate({"SREM", key.bytes(), member});
}

// Pops one member, or replies with null.
Status PopOne(CommandContext& ctx, Keyspace& keys, const Key& key, Reply& reply) {
  Set set(keys, key);
  TRY(set.Open());
  if (!set.exists()) {
    reply.Null();
    return Ok();
  }
  const std::string member = TRY(set.Pop(ctx.random().Below(set.size())));
  reply.Bulk(member);
  const bool is_empty = set.size() == 0;
  TRY(set.Save());
  ctx.Shrunk(kSetEvent, "spop", key.bytes(), 1, is_empty);
  ReplicateRemoval(ctx, key, member);
  return Ok();
}

// Pops all members and removes the key.
Status PopAll(CommandContext& ctx, Keyspace& keys, const Set& set, Reply& reply) {
  reply.Set(set.size());
  TRY(set.ForEach([&reply](std::string_view member) -> Result<bool> {
    reply.Bulk(member);
    return true;
  }));
  TRY(keys.Remove(set.key(), set.entry()));
  ctx.Shrunk(kSetEvent, "spop", set.key().bytes(), set.size(), true);
  ctx.Replicate({"DEL", set.key().bytes()});
  return Ok();
}

// Pops nearly all members: writing the rest again is cheaper than deleting the others.
Status PopMost(CommandContext& ctx, Keyspace& keys, const Set& set, const std::vector<uint64_t>& ranks, Reply& reply) {
  SetBuilder rest(keys);
  uint64_t rank = 0;
  size_t next = 0;
  TRY(set.ForEach([&](std::string_view member) -> Result<bool> {
    const uint64_t here = rank++;
    if (next < ranks.size() && ranks[next] == here) {
      ++next;
      reply.Bulk(member);
      ReplicateRemoval(ctx, set.key(), member);
    } else {
      rest.Add(member);
    }
    return true;
  }));
  return rest.StoreTo(set.key(), set.entry(), set.entry().expire_ms());
}

// SPOP key [count]
Status SPop(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  if (!args.More()) return PopOne(ctx, keys, key, reply);
  if (args.left() > 1) return Status::Reply(errors::kSyntax);
  const int64_t asked = args.IntegerIn(0, INT64_MAX, errors::kNotPositive);
  TRY(args.Done());

  Set set(keys, key);
  TRY(set.Open());
  const uint64_t count = std::min(static_cast<uint64_t>(asked), set.size());
  if (count == 0) {
    reply.Set(0);
    return Ok();
  }
  if (count == set.size()) return PopAll(ctx, keys, set, reply);
  TRY(ctx.txn().command().Spend(count));
  const std::vector<uint64_t> ranks = SampleRanks(set.size(), count, ctx.random());
  reply.Set(count);
  ctx.Changed(kSetEvent, "spop", key.bytes(), count);
  if ((set.size() - count) * kRestFraction <= count) return PopMost(ctx, keys, set, ranks, reply);
  for (const std::string& member : TRY(set.PopRanks(ranks))) {
    reply.Bulk(member);
    ReplicateRemoval(ctx, key, member);
  }
  return set.Save();
}

// Returns all members, or none if they need too much memory.
Result<std::vector<std::string>> ReadAll(const Set& set, CommandContext& ctx) {
  SpareMemory spare(ctx.txn().command().memory());
  std::vector<std::string> members;
  TRY(set.ForEach([&](std::string_view member) -> Result<bool> {
    const bool fits = spare.Take(2 * sizeof(std::string) + member.size());  // the vector doubles its places
    if (fits) members.emplace_back(member);
    return fits;
  }));
  if (members.size() != set.size()) members.clear();
  return members;
}

// Each draw is from all members, independent of earlier ones.
Status ReplyDraws(const Set& set, const SampleCount& sample, CommandContext& ctx, Reply& reply) {
  reply.Array(sample.count);
  std::vector<std::string> members;
  if (sample.ReadsAll(set.size())) members = TRY(ReadAll(set, ctx));
  for (uint64_t i = 0; i < sample.count; ++i) {
    TRY(ctx.txn().command().Spend(1));
    TRY(CheckDraws(reply));
    const uint64_t rank = ctx.random().Below(set.size());
    if (!members.empty()) {
      reply.Bulk(members[rank]);
    } else {
      reply.Bulk(TRY(set.At(rank)));
    }
  }
  return Ok();
}

Status ReplyDistinct(const Set& set, uint64_t count, CommandContext& ctx, Reply& reply) {
  const auto show = [&reply](std::string_view member) -> Result<bool> {
    reply.Bulk(member);
    return true;
  };
  if (count >= set.size()) {
    reply.Array(set.size());
    return set.ForEach(show);
  }
  TRY(ctx.txn().command().Spend(count));
  const std::vector<uint64_t> ranks = SampleRanks(set.size(), count, ctx.random());
  reply.Array(ranks.size());
  return set.ForEachRank(ranks, show);
}

// SRANDMEMBER key [count]
Status SRandMember(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Set> set(ctx, args.Bytes());
  if (args.left() > 1) return Status::Reply(errors::kSyntax);
  const bool has_count = args.More();
  const SampleCount sample = has_count ? TRY(ParseSampleCount(args)) : SampleCount{};
  TRY(set.Open());
  if (!has_count) {
    if (!set.exists()) {
      reply.Null();
    } else {
      reply.Bulk(TRY(set.At(ctx.random().Below(set.size()))));
    }
    return Ok();
  }
  if (!set.exists() || sample.count == 0) {
    reply.Array(0);
    return Ok();
  }
  if (!sample.distinct) return ReplyDraws(set, sample, ctx, reply);
  return ReplyDistinct(set, std::min(sample.count, set.size()), ctx, reply);
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "spop", .arity = -2, .flags = kWrite | kFast, .keys = {OneKey(kRW | kAccess | kDelete)}, .run = SPop,
     .group = Group::kSet, .since = "1.0.0", .summary = "Removes random members of a set and returns them.",
     .complexity = "O(N log M) with N the number of members returned, M that of the set", .syntax = "key [count]",
     .tips = "nondeterministic_output"},
    {.name = "srandmember", .arity = -2, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = SRandMember,
     .group = Group::kSet, .since = "1.0.0", .summary = "Returns random members of a set.",
     .complexity = "O(N log M) with N the number of members returned, M that of the set", .syntax = "key [count]",
     .tips = "nondeterministic_output"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> SetRandomCommands() { return kRows; }

}  // namespace cairn
