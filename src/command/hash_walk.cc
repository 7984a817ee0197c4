// SPDX-License-Identifier: BSD-3-Clause
//
// Hashes as a whole and by chance: HGETALL, HKEYS, HVALS, HSCAN, HRANDFIELD.
//
// A packed hash answers each of them from its one record. A spread one is walked in the order of
// its rows; single random fields are found by their rank.
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/sample_count.h"
#include "command/scan_options.h"
#include "types/hash.h"
#include "types/sample.h"

namespace cairn {
namespace {

// HGETALL key
Status HGetAll(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  Hash hash(keys, key);
  TRY(hash.Open());
  reply.Map(hash.size());
  return hash.ForEach([&reply](std::string_view field, std::string_view value) -> Result<bool> {
    reply.Bulk(field);
    reply.Bulk(value);
    return true;
  });
}

// HKEYS key
Status HKeys(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  Hash hash(keys, key);
  TRY(hash.Open());
  reply.Array(hash.size());
  return hash.ForEach([&reply](std::string_view field, std::string_view) -> Result<bool> {
    reply.Bulk(field);
    return true;
  });
}

// HVALS key
Status HVals(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  Hash hash(keys, key);
  TRY(hash.Open());
  reply.Array(hash.size());
  return hash.ForEach([&reply](std::string_view, std::string_view value) -> Result<bool> {
    reply.Bulk(value);
    return true;
  });
}

// HSCAN key cursor [MATCH pattern] [COUNT count]
Status HScan(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const uint64_t cursor = TRY(ParseScanCursor(args));
  Hash hash(keys, key);
  TRY(hash.Open());
  if (!hash.exists()) {
    ReplyScanCursor(reply, 0);
    reply.Array(0);
    return Ok();
  }
  const ScanOptions options = TRY(ParseScanOptions(args, /*keys=*/false));
  std::string pairs;
  Reply found(pairs, reply.protocol());
  size_t shown = 0;
  const auto visit = [&](std::string_view field, std::string_view value) -> Result<bool> {
    if (!options.Matches(field)) return true;
    found.Bulk(field);
    found.Bulk(value);
    shown += 2;
    return true;
  };
  ReplyScanCursor(reply, TRY(hash.Scan(cursor, options.count, visit)));
  reply.Array(shown);
  reply.Raw(pairs);
  return Ok();
}

// Replies with fields, or with fields and values: flat in RESP2, in pairs in RESP3.
class FieldReplies {
 public:
  FieldReplies(Reply& reply, bool with_values) : reply_(reply), with_values_(with_values) {}

  const Reply& reply() const { return reply_; }
  bool with_values() const { return with_values_; }
  void Begin(uint64_t count) {
    reply_.Array(with_values_ && reply_.protocol() == 2 ? count * 2 : count);
  }
  void Add(std::string_view field, std::string_view value) {
    if (with_values_ && reply_.protocol() == 3) reply_.Array(2);
    reply_.Bulk(field);
    if (with_values_) reply_.Bulk(value);
  }

 private:
  Reply& reply_;
  const bool with_values_;
};

Status ReplyDistinct(const Hash& hash, uint64_t count, Random& random, FieldReplies& replies) {
  const auto ranks = SampleRanks(hash.size(), count, random);
  replies.Begin(ranks.size());
  return hash.ForEachRank(
      ranks, replies.with_values(),
      [&replies](std::string_view field, std::string_view value) -> Result<bool> {
        replies.Add(field, value);
        return true;
      });
}

// Every draw is from all fields, whatever came before.
Status ReplyDraws(const Hash& hash, const SampleCount& sample, CommandContext& ctx,
                  FieldReplies& replies) {
  replies.Begin(sample.count);
  std::vector<FieldPair> pairs;
  if (sample.ReadsAll(hash.size())) {
    pairs.reserve(hash.size());
    TRY(hash.ForEach([&pairs](std::string_view field, std::string_view value) -> Result<bool> {
      pairs.push_back({std::string(field), std::string(value)});
      return true;
    }));
  }
  for (uint64_t i = 0; i < sample.count; ++i) {
    TRY(ctx.txn().Spend(1));
    TRY(CheckDraws(replies.reply()));
    const uint64_t rank = ctx.random().Below(hash.size());
    if (!pairs.empty()) {
      replies.Add(pairs[rank].field, pairs[rank].value);
      continue;
    }
    const FieldPair pair = TRY(hash.At(rank, replies.with_values()));
    replies.Add(pair.field, pair.value);
  }
  return Ok();
}

Result<bool> ParseWithValues(Args& args, const SampleCount& sample) {
  const bool with_values = args.Keyword("withvalues");
  TRY(args.Done());
  if (with_values && sample.count > INT64_MAX / 2)
    return Status::Reply("ERR value is out of range");
  return with_values;
}

// HRANDFIELD key: one field.
Status ReplyRandomField(CommandContext& ctx, const Key& key, Keyspace& keys, Reply& reply) {
  Hash hash(keys, key);
  TRY(hash.Open());
  if (hash.exists()) {
    reply.Bulk(TRY(hash.At(ctx.random().Below(hash.size()), false)).field);
  } else {
    reply.Null();
  }
  return Ok();
}

// HRANDFIELD key [count [WITHVALUES]]
Status HRandField(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  if (!args.More()) return ReplyRandomField(ctx, key, keys, reply);
  const SampleCount sample = TRY(ParseSampleCount(args));
  FieldReplies replies(reply, TRY(ParseWithValues(args, sample)));
  Hash hash(keys, key);
  TRY(hash.Open());
  if (!hash.exists() || sample.count == 0) {
    reply.Array(0);
    return Ok();
  }
  if (!sample.distinct) return ReplyDraws(hash, sample, ctx, replies);
  return ReplyDistinct(hash, std::min(sample.count, hash.size()), ctx.random(), replies);
}

constexpr CommandRow kRows[] = {
    {.name = "hgetall",
     .arity = 2,
     .flags = kReadonly,
     .keys = {OneKey(kRO | kAccess)},
     .run = HGetAll,
     .group = Group::kHash,
     .since = "2.0.0",
     .summary = "Returns every field of a hash with its value.",
     .complexity = "O(N) with N the number of fields",
     .syntax = "key",
     .tips = "nondeterministic_output_order"},
    {.name = "hkeys",
     .arity = 2,
     .flags = kReadonly,
     .keys = {OneKey(kRO | kAccess)},
     .run = HKeys,
     .group = Group::kHash,
     .since = "2.0.0",
     .summary = "Returns every field of a hash.",
     .complexity = "O(N) with N the number of fields",
     .syntax = "key",
     .tips = "nondeterministic_output_order"},
    {.name = "hvals",
     .arity = 2,
     .flags = kReadonly,
     .keys = {OneKey(kRO | kAccess)},
     .run = HVals,
     .group = Group::kHash,
     .since = "2.0.0",
     .summary = "Returns every value of a hash.",
     .complexity = "O(N) with N the number of fields",
     .syntax = "key",
     .tips = "nondeterministic_output_order"},
    {.name = "hscan",
     .arity = -3,
     .flags = kReadonly,
     .keys = {OneKey(kRO | kAccess)},
     .run = HScan,
     .group = Group::kHash,
     .since = "2.8.0",
     .summary = "Returns some of a hash's fields and values, and a cursor to go on from.",
     .complexity = "O(N) with N the count asked for",
     .syntax = "key cursor [MATCH pattern] [COUNT count]",
     .tips = "nondeterministic_output"},
    {.name = "hrandfield",
     .arity = -2,
     .flags = kReadonly,
     .keys = {OneKey(kRO | kAccess)},
     .run = HRandField,
     .group = Group::kHash,
     .since = "6.2.0",
     .summary = "Returns random fields of a hash, with their values if asked to.",
     .complexity = "O(N log M) with N the number of fields returned, M that of the hash",
     .syntax = "key [count [WITHVALUES]]",
     .tips = "nondeterministic_output"},
};

}  // namespace

std::span<const CommandRow> HashWalkCommands() { return kRows; }

}  // namespace cairn
