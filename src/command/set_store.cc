// SPDX-License-Identifier: BSD-3-Clause
//
// Commands on several sets: SINTER, SUNION, SDIFF, their STORE and CARD forms.
//
// All sets are looked up first, so a key of another type is an error whatever the other sets hold. A missing key is an
// empty set. An intersection that is only replied is sent while it is computed. All other results are collected first
// (types/set_builder.h), which also puts integers in ascending order.
#include <algorithm>

#include "base/number.h"
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/fixed.h"
#include "types/hyperloglog.h"
#include "types/set.h"
#include "types/set_algebra.h"
#include "types/set_builder.h"

namespace cairn {
namespace {

// The sets named by a command, in its order.
class NamedSets {
 public:
  explicit NamedSets(Keyspace& keys) : keys_(keys) {}

  Status Open(std::span<const std::string_view> names) {
    names_.reserve(names.size());  // the sets refer to the names
    sets_.reserve(names.size());
    for (const std::string_view name : names) {
      names_.push_back(keys_.Name(name));
      Set& set = sets_.emplace_back(keys_, names_.back());
      TRY(set.Open());
      if (!set.is_spread()) TRY(keys_.txn().command().Spend(set.size() / kPackedPerStep));
    }
    return Ok();
  }

  std::span<Set> sets() { return sets_; }
  // That of the command.
  CommandMemory& memory() { return keys_.txn().command().memory(); }

 private:
  Keyspace& keys_;
  std::vector<Key> names_;
  std::vector<Set> sets_;
};

Status Intersect(NamedSets& named, MemberVisitor visit) {
  for (const Set& set : named.sets()) {
    if (!set.exists()) return Ok();
  }
  return IntersectSets(named.memory(), named.sets(), visit);
}

// Adds the members of the result to `result`.
using Operation = Status (*)(NamedSets& named, SetBuilder& result);

Status CollectIntersection(NamedSets& named, SetBuilder& result) {
  return Intersect(named, [&result](std::string_view member) -> Result<bool> {
    result.Add(member);
    return true;
  });
}

Status CollectUnion(NamedSets& named, SetBuilder& result) {
  for (const Set& set : named.sets()) {
    TRY(set.ForEach([&result](std::string_view member) -> Result<bool> {
      result.Add(member);
      return true;
    }));
  }
  return Ok();
}

// Whether Redis would compute a difference by copying the first set and removing the members of the others. A client
// can see that: the result keeps the encoding that the first set needed.
bool SubtractsFromCopy(std::span<Set> sets) {
  uint64_t lookups = 0;
  uint64_t members = 0;
  for (const Set& set : sets) {
    if (!set.exists()) continue;
    lookups += sets.front().size();
    members += set.size();
  }
  return lookups / 2 > members;
}

Result<bool> FitsIntegers(const Set& set, const Limits& limits) {
  if (set.size() > ReadLimit(limits.set_max_intset_entries)) return false;
  bool fits = true;
  TRY(set.ForEach([&fits](std::string_view member) -> Result<bool> {
    fits = ParseInt64(member).has_value();
    return fits;
  }));
  return fits;
}

Status CollectDifference(NamedSets& named, SetBuilder& result) {
  const Set& first = named.sets().front();
  const std::span<Set> others = named.sets().subspan(1);
  for (const Set& other : others) {
    if (other.key().bytes() == first.key().bytes()) return Ok();
  }
  if (SubtractsFromCopy(named.sets()) && !TRY(FitsIntegers(first, result.limits()))) {
    result.GiveUpIntegers();
  }
  return SubtractSets(named.memory(), first, others, [&result](std::string_view member) -> Result<bool> {
    result.Add(member);
    return true;
  });
}

// SUNION and SDIFF.
Status ReplyResult(CommandContext& ctx, Args& args, Reply& reply, Operation collect) {
  Keyspace keys = ctx.keys();
  NamedSets named(keys);
  TRY(named.Open(args.all().subspan(1)));
  SetBuilder result(keys);
  TRY(collect(named, result));
  reply.Set(result.size());
  return result.ForEach([&reply](std::string_view member) -> Result<bool> {
    reply.Bulk(member);
    return true;
  });
}

// SINTERSTORE, SUNIONSTORE and SDIFFSTORE.
Status StoreResult(CommandContext& ctx, Args& args, Reply& reply, Operation collect) {
  Keyspace keys = ctx.keys();
  const Key target = keys.Name(args.Bytes());
  NamedSets named(keys);
  keys.EmitMisses(true);
  TRY(named.Open(args.all().subspan(2)));
  keys.EmitMisses(false);
  SetBuilder result(keys);
  TRY(collect(named, result));
  const KeyEntry entry = TRY(keys.Find(target, Access::kPeek));
  TRY(result.StoreTo(target, entry, kNoExpiry));
  ctx.Stored(kSetEvent, ctx.command().row().name, target.bytes(), result.size() == 0, entry.exists());
  reply.Integer(static_cast<int64_t>(result.size()));
  return Ok();
}

// SINTER key [key ...]
Status SInter(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  NamedSets named(keys);
  TRY(named.Open(args.all().subspan(1)));
  const size_t mark = reply.Later();
  size_t found = 0;
  TRY(Intersect(named, [&](std::string_view member) -> Result<bool> {
    reply.Bulk(member);
    ++found;
    return true;
  }));
  reply.FinishSet(mark, found);
  return Ok();
}

// The arguments of a command that replies a number of members.
struct CountOptions {
  std::span<const std::string_view> names;
  uint64_t limit = 0;  // 0: no limit
  bool approx = false;
};

// numkeys key [key ...] [LIMIT limit], and APPROX if `may_approximate`.
Result<CountOptions> ParseCountOptions(Args& args, bool may_approximate) {
  CountOptions options;
  const int64_t count = args.IntegerIn(1, INT64_MAX, "ERR numkeys should be greater than 0");
  TRY(args.Check());
  if (static_cast<uint64_t>(count) > args.left()) {
    return Status::Reply("ERR Number of keys can't be greater than number of args");
  }
  options.names = args.all().subspan(args.position(), static_cast<size_t>(count));
  args.Skip(options.names.size());
  while (args.More()) {
    if (may_approximate && args.Keyword("approx")) {
      options.approx = true;
    } else if (args.left() >= 2 && args.Keyword("limit")) {
      options.limit = static_cast<uint64_t>(args.IntegerIn(0, INT64_MAX, "ERR LIMIT can't be negative"));
    } else {
      args.Fail(errors::kSyntax);
    }
  }
  TRY(args.Done());
  return options;
}

// SINTERCARD numkeys key [key ...] [LIMIT limit]
Status SInterCard(CommandContext& ctx, Args& args, Reply& reply) {
  const CountOptions options = TRY(ParseCountOptions(args, false));
  Keyspace keys = ctx.keys();
  NamedSets named(keys);
  TRY(named.Open(options.names));
  uint64_t found = 0;
  TRY(Intersect(named, [&](std::string_view) -> Result<bool> { return ++found != options.limit; }));
  reply.Integer(static_cast<int64_t>(found));
  return Ok();
}

// The members of all sets that have been visited before.
class SeenMembers {
 public:
  SeenMembers(Keyspace& keys, bool approx) : exact_(keys), approx_(approx) {}

  void Add(std::string_view member) {
    if (approx_) {
      estimate_.Add(member, /*sparse_max=*/0);
    } else {
      exact_.Add(member);
    }
  }
  // Whether at least `limit` members were seen; the estimate is not asked for each member.
  bool Reaches(uint64_t limit) const { return !approx_ && limit != 0 && exact_.size() >= limit; }
  uint64_t Count(uint64_t limit) const {
    const uint64_t count = approx_ ? estimate_.Count().value_or(0) : exact_.size();
    return limit == 0 ? count : std::min(count, limit);
  }

 private:
  SetBuilder exact_;
  HyperLogLog estimate_;
  const bool approx_;
};

// SUNIONCARD numkeys key [key ...] [APPROX] [LIMIT limit]
Status SUnionCard(CommandContext& ctx, Args& args, Reply& reply) {
  const CountOptions options = TRY(ParseCountOptions(args, true));
  Keyspace keys = ctx.keys();
  NamedSets named(keys);
  TRY(named.Open(options.names));
  SeenMembers seen(keys, options.approx);
  for (const Set& set : named.sets()) {
    if (seen.Reaches(options.limit)) break;
    TRY(set.ForEach([&](std::string_view member) -> Result<bool> {
      seen.Add(member);
      return !seen.Reaches(options.limit);
    }));
  }
  reply.Integer(static_cast<int64_t>(seen.Count(options.limit)));
  return Ok();
}

// SDIFFCARD numkeys key [key ...] [LIMIT limit]
Status SDiffCard(CommandContext& ctx, Args& args, Reply& reply) {
  const CountOptions options = TRY(ParseCountOptions(args, false));
  Keyspace keys = ctx.keys();
  NamedSets named(keys);
  TRY(named.Open(options.names));
  uint64_t found = 0;
  const Set& first = named.sets().front();
  const auto is_first = [&](std::string_view name) { return name == options.names.front(); };
  if (std::ranges::none_of(options.names.subspan(1), is_first)) {
    TRY(SubtractSets(named.memory(), first, named.sets().subspan(1),
                     [&](std::string_view) -> Result<bool> { return ++found != options.limit; }));
  }
  reply.Integer(static_cast<int64_t>(found));
  return Ok();
}

constexpr std::string_view kInterCost = "O(N*M) with N the members of the smallest set, M the number of sets";
constexpr std::string_view kAllCost = "O(N) with N the members of all sets together";

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "sinter", .arity = -2, .flags = kReadonly, .keys = {KeysToEnd(kRO | kAccess)}, .run = SInter,
     .group = Group::kSet, .since = "1.0.0", .summary = "Returns the intersection of sets.", .complexity = kInterCost,
     .syntax = "key [key ...]", .tips = "nondeterministic_output_order"},
    {.name = "sintercard", .arity = -3, .flags = kReadonly, .keys = {CountedKeys(kRO | kAccess, 1)}, .run = SInterCard,
     .group = Group::kSet, .since = "7.0.0", .summary = "Returns the size of the intersection of sets, up to a limit.",
     .complexity = kInterCost, .syntax = "numkeys key [key ...] [LIMIT limit]"},
    {.name = "sunioncard", .arity = -3, .flags = kReadonly, .keys = {CountedKeys(kRO | kAccess, 1)}, .run = SUnionCard,
     .group = Group::kSet, .since = "8.10.0", .summary = "Returns the size of the union of sets, up to a limit.",
     .complexity = kAllCost, .syntax = "numkeys key [key ...] [APPROX] [LIMIT limit]"},
    {.name = "sdiffcard", .arity = -3, .flags = kReadonly, .keys = {CountedKeys(kRO | kAccess, 1)}, .run = SDiffCard,
     .group = Group::kSet, .since = "8.10.0",
     .summary = "Returns the size of the difference between a set and others, up to a limit.", .complexity = kAllCost,
     .syntax = "numkeys key [key ...] [LIMIT limit]"},
    {.name = "sinterstore", .arity = -3, .flags = kWrite | kDenyOom,
     .keys = {OneKey(kRW | kUpdate), KeysToEnd(kRO | kAccess, 2)}, .run = Fixed<StoreResult, CollectIntersection>,
     .group = Group::kSet, .since = "1.0.0", .summary = "Stores the intersection of sets.", .complexity = kInterCost,
     .syntax = "destination key [key ...]"},
    {.name = "sunion", .arity = -2, .flags = kReadonly, .keys = {KeysToEnd(kRO | kAccess)},
     .run = Fixed<ReplyResult, CollectUnion>, .group = Group::kSet, .since = "1.0.0",
     .summary = "Returns the union of sets.", .complexity = kAllCost, .syntax = "key [key ...]",
     .tips = "nondeterministic_output_order"},
    {.name = "sunionstore", .arity = -3, .flags = kWrite | kDenyOom,
     .keys = {OneKey(kOW | kUpdate), KeysToEnd(kRO | kAccess, 2)}, .run = Fixed<StoreResult, CollectUnion>,
     .group = Group::kSet, .since = "1.0.0", .summary = "Stores the union of sets.", .complexity = kAllCost,
     .syntax = "destination key [key ...]"},
    {.name = "sdiff", .arity = -2, .flags = kReadonly, .keys = {KeysToEnd(kRO | kAccess)},
     .run = Fixed<ReplyResult, CollectDifference>, .group = Group::kSet, .since = "1.0.0",
     .summary = "Returns the difference between the first set and the others.", .complexity = kAllCost,
     .syntax = "key [key ...]", .tips = "nondeterministic_output_order"},
    {.name = "sdiffstore", .arity = -3, .flags = kWrite | kDenyOom,
     .keys = {OneKey(kOW | kUpdate), KeysToEnd(kRO | kAccess, 2)}, .run = Fixed<StoreResult, CollectDifference>,
     .group = Group::kSet, .since = "1.0.0", .summary = "Stores the difference between the first set and the others.",
     .complexity = kAllCost, .syntax = "destination key [key ...]"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> SetStoreCommands() { return kRows; }

}  // namespace cairn
