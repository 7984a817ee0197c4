// SPDX-License-Identifier: BSD-3-Clause
//
// Sorted sets by member: adding, removing, scores and ranks; also ZSCAN and ZRANDMEMBER.
#include "types/zset.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/number.h"
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/fixed.h"
#include "command/named.h"
#include "command/sample_count.h"
#include "command/scan_options.h"
#include "command/zset_reply.h"
#include "types/sample.h"

namespace cairn {
namespace {

constexpr std::string_view kNewAndExisting = "ERR XX and NX options at the same time are not compatible";
constexpr std::string_view kContraryRules = "ERR GT, LT, and/or NX options at the same time are not compatible";
constexpr std::string_view kOneIncrement = "ERR INCR option supports a single increment-element pair";
constexpr std::string_view kOutOfRange = "ERR value is out of range";

struct AddOptions {
  AddRules rules;
  bool count_updates = false;  // CH
};

AddOptions ReadAddOptions(Args& args, bool increment) {
  AddOptions options;
  AddRules& rules = options.rules;
  rules.increment = increment;
  for (;;) {
    if (args.Keyword("nx")) {
      rules.only_new = true;
    } else if (args.Keyword("xx")) {
      rules.only_existing = true;
    } else if (args.Keyword("gt")) {
      rules.only_greater = true;
    } else if (args.Keyword("lt")) {
      rules.only_less = true;
    } else if (args.Keyword("ch")) {
      options.count_updates = true;
    } else if (args.Keyword("incr")) {
      rules.increment = true;
    } else {
      return options;
    }
  }
}

Status CheckAddOptions(const AddRules& rules, size_t pairs) {
  if (rules.only_new && rules.only_existing) return Status::Reply(kNewAndExisting);
  const bool contrary = (rules.only_greater || rules.only_less) && rules.only_new;
  if (contrary || (rules.only_greater && rules.only_less)) return Status::Reply(kContraryRules);
  if (rules.increment && pairs > 1) return Status::Reply(kOneIncrement);
  return Ok();
}

// ZADD and ZINCRBY. ZINCRBY is a ZADD INCR and even accepts ZADD's options as its increment.
Status AddElements(CommandContext& ctx, Args& args, Reply& reply, bool increment) {
  const std::string_view name = args.Bytes();
  const AddOptions options = ReadAddOptions(args, increment);
  const size_t pairs = args.left() / 2;
  if (pairs == 0 || args.left() % 2 != 0) return Status::Reply(errors::kSyntax);
  TRY(CheckAddOptions(options.rules, pairs));
  const size_t first = args.position();
  std::vector<double> scores;
  scores.reserve(pairs);
  for (size_t i = 0; i < pairs; ++i) {
    scores.push_back(args.Float());
    args.Skip(1);
  }
  TRY(args.Check());

  Named<Zset> zset(ctx, name);
  TRY(zset.Open());
  uint64_t added_count = 0;
  uint64_t updated_count = 0;
  Added added;
  for (size_t i = 0; i < pairs; ++i) {
    added = TRY(zset.Add(args[first + 2 * i + 1], scores[i], options.rules));
    if (added.outcome == Added::Outcome::kNotANumber) return Status::Reply(errors::kScoreNan);
    if (added.outcome == Added::Outcome::kAdded) ++added_count;
    if (added.outcome == Added::Outcome::kUpdated) ++updated_count;
  }
  TRY(zset.Save());
  if (added_count + updated_count > 0) {
    ctx.Changed(kZsetEvent, options.rules.increment ? "zincr" : "zadd", name, added_count + updated_count);
  }
  if (!options.rules.increment) {
    reply.Integer(static_cast<int64_t>(added_count + (options.count_updates ? updated_count : 0)));
  } else if (added.outcome == Added::Outcome::kRefused) {
    reply.Null();
  } else {
    reply.Double(added.score);
  }
  return Ok();
}

// ZREM key member [member ...]
Status ZRem(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Zset> zset(ctx, args.Bytes());
  TRY(zset.Open());
  int64_t removed = 0;
  while (args.More() && zset.exists()) {
    if (TRY(zset.Remove(args.Bytes()))) ++removed;
  }
  if (removed > 0) {
    const bool is_empty = !zset.exists();
    TRY(zset.Save());
    ctx.Shrunk(kZsetEvent, "zrem", zset.key.bytes(), static_cast<uint64_t>(removed), is_empty);
  }
  reply.Integer(removed);
  return Ok();
}

// ZCARD key
Status ZCard(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Zset> zset(ctx, args.Bytes());
  TRY(zset.Open());
  reply.Integer(static_cast<int64_t>(zset.size()));
  return Ok();
}

Status ReplyScore(Zset& zset, std::string_view member, Reply& reply) {
  const std::optional<double> score = TRY(zset.Score(member));
  if (score) {
    reply.Double(*score);
  } else {
    reply.Null();
  }
  return Ok();
}

// ZSCORE key member
Status ZScore(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Zset> zset(ctx, args.Bytes());
  TRY(zset.Open());
  return ReplyScore(zset, args.Bytes(), reply);
}

// ZMSCORE key member [member ...]
Status ZMScore(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Zset> zset(ctx, args.Bytes());
  TRY(zset.Open());
  reply.Array(args.left());
  while (args.More()) TRY(ReplyScore(zset, args.Bytes(), reply));
  return Ok();
}

// ZRANK and ZREVRANK.
Status ReplyRank(CommandContext& ctx, Args& args, Reply& reply, bool reverse) {
  const std::string_view name = args.Bytes();
  const std::string_view member = args.Bytes();
  if (args.left() > 1) return Status::Reply(errors::WrongArity(ctx.command().full_name()));
  const bool with_score = args.Keyword("withscore");
  TRY(args.Done());

  Named<Zset> zset(ctx, name);
  TRY(zset.Open());
  const auto ranked = TRY(zset.RankOf(member, reverse));
  if (!ranked) {
    with_score ? reply.NullArray() : reply.Null();
    return Ok();
  }
  if (with_score) reply.Array(2);
  reply.Integer(static_cast<int64_t>(ranked->rank));
  if (with_score) reply.Double(ranked->score);
  return Ok();
}

// ZSCAN shows whole scores of a set in the small encoding with all digits, as Redis stores them, and any score of a set
// in the large encoding with 17 digits, in each version of Redis.
std::string ScanScore(double score, bool is_large) {
  constexpr double kWholeNumbers = 4611686018427387904.0;  // 2^62
  if (is_large) return FormatDouble(score, DoubleFormat::k17Digits);
  if (std::fabs(score) > kWholeNumbers || score != std::floor(score)) {
    return FormatDouble(score);
  }
  std::string digits;
  AppendInt64(digits, static_cast<int64_t>(score));
  return digits;
}

// ZSCAN key cursor [MATCH pattern] [COUNT count]
Status ZScan(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const uint64_t cursor = TRY(ParseScanCursor(args));
  Zset zset(keys, key);
  TRY(zset.Open());
  if (!zset.exists()) {
    ReplyScanCursor(reply, 0);
    reply.Array(0);
    return Ok();
  }
  const ScanOptions options = TRY(ParseScanOptions(args, ScanOf::kMembers));
  std::string body;
  Reply elements(body, reply);
  size_t count = 0;
  const uint64_t next =
      TRY(zset.Scan(cursor, options.count, [&](std::string_view member, double score) -> Result<bool> {
        if (TRY(options.Matches(ctx.txn().command(), member))) {
          elements.Bulk(member);
          elements.Bulk(ScanScore(score, zset.is_large()));
          ++count;
        }
        return true;
      }));
  ReplyScanCursor(reply, next);
  reply.Array(2 * count);
  reply.Append(elements);
  return Ok();
}

// Replies with `n` random elements, possibly repeated, in random order.
Status ReplyWithRepeats(CommandContext& ctx, Zset& zset, uint64_t n, const ElementsReply& elements) {
  constexpr uint64_t kBatch = 1000;
  while (n > 0) {
    TRY(ctx.txn().command().Spend(std::min(n, kBatch)));
    std::vector<uint64_t> ranks(std::min(n, kBatch));
    for (uint64_t& rank : ranks) rank = ctx.random().Below(zset.size());
    TRY(zset.ForEachRank(ranks, elements));
    TRY(CheckDraws(elements.reply()));
    n -= ranks.size();
  }
  return Ok();
}

// Replies with `n` distinct elements, or with all from the highest down if there are no more.
Status ReplyDistinct(CommandContext& ctx, Zset& zset, uint64_t n, const ElementsReply& elements) {
  constexpr uint64_t kShareWalked = 3;  // a walk beats lookups if it returns at least every third element
  if (n >= zset.size()) return zset.ForEach(elements, /*reverse=*/true);
  TRY(ctx.txn().command().Spend(n));
  const std::vector<uint64_t> ranks = SampleRanks(zset.size(), n, ctx.random());
  if (n * kShareWalked < zset.size()) return zset.ForEachRank(ranks, elements);
  uint64_t rank = 0;
  size_t next = 0;
  return zset.ForEach([&](std::string_view member, double score) {
    if (rank++ != ranks[next]) return true;
    elements(member, score);
    return ++next < ranks.size();
  });
}

Status ReplyRandomOne(CommandContext& ctx, Zset& zset, Reply& reply) {
  if (!zset.exists()) {
    reply.Null();
    return Ok();
  }
  return zset.ForEachRank({ctx.random().Below(zset.size())}, [&](std::string_view member, double) {
    reply.Bulk(member);
    return true;
  });
}

// ZRANDMEMBER key [count [WITHSCORES]]
Status ZRandMember(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Zset> zset(ctx, args.Bytes());
  if (!args.More()) {
    TRY(zset.Open());
    return ReplyRandomOne(ctx, zset, reply);
  }
  const int64_t count = args.Integer();
  TRY(args.Check());
  if (count == INT64_MIN) {
    return Status::Reply(
        "ERR value is out of range, value must between -9223372036854775807 and "
        "9223372036854775807");
  }
  const bool with_scores = args.Keyword("withscores");
  TRY(args.Done());
  if (with_scores && (count < -(INT64_MAX / 2) || count > INT64_MAX / 2)) {
    return Status::Reply(kOutOfRange);
  }

  TRY(zset.Open());
  ElementsReply elements(reply, FormOf(reply, with_scores));
  if (count > 0) TRY(ReplyDistinct(ctx, zset, static_cast<uint64_t>(count), elements));
  if (count < 0 && zset.exists()) {
    TRY(ReplyWithRepeats(ctx, zset, static_cast<uint64_t>(-count), elements));
  }
  elements.Finish();
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "zadd", .arity = -4, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kUpdate)},
     .run = Fixed<AddElements, false>, .group = Group::kSortedSet, .since = "1.2.0",
     .summary = "Adds members to a sorted set or changes their scores.",
     .complexity = "O(log(N)) for each member, with N the size of the set",
     .syntax = "key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...]"},
    {.name = "zincrby", .arity = 4, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kAccess | kUpdate)},
     .run = Fixed<AddElements, true>, .group = Group::kSortedSet, .since = "1.2.0",
     .summary = "Adds to the score of a member of a sorted set.", .complexity = "O(log(N)) with N the size of the set",
     .syntax = "key increment member"},
    {.name = "zrem", .arity = -3, .flags = kWrite | kFast, .keys = {OneKey(kRW | kDelete)}, .run = ZRem,
     .group = Group::kSortedSet, .since = "1.2.0", .summary = "Removes members from a sorted set.",
     .complexity = "O(M*log(N)) with N the size of the set and M the number of members",
     .syntax = "key member [member ...]"},
    {.name = "zcard", .arity = 2, .flags = kReadonly | kFast, .keys = {OneKey(kRO)}, .run = ZCard,
     .group = Group::kSortedSet, .since = "1.2.0", .summary = "Returns the number of members of a sorted set.",
     .complexity = "O(1)", .syntax = "key"},
    {.name = "zscore", .arity = 3, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)}, .run = ZScore,
     .group = Group::kSortedSet, .since = "1.2.0", .summary = "Returns the score of a member of a sorted set.",
     .complexity = "O(1)", .syntax = "key member"},
    {.name = "zmscore", .arity = -3, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)}, .run = ZMScore,
     .group = Group::kSortedSet, .since = "6.2.0", .summary = "Returns the scores of several members of a sorted set.",
     .complexity = "O(N) with N the number of members asked for", .syntax = "key member [member ...]"},
    {.name = "zrank", .arity = -3, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyRank, false>, .group = Group::kSortedSet, .since = "2.0.0",
     .summary = "Returns the rank of a member of a sorted set, by ascending score.",
     .complexity = "O(log(N)) with N the size of the set", .syntax = "key member [WITHSCORE]"},
    {.name = "zrevrank", .arity = -3, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyRank, true>, .group = Group::kSortedSet, .since = "2.0.0",
     .summary = "Returns the rank of a member of a sorted set, by descending score.",
     .complexity = "O(log(N)) with N the size of the set", .syntax = "key member [WITHSCORE]"},
    {.name = "zrandmember", .arity = -2, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = ZRandMember,
     .group = Group::kSortedSet, .since = "6.2.0", .summary = "Returns random members of a sorted set.",
     .complexity = "O(N*log(M)) with N the number of members returned and M the size of the set",
     .syntax = "key [count [WITHSCORES]]", .tips = "nondeterministic_output"},
    {.name = "zscan", .arity = -3, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = ZScan,
     .group = Group::kSortedSet, .since = "2.8.0",
     .summary = "Returns some members of a sorted set with their scores, and the next cursor.",
     .complexity = "O(1) for a call, O(N) for a whole walk, with N the size of the set",
     .syntax = "key cursor [MATCH pattern] [COUNT count]", .tips = "nondeterministic_output"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ZsetCommands() { return kRows; }

}  // namespace cairn
