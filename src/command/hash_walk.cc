// SPDX-License-Identifier: BSD-3-Clause
//
// Whole hashes and random fields: HGETALL, HKEYS, HVALS, HSCAN, HRANDFIELD.
//
// A packed hash is read from its one record. A spread hash is walked in row order; random fields are found by rank.
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/fixed.h"
#include "command/named.h"
#include "command/sample_count.h"
#include "command/scan_options.h"
#include "types/hash.h"
#include "types/sample.h"

namespace cairn {
namespace {

// The parts of each pair that HGETALL, HKEYS and HVALS return.
enum PairParts : unsigned char { kFields = 1, kValues = 2 };

// HGETALL, HKEYS and HVALS.
Status ReplyAll(CommandContext& ctx, Args& args, Reply& reply, unsigned parts) {
  Named<Hash> hash(ctx, args.Bytes());
  TRY(hash.Open());
  const bool whole = parts == (kFields | kValues);
  const bool counts_first = !hash.MayHaveDue();  // else the number is known only afterwards
  const size_t mark = reply.Later();
  if (counts_first && whole) reply.Map(hash.size());
  if (counts_first && !whole) reply.Array(hash.size());
  size_t seen = 0;
  TRY(hash.ForEach([&](std::string_view field, std::string_view value) -> Result<bool> {
    ++seen;
    if (parts & kFields) reply.Bulk(field);
    if (parts & kValues) reply.Bulk(value);
    return true;
  }));
  if (!counts_first && whole) reply.FinishMap(mark, seen);
  if (!counts_first && !whole) reply.FinishArray(mark, seen);
  return Ok();
}

// HSCAN key cursor [MATCH pattern] [COUNT count] [NOVALUES]
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
  const ScanOptions options = TRY(ParseScanOptions(args, ScanOf::kFields));
  std::string pairs;
  Reply found(pairs, reply.protocol(), reply.room());
  size_t shown = 0;
  const auto visit = [&](std::string_view field, std::string_view value) -> Result<bool> {
    if (!options.Matches(field)) return true;
    found.Bulk(field);
    if (!options.no_values) found.Bulk(value);
    shown += options.no_values ? 1 : 2;
    return true;
  };
  ReplyScanCursor(reply, TRY(hash.Scan(cursor, options.count, visit)));
  reply.Array(shown);
  reply.Raw(pairs);
  return Ok();
}

// Replies with fields, or with fields and values: flat in RESP2, as pairs in RESP3.
class FieldReplies {
 public:
  FieldReplies(Reply& reply, bool with_values) : reply_(reply), with_values_(with_values) {}

  const Reply& reply() const { return reply_; }
  bool with_values() const { return with_values_; }
  void Begin(uint64_t count) { reply_.Array(with_values_ && reply_.protocol() == 2 ? count * 2 : count); }
  void Add(std::string_view field, std::string_view value) {
    if (with_values_ && reply_.protocol() == 3) reply_.Array(2);
    reply_.Bulk(field);
    if (with_values_) reply_.Bulk(value);
  }

 private:
  Reply& reply_;
  const bool with_values_;
};

Result<std::vector<FieldPair>> ReadPairs(const Hash& hash) {
  std::vector<FieldPair> pairs;
  TRY(hash.ForEach([&pairs](std::string_view field, std::string_view value) -> Result<bool> {
    pairs.push_back({std::string(field), std::string(value)});
    return true;
  }));
  return pairs;
}

Status ReplyDistinct(const Hash& hash, uint64_t count, CommandContext& ctx, FieldReplies& replies) {
  Random& random = ctx.random();
  if (hash.MayHaveDue()) {  // ranks also count expired fields
    const std::vector<FieldPair> pairs = TRY(ReadPairs(hash));
    const auto chosen = SampleRanks(pairs.size(), std::min<uint64_t>(count, pairs.size()), random);
    replies.Begin(chosen.size());
    for (const uint64_t rank : chosen) replies.Add(pairs[rank].field, pairs[rank].value);
    return Ok();
  }
  TRY(ctx.txn().command().Spend(std::min(count, hash.size())));
  const auto ranks = SampleRanks(hash.size(), std::min(count, hash.size()), random);
  replies.Begin(ranks.size());
  return hash.ForEachRank(ranks, replies.with_values(),
                          [&replies](std::string_view field, std::string_view value) -> Result<bool> {
                            replies.Add(field, value);
                            return true;
                          });
}

// Each draw is from all fields, independent of earlier ones.
Status ReplyDraws(const Hash& hash, const SampleCount& sample, CommandContext& ctx, FieldReplies& replies) {
  const bool reads_all = hash.MayHaveDue() || sample.ReadsAll(hash.size());
  const std::vector<FieldPair> pairs = reads_all ? TRY(ReadPairs(hash)) : std::vector<FieldPair>();
  const uint64_t size = reads_all ? pairs.size() : hash.size();
  replies.Begin(size > 0 ? sample.count : 0);
  for (uint64_t i = 0; i < sample.count && size > 0; ++i) {
    TRY(ctx.txn().command().Spend(1));
    TRY(CheckDraws(replies.reply()));
    const uint64_t rank = ctx.random().Below(size);
    if (reads_all) {
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
  if (with_values && sample.count > INT64_MAX / 2) return Status::Reply("ERR value is out of range");
  return with_values;
}

// HRANDFIELD key: one field.
Status ReplyRandomField(CommandContext& ctx, const Key& key, Keyspace& keys, Reply& reply) {
  Hash hash(keys, key);
  TRY(hash.Open());
  if (!hash.exists()) {
    reply.Null();
  } else if (!hash.MayHaveDue()) {
    reply.Bulk(TRY(hash.At(ctx.random().Below(hash.size()), false)).field);
  } else if (const auto pairs = TRY(ReadPairs(hash)); !pairs.empty()) {
    reply.Bulk(pairs[ctx.random().Below(pairs.size())].field);
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
  return ReplyDistinct(hash, sample.count, ctx, replies);
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "hgetall", .arity = 2, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyAll, kFields | kValues>, .group = Group::kHash, .since = "2.0.0",
     .summary = "Returns all fields of a hash and their values.", .complexity = "O(N) with N the number of fields",
     .syntax = "key", .tips = "nondeterministic_output_order"},
    {.name = "hkeys", .arity = 2, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = Fixed<ReplyAll, kFields>,
     .group = Group::kHash, .since = "2.0.0", .summary = "Returns all fields of a hash.",
     .complexity = "O(N) with N the number of fields", .syntax = "key", .tips = "nondeterministic_output_order"},
    {.name = "hvals", .arity = 2, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = Fixed<ReplyAll, kValues>,
     .group = Group::kHash, .since = "2.0.0", .summary = "Returns all values of a hash.",
     .complexity = "O(N) with N the number of fields", .syntax = "key", .tips = "nondeterministic_output_order"},
    {.name = "hscan", .arity = -3, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = HScan,
     .group = Group::kHash, .since = "2.8.0",
     .summary = "Returns some fields of a hash with their values, and the next cursor.",
     .complexity = "O(N) with N the count asked for", .syntax = "key cursor [MATCH pattern] [COUNT count] [NOVALUES]",
     .tips = "nondeterministic_output"},
    {.name = "hrandfield", .arity = -2, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = HRandField,
     .group = Group::kHash, .since = "6.2.0",
     .summary = "Returns random fields of a hash, optionally with their values.",
     .complexity = "O(N log M) with N the number of fields returned, M that of the hash",
     .syntax = "key [count [WITHVALUES]]", .tips = "nondeterministic_output"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> HashWalkCommands() { return kRows; }

}  // namespace cairn
