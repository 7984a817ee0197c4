// SPDX-License-Identifier: BSD-3-Clause
//
// Parts of strings: counting, appending, overwriting, ranges, and LCS, which compares two strings.
//
// A string edited in place is reported as raw by OBJECT ENCODING, as in Redis (types/string.h).
#include <cmath>
#include <string>

#include "base/number.h"
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/fixed.h"
#include "types/edited_string.h"
#include "types/lcs.h"
#include "types/string.h"

namespace cairn {
namespace {

// Adds `delta` to the integer under the first key and replies with the sum.
Status Add(CommandContext& ctx, Args& args, Reply& reply, int64_t delta) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args[1]);
  const KeyEntry entry = TRY(keys.FindTyped(key, Type::kString));
  int64_t value = TRY(ReadInteger(entry));
  if (__builtin_add_overflow(value, delta, &value)) return Status::Reply(errors::kOverflow);
  TRY(WriteInteger(keys, key, entry, value, entry.expire_ms()));
  ctx.Changed(kStringEvent, "incrby", key.bytes());
  reply.Integer(value);
  return Ok();
}

// INCRBY key increment
Status IncrBy(CommandContext& ctx, Args& args, Reply& reply) {
  args.Skip(1);
  const int64_t delta = args.Integer();
  TRY(args.Done());
  return Add(ctx, args, reply, delta);
}

// DECRBY key decrement
Status DecrBy(CommandContext& ctx, Args& args, Reply& reply) {
  args.Skip(1);
  const int64_t delta = args.Integer();
  TRY(args.Done());
  if (delta == INT64_MIN) return Status::Reply("ERR decrement would overflow");
  return Add(ctx, args, reply, -delta);
}

// INCRBYFLOAT key increment
Status IncrByFloat(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const KeyEntry entry = TRY(keys.FindTyped(key, Type::kString));
  const StringText text = TRY(ReadNumberText(keys, key, entry));
  const auto value = entry.exists() ? ParseLongDouble(text.view()) : 0;
  const auto delta = ParseLongDouble(args.Bytes());
  if (!value || !delta) return Status::Reply(errors::kNotAFloat);
  const long double sum = *value + *delta;
  if (std::isnan(sum) || std::isinf(sum)) return Status::Reply(errors::kNanOrInfinity);
  const std::string digits = FormatLongDouble(sum);
  TRY(WriteBytes(keys, key, entry, digits, entry.expire_ms(), Origin::kWhole));
  ctx.Changed(kStringEvent, "incrbyfloat", key.bytes());
  ctx.Replicate({"SET", key.bytes(), digits, "KEEPTTL"});  // floating point sums may differ on another machine
  reply.Bulk(digits);
  return Ok();
}

// Refuses a string that would exceed proto-max-bulk-len.
Status CheckSize(CommandContext& ctx, uint64_t size, uint64_t added) {
  const auto limit = static_cast<uint64_t>(ctx.limits().proto_max_bulk_len.load(std::memory_order_relaxed));
  if (size > limit || added > limit - size) return Status::Reply(errors::kStringTooLong);
  return Ok();
}

// APPEND key value
Status Append(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const std::string_view tail = args.Bytes();
  const KeyEntry entry = TRY(keys.FindTyped(key, Type::kString));
  if (!entry.exists()) {
    TRY(WriteText(keys, key, entry, tail, kNoExpiry));
    ctx.Changed(kStringEvent, "append", key.bytes());
    reply.Integer(static_cast<int64_t>(tail.size()));
    return Ok();
  }
  EditedString text = TRY(EditedString::Open(keys, key, entry));
  TRY(CheckSize(ctx, text.size(), tail.size()));
  TRY(text.Write(text.size(), tail));
  TRY(text.Save());
  ctx.Changed(kStringEvent, "append", key.bytes());
  reply.Integer(static_cast<int64_t>(text.size()));
  return Ok();
}

// SETRANGE key offset value
Status SetRange(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const int64_t offset = args.Integer();
  const std::string_view value = args.Bytes();
  TRY(args.Done());
  if (offset < 0) return Status::Reply("ERR offset is out of range");
  const KeyEntry entry = TRY(keys.FindTyped(key, Type::kString));
  if (value.empty()) {  // a missing key stays missing
    reply.Integer(static_cast<int64_t>(TRY(TextSize(entry))));
    return Ok();
  }
  TRY(CheckSize(ctx, static_cast<uint64_t>(offset), value.size()));
  EditedString text = TRY(EditedString::Open(keys, key, entry));
  TRY(text.Write(static_cast<uint64_t>(offset), value));
  TRY(text.Save());
  ctx.Changed(kStringEvent, "setrange", key.bytes());
  reply.Integer(static_cast<int64_t>(text.size()));
  return Ok();
}

// A range of a string's bytes.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t size = 0;
};

// Converts `first` and `last`, both inclusive and negative from the end, to a range of `size` bytes.
ByteRange Settle(int64_t size, int64_t first, int64_t last) {
  if (first < 0 && last < 0 && first > last) return {};
  if (first < 0) first = std::max<int64_t>(size + first, 0);
  if (last < 0) last = std::max<int64_t>(size + last, 0);
  last = std::min(last, size - 1);
  if (first > last) return {};
  return {static_cast<uint64_t>(first), static_cast<uint64_t>(last - first + 1)};
}

// GETRANGE key start end, also known as SUBSTR
Status GetRange(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const int64_t first = args.Integer();
  const int64_t last = args.Integer();
  TRY(args.Done());
  const KeyEntry entry = TRY(keys.FindTyped(key, Type::kString));
  const ByteRange range = Settle(static_cast<int64_t>(TRY(TextSize(entry))), first, last);
  if (!reply.Fits(range.size)) return Ok();
  reply.Bulk(TRY(ReadPart(keys, key, entry, range.offset, range.size)).view());
  return Ok();
}

// STRLEN key
Status StrLen(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const KeyEntry entry = TRY(keys.FindTyped(key, Type::kString));
  reply.Integer(static_cast<int64_t>(TRY(TextSize(entry))));
  return Ok();
}

struct LcsOptions {
  bool length = false;         // LEN
  bool indexes = false;        // IDX
  bool match_lengths = false;  // WITHMATCHLEN
  int64_t min_match = 0;       // MINMATCHLEN
};

Result<LcsOptions> ParseLcsOptions(Args& args) {
  LcsOptions options;
  while (args.More()) {
    if (args.Keyword("idx")) {
      options.indexes = true;
    } else if (args.Keyword("len")) {
      options.length = true;
    } else if (args.Keyword("withmatchlen")) {
      options.match_lengths = true;
    } else if (args.left() >= 2 && args.Keyword("minmatchlen")) {
      options.min_match = args.Integer();
    } else {
      args.Fail(errors::kSyntax);
    }
  }
  TRY(args.Done());
  if (options.indexes && options.length) {
    return Status::Reply("ERR If you want both the length and indexes, please just use IDX.");
  }
  return options;
}

// Charges the work budget for LCS's table, which grows with the product of both sizes. Redis's limit on the size
// applies, so the same calls are refused. A cell costs far less than a row, hence the division.
Status PayForTable(CommandContext& ctx, uint64_t a_size, uint64_t b_size) {
  constexpr size_t kRedisCellBytes = 4;
  constexpr size_t kCellsPerStep = 512;
  if (a_size >= UINT32_MAX - 1 || b_size >= UINT32_MAX - 1) {
    return Status::Reply("ERR String too long for LCS");
  }
  const size_t cells = (a_size + 1) * (b_size + 1);
  const auto limit = static_cast<size_t>(ctx.limits().proto_max_bulk_len.load(std::memory_order_relaxed));
  if (cells > limit / kRedisCellBytes) {
    return Status::Reply("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
  }
  return ctx.txn().command().Spend(cells / kCellsPerStep);
}

void ReplyRuns(const CommonSubsequence& common, const LcsOptions& options, Reply& reply) {
  reply.Map(2);
  reply.Bulk("matches");
  const size_t mark = reply.Later();
  size_t shown = 0;
  for (const CommonRun& run : common.runs) {
    if (run.size() < options.min_match) continue;
    ++shown;
    reply.Array(options.match_lengths ? 3 : 2);
    reply.Array(2);
    reply.Integer(run.a_first);
    reply.Integer(run.a_last);
    reply.Array(2);
    reply.Integer(run.b_first);
    reply.Integer(run.b_last);
    if (options.match_lengths) reply.Integer(run.size());
  }
  reply.FinishArray(mark, shown);
  reply.Bulk("len");
  reply.Integer(static_cast<int64_t>(common.text.size()));
}

// LCS key1 key2 [LEN] [IDX] [MINMATCHLEN min-match-len] [WITHMATCHLEN]
Status Lcs(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key1 = keys.Name(args.Bytes());
  const Key key2 = keys.Name(args.Bytes());
  const KeyEntry entry1 = TRY(keys.Find(key1));
  const KeyEntry entry2 = TRY(keys.Find(key2));
  for (const KeyEntry* entry : {&entry1, &entry2}) {
    if (entry->exists() && entry->type() != Type::kString) {
      return Status::Reply("ERR The specified keys must contain string values");
    }
  }
  const LcsOptions options = TRY(ParseLcsOptions(args));
  TRY(PayForTable(ctx, TRY(TextSize(entry1)), TRY(TextSize(entry2))));
  const StringText a = TRY(ReadText(keys, key1, entry1));
  const StringText b = TRY(ReadText(keys, key2, entry2));
  if (options.length) {
    reply.Integer(CommonLength(a.view(), b.view()));
    return Ok();
  }
  const CommonSubsequence common = FindCommonSubsequence(a.view(), b.view());
  if (options.indexes) {
    ReplyRuns(common, options, reply);
  } else {
    reply.Bulk(common.text);
  }
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "incr", .arity = 2, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kAccess | kUpdate)},
     .run = Fixed<Add, 1>, .group = Group::kString, .since = "1.0.0", .summary = "Adds one to the integer under a key.",
     .complexity = "O(1)", .syntax = "key"},
    {.name = "decr", .arity = 2, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kAccess | kUpdate)},
     .run = Fixed<Add, -1>, .group = Group::kString, .since = "1.0.0",
     .summary = "Subtracts one from the integer under a key.", .complexity = "O(1)", .syntax = "key"},
    {.name = "incrby", .arity = 3, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kAccess | kUpdate)},
     .run = IncrBy, .group = Group::kString, .since = "1.0.0", .summary = "Adds a number to the integer under a key.",
     .complexity = "O(1)", .syntax = "key increment"},
    {.name = "decrby", .arity = 3, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kAccess | kUpdate)},
     .run = DecrBy, .group = Group::kString, .since = "1.0.0",
     .summary = "Subtracts a number from the integer under a key.", .complexity = "O(1)", .syntax = "key decrement"},
    {.name = "incrbyfloat", .arity = 3, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kAccess | kUpdate)},
     .run = IncrByFloat, .group = Group::kString, .since = "2.6.0",
     .summary = "Adds a floating point number to the one under a key.", .complexity = "O(1)",
     .syntax = "key increment:double"},
    {.name = "append", .arity = 3, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kInsert)}, .run = Append,
     .group = Group::kString, .since = "2.0.0", .summary = "Appends bytes to the string under a key.",
     .complexity = "O(N) with N the length of the result", .syntax = "key value"},
    {.name = "setrange", .arity = 4, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kUpdate)}, .run = SetRange,
     .group = Group::kString, .since = "2.2.0",
     .summary = "Overwrites part of the string under a key; pads a short string with zero bytes.",
     .complexity = "O(N) with N the length of the result", .syntax = "key offset value"},
    {.name = "getrange", .arity = 4, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = GetRange,
     .group = Group::kString, .since = "2.4.0", .summary = "Returns part of the string under a key.",
     .complexity = "O(N) with N the length of the part", .syntax = "key start:integer end:integer"},
    {.name = "substr", .arity = 4, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = GetRange,
     .group = Group::kString, .since = "1.0.0", .summary = "Returns part of the string under a key.",
     .complexity = "O(N) with N the length of the part", .syntax = "key start:integer end:integer",
     .deprecated_since = "2.0.0", .replaced_by = "`GETRANGE`"},
    {.name = "strlen", .arity = 2, .flags = kReadonly | kFast, .keys = {OneKey(kRO)}, .run = StrLen,
     .group = Group::kString, .since = "2.2.0", .summary = "Returns the length of the string under a key.",
     .complexity = "O(1)", .syntax = "key"},
    {.name = "lcs", .arity = -3, .flags = kReadonly, .keys = {{.flags = kRO | kAccess, .begin = 1, .last = 1}},
     .run = Lcs, .group = Group::kString, .since = "7.0.0",
     .summary = "Finds the longest common subsequence of two strings.",
     .complexity = "O(N*M) with N and M the lengths of the two strings",
     .syntax = "key1 key2 [LEN] [IDX] [MINMATCHLEN min-match-len] [WITHMATCHLEN]"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> StringEditCommands() { return kRows; }

}  // namespace cairn
