// SPDX-License-Identifier: BSD-3-Clause
//
// Ranges of sorted sets by rank, score and member, in both directions: read, counted, stored, removed.
//
// ZRANGE has options for what the names of the older commands say. So one parser reads all of them; it is given what
// the name implies, and an option that repeats or contradicts it is a syntax error.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/fixed.h"
#include "command/named.h"
#include "command/zset_reply.h"
#include "types/score_range.h"
#include "types/zset.h"

namespace cairn {
namespace {

using By = ZsetRange::By;

constexpr std::string_view kLimitByRank =
    "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX";
constexpr std::string_view kScoresByLex = "ERR syntax error, WITHSCORES not supported in combination with BYLEX";

// The properties implied by a command's name; options set the others.
struct RangeForm {
  std::optional<By> by;
  std::optional<bool> reverse;
  bool stores = false;  // takes no WITHSCORES
};

struct RangeArgs {
  ZsetRange range;
  bool with_scores = false;
};

// Reads the two bounds, in the order of the direction, into `range`.
Status ReadBounds(std::string_view first, std::string_view last, ZsetRange& range) {
  if (range.by == By::kRank) {
    const std::string_view both[] = {{}, first, last};
    Args ranks(both);
    range.first_rank = ranks.Integer();
    range.last_rank = ranks.Integer();
    return ranks.Done();
  }
  if (range.reverse) std::swap(first, last);
  if (range.by == By::kScore) {
    const auto scores = ParseScoreRange(first, last);
    if (!scores) return Status::Reply(errors::kMinMaxFloat);
    range.scores = *scores;
  } else {
    const auto members = ParseLexRange(first, last);
    if (!members) return Status::Reply(errors::kMinMaxLex);
    range.members = *members;
  }
  return Ok();
}

// Reads one option. Returns false if the next argument is not an option that `form` leaves open.
bool ReadRangeOption(Args& args, RangeForm& form, RangeArgs& out) {
  if (!form.stores && args.Keyword("withscores")) {
    out.with_scores = true;
  } else if (args.left() > 2 && args.Keyword("limit")) {
    out.range.offset = args.Integer();
    out.range.limit = args.Integer();
  } else if (!form.reverse && args.Keyword("rev")) {
    form.reverse = true;
  } else if (!form.by && args.Keyword("bylex")) {
    form.by = By::kLex;
  } else if (!form.by && args.Keyword("byscore")) {
    form.by = By::kScore;
  } else {
    return false;
  }
  return true;
}

// min max [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES]
Result<RangeArgs> ReadRangeArgs(Args& args, RangeForm form) {
  RangeArgs out;
  const std::string_view first = args.Bytes();
  const std::string_view last = args.Bytes();
  while (args.More()) {
    if (!ReadRangeOption(args, form, out)) args.Fail(errors::kSyntax);
  }
  TRY(args.Done());
  out.range.by = form.by.value_or(By::kRank);
  out.range.reverse = form.reverse.value_or(false);
  if (out.range.limit != -1 && out.range.by == By::kRank) return Status::Reply(kLimitByRank);
  if (out.with_scores && out.range.by == By::kLex) return Status::Reply(kScoresByLex);
  TRY(ReadBounds(first, last, out.range));
  return out;
}

// ZRANGE, ZREVRANGE, ZRANGEBYSCORE, ZREVRANGEBYSCORE, ZRANGEBYLEX and ZREVRANGEBYLEX.
Status ReplyRange(CommandContext& ctx, Args& args, Reply& reply, std::optional<By> by, std::optional<bool> reverse) {
  const std::string_view name = args.Bytes();
  const RangeArgs range = TRY(ReadRangeArgs(args, {by, reverse}));
  Named<Zset> zset(ctx, name);
  TRY(zset.Open());
  const ElementsReply elements(reply, FormOf(reply, range.with_scores));
  TRY(zset.ForEach(range.range, elements));
  elements.Finish();
  return Ok();
}

// Changes -0 to 0 where Redis does. It stores these elements one by one, in this order, in a listpack, which holds 0
// for -0, until one does not fit. A range by rank with too many elements never uses a listpack, as its size is known.
void StoreZerosAsRedis(std::vector<ScoredMember>& elements, By by, const Limits& limits) {
  const auto most = static_cast<size_t>(std::max<int64_t>(limits.zset_max_listpack_entries, 0));
  const auto longest = static_cast<size_t>(limits.zset_max_listpack_value.load());
  if (by == By::kRank && elements.size() > most) return;
  for (size_t i = 0; i < elements.size() && i < most && elements[i].member.size() <= longest; ++i) {
    if (elements[i].score == 0) elements[i].score = 0;
  }
}

// ZRANGESTORE dst src min max [BYSCORE | BYLEX] [REV] [LIMIT offset count]
Status ZRangeStore(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view target_name = args.Bytes();
  const std::string_view source_name = args.Bytes();
  const RangeArgs range = TRY(ReadRangeArgs(args, {.stores = true}));
  Keyspace keys = ctx.keys();
  const Key source = keys.Name(source_name);
  keys.EmitMisses(true);
  Zset zset(keys, source);
  TRY(zset.Open());
  keys.EmitMisses(false);
  std::vector<ScoredMember> elements;
  TRY(zset.ForEach(range.range, [&](std::string_view member, double score) {
    ctx.txn().command().memory().Use(BytesOfScored(member));
    elements.push_back({std::string(member), score});
    return true;
  }));
  StoreZerosAsRedis(elements, range.range.by, keys.limits());
  const Key target = keys.Name(target_name);
  const KeyEntry replaced = TRY(keys.Find(target, Access::kPeek));
  reply.Integer(static_cast<int64_t>(elements.size()));
  const bool is_empty = elements.empty();
  TRY(Zset::Replace(keys, target, replaced, std::move(elements)));
  ctx.Stored(kZsetEvent, "zrangestore", target_name, is_empty, replaced.exists());
  return Ok();
}

// The key and the two bounds of a command without options.
struct PlainRange {
  std::string_view name;
  ZsetRange range;
};

Result<PlainRange> ReadPlainRange(Args& args, By by) {
  PlainRange plain{.name = args.Bytes(), .range = {.by = by}};
  const std::string_view first = args.Bytes();
  const std::string_view last = args.Bytes();
  TRY(args.Done());
  TRY(ReadBounds(first, last, plain.range));
  return plain;
}

// ZCOUNT key min max
Status ZCount(CommandContext& ctx, Args& args, Reply& reply) {
  const PlainRange plain = TRY(ReadPlainRange(args, By::kScore));
  Named<Zset> zset(ctx, plain.name);
  TRY(zset.Open());
  reply.Integer(static_cast<int64_t>(TRY(zset.Count(plain.range.scores))));
  return Ok();
}

// ZLEXCOUNT key min max
Status ZLexCount(CommandContext& ctx, Args& args, Reply& reply) {
  const PlainRange plain = TRY(ReadPlainRange(args, By::kLex));
  Named<Zset> zset(ctx, plain.name);
  TRY(zset.Open());
  reply.Integer(static_cast<int64_t>(TRY(zset.Count(plain.range.members))));
  return Ok();
}

std::string_view RemovalEvent(By by) {
  if (by == By::kRank) return "zremrangebyrank";
  return by == By::kScore ? "zremrangebyscore" : "zremrangebylex";
}

// ZREMRANGEBYRANK, ZREMRANGEBYSCORE and ZREMRANGEBYLEX.
Status RemoveRange(CommandContext& ctx, Args& args, Reply& reply, By by) {
  const PlainRange plain = TRY(ReadPlainRange(args, by));
  Named<Zset> zset(ctx, plain.name);
  TRY(zset.Open());
  const uint64_t removed = TRY(zset.RemoveRange(plain.range));
  if (removed > 0) {
    const bool is_empty = !zset.exists();
    TRY(zset.Save());
    ctx.Shrunk(kZsetEvent, RemovalEvent(by), plain.name, removed, is_empty);
  }
  reply.Integer(static_cast<int64_t>(removed));
  return Ok();
}

constexpr std::string_view kWalkCost = "O(log(N)+M) with N the size of the set and M the number of members returned";
constexpr std::string_view kStoreCost =
    "O(log(N)+M*log(M)) with N the size of the source and M the number of members stored";
constexpr std::string_view kRemoveCost =
    "O(log(N)+M*log(N)) with N the size of the set and M the number of members removed";
constexpr std::string_view kCountCost = "O(log(N)) with N the size of the set";

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "zrange", .arity = -4, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyRange, std::nullopt, std::nullopt>, .group = Group::kSortedSet, .since = "1.2.0",
     .summary = "Returns the members of a sorted set within a range of ranks, scores or members.",
     .complexity = kWalkCost, .syntax = "key start stop [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES]"},
    {.name = "zrevrange", .arity = -4, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyRange, By::kRank, true>, .group = Group::kSortedSet, .since = "1.2.0",
     .summary = "Returns the members within a range of ranks counted from the highest score.", .complexity = kWalkCost,
     .syntax = "key start stop [WITHSCORES]", .deprecated_since = "6.2.0",
     .replaced_by = "`ZRANGE` with the `REV` argument"},
    {.name = "zrangebyscore", .arity = -4, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyRange, By::kScore, false>, .group = Group::kSortedSet, .since = "1.0.5",
     .summary = "Returns the members of a sorted set within a range of scores.", .complexity = kWalkCost,
     .syntax = "key min max [WITHSCORES] [LIMIT offset count]", .deprecated_since = "6.2.0",
     .replaced_by = "`ZRANGE` with the `BYSCORE` argument"},
    {.name = "zrevrangebyscore", .arity = -4, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyRange, By::kScore, true>, .group = Group::kSortedSet, .since = "2.2.0",
     .summary = "Returns the members within a range of scores, the highest score first.", .complexity = kWalkCost,
     .syntax = "key max min [WITHSCORES] [LIMIT offset count]", .deprecated_since = "6.2.0",
     .replaced_by = "`ZRANGE` with the `REV` and `BYSCORE` arguments"},
    {.name = "zrangebylex", .arity = -4, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyRange, By::kLex, false>, .group = Group::kSortedSet, .since = "2.8.9",
     .summary = "Returns the members of a sorted set within a range of members.", .complexity = kWalkCost,
     .syntax = "key min max [LIMIT offset count]", .deprecated_since = "6.2.0",
     .replaced_by = "`ZRANGE` with the `BYLEX` argument"},
    {.name = "zrevrangebylex", .arity = -4, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyRange, By::kLex, true>, .group = Group::kSortedSet, .since = "2.8.9",
     .summary = "Returns the members within a range of members, the highest first.", .complexity = kWalkCost,
     .syntax = "key max min [LIMIT offset count]", .deprecated_since = "6.2.0",
     .replaced_by = "`ZRANGE` with the `REV` and `BYLEX` arguments"},
    {.name = "zrangestore", .arity = -5, .flags = kWrite | kDenyOom,
     .keys = {OneKey(kOW | kUpdate), OneKey(kRO | kAccess, 2)}, .run = ZRangeStore, .group = Group::kSortedSet,
     .since = "6.2.0", .summary = "Stores a range of one sorted set as another.", .complexity = kStoreCost,
     .syntax = "dst src min max [BYSCORE | BYLEX] [REV] [LIMIT offset count]"},
    {.name = "zcount", .arity = 4, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)}, .run = ZCount,
     .group = Group::kSortedSet, .since = "2.0.0",
     .summary = "Returns the number of members of a sorted set within a range of scores.", .complexity = kCountCost,
     .syntax = "key min max"},
    {.name = "zlexcount", .arity = 4, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)}, .run = ZLexCount,
     .group = Group::kSortedSet, .since = "2.8.9",
     .summary = "Returns the number of members of a sorted set within a range of members.", .complexity = kCountCost,
     .syntax = "key min max"},
    {.name = "zremrangebyrank", .arity = 4, .flags = kWrite, .keys = {OneKey(kRW | kDelete)},
     .run = Fixed<RemoveRange, By::kRank>, .group = Group::kSortedSet, .since = "2.0.0",
     .summary = "Removes the members of a sorted set within a range of ranks.", .complexity = kRemoveCost,
     .syntax = "key start stop"},
    {.name = "zremrangebyscore", .arity = 4, .flags = kWrite, .keys = {OneKey(kRW | kDelete)},
     .run = Fixed<RemoveRange, By::kScore>, .group = Group::kSortedSet, .since = "1.2.0",
     .summary = "Removes the members of a sorted set within a range of scores.", .complexity = kRemoveCost,
     .syntax = "key min max"},
    {.name = "zremrangebylex", .arity = 4, .flags = kWrite, .keys = {OneKey(kRW | kDelete)},
     .run = Fixed<RemoveRange, By::kLex>, .group = Group::kSortedSet, .since = "2.8.9",
     .summary = "Removes the members of a sorted set within a range of members.", .complexity = kRemoveCost,
     .syntax = "key min max"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ZsetRangeCommands() { return kRows; }

}  // namespace cairn
