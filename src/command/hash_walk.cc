// SPDX-License-Identifier: BSD-3-Clause
//
// Whole hashes and random fields: HGETALL, HKEYS, HVALS, HSCAN, HRANDFIELD.
//
// A packed hash is read from its one record. A spread hash is walked in row order; random fields are found by rank.
#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

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
  Reply found(pairs, reply);
  size_t shown = 0;
  const auto visit = [&](std::string_view field, std::string_view value) -> Result<bool> {
    if (!TRY(options.Matches(ctx.txn().command(), field))) return true;
    found.Bulk(field);
    if (!options.no_values) found.Bulk(value);
    shown += options.no_values ? 1 : 2;
    return true;
  };
  ReplyScanCursor(reply, TRY(hash.Scan(cursor, options.count, visit)));
  reply.Array(shown);
  reply.Append(found);
  return Ok();
}

// Replies with fields, or with fields and values: flat in RESP2, as pairs in RESP3.
class FieldReplies {
 public:
  FieldReplies(Reply& reply, bool with_values) : reply_(reply), with_values_(with_values) {}

  Reply& reply() { return reply_; }
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

// The number of fields that have not expired.
Result<uint64_t> CountLive(const Hash& hash) {
  if (!hash.MayHaveDue()) return hash.size();
  uint64_t live = 0;
  TRY(hash.ForEach([&live](std::string_view, std::string_view) -> Result<bool> {
    ++live;
    return true;
  }));
  return live;
}

// Visits the fields at `ranks` among those that have not expired, ascending and distinct. Without `with_values` the
// visitor may get empty values.
Status ForEachLive(const Hash& hash, std::span<const uint64_t> ranks, bool with_values, ElementVisitor visit) {
  if (!hash.MayHaveDue()) return hash.ForEachRank(ranks, with_values, visit);
  RankPicker picker(ranks, visit);  // the hash's own ranks also count expired fields
  return hash.ForEach(std::ref(picker));
}

Status ReplyDistinct(const Hash& hash, uint64_t count, CommandContext& ctx, FieldReplies& replies) {
  const uint64_t size = TRY(CountLive(hash));
  TRY(ctx.txn().command().Spend(std::min(count, size)));
  const auto ranks = SampleRanks(size, std::min(count, size), ctx.random());
  replies.Begin(ranks.size());
  return ForEachLive(hash, ranks, replies.with_values(),
                     [&replies](std::string_view field, std::string_view value) -> Result<bool> {
                       replies.Add(field, value);
                       return true;
                     });
}

// Reads the fields at `ranks`, ascending and distinct, which the reply is about to repeat.
Result<std::vector<FieldPair>> ReadDrawn(const Hash& hash, std::span<const uint64_t> ranks, FieldReplies& replies) {
  std::vector<FieldPair> pairs;
  size_t bytes = 0;
  TRY(ForEachLive(hash, ranks, replies.with_values(),
                  [&](std::string_view field, std::string_view value) -> Result<bool> {
                    if (!replies.with_values()) value = {};
                    bytes += field.size() + value.size();
                    TRY(CheckDraws(replies.reply(), bytes));
                    pairs.push_back({std::string(field), std::string(value)});
                    return true;
                  }));
  if (pairs.size() != ranks.size()) return Status::Corruption("hash: fewer fields than an earlier walk found");
  return pairs;
}

// Replies with draws in batches. A batch walks over the hash once, and keeps only the fields that it draws.
Status ReplyDrawsByWalk(const Hash& hash, uint64_t count, CommandContext& ctx, FieldReplies& replies) {
  constexpr uint64_t kLeastBatch = 1 << 20;
  constexpr size_t kLeastBytes = 6;  // of a field in the reply
  const uint64_t size = TRY(CountLive(hash));
  replies.Begin(size > 0 ? count : 0);
  while (count > 0 && size > 0) {
    const uint64_t batch = std::min(count, std::max(size / 16, kLeastBatch));
    TRY(ctx.txn().command().Spend(batch));
    TRY(CheckDraws(replies.reply(), batch * kLeastBytes));
    std::vector<uint64_t> draws(batch);
    for (uint64_t& rank : draws) rank = ctx.random().Below(size);
    std::vector<uint64_t> ranks = draws;
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    const std::vector<FieldPair> pairs = TRY(ReadDrawn(hash, ranks, replies));
    for (const uint64_t rank : draws) {
      TRY(CheckDraws(replies.reply()));
      const auto at = std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin();
      const FieldPair& pair = pairs[static_cast<size_t>(at)];
      replies.Add(pair.field, pair.value);
    }
    count -= batch;
  }
  return Ok();
}

// Each draw is from all fields, independent of earlier ones.
Status ReplyDraws(const Hash& hash, const SampleCount& sample, CommandContext& ctx, FieldReplies& replies) {
  if (hash.MayHaveDue() || sample.ReadsAll(hash.size())) return ReplyDrawsByWalk(hash, sample.count, ctx, replies);
  replies.Begin(sample.count);
  for (uint64_t i = 0; i < sample.count; ++i) {
    TRY(ctx.txn().command().Spend(1));
    TRY(CheckDraws(replies.reply()));
    const FieldPair pair = TRY(hash.At(ctx.random().Below(hash.size()), replies.with_values()));
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
  } else if (const uint64_t live = TRY(CountLive(hash)); live > 0) {
    const uint64_t rank = ctx.random().Below(live);
    return ForEachLive(hash, {&rank, 1}, false, [&reply](std::string_view field, std::string_view) -> Result<bool> {
      reply.Bulk(field);
      return true;
    });
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
