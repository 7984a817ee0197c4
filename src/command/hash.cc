// SPDX-License-Identifier: BSD-3-Clause
//
// Hashes, field by field: HSET, HGET and similar commands. Walks over a hash are in hash_walk.cc.
#include "types/hash.h"

#include <cmath>

#include "base/number.h"
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/named.h"

namespace cairn {
namespace {

void ReplyValue(FieldValue& value, Reply& reply) {
  if (value) {
    reply.Bulk(value.text());
  } else {
    reply.Null();
  }
}

// Sets the remaining pairs of the arguments and returns the number of new fields.
Result<int64_t> SetPairs(CommandContext& ctx, Args& args) {
  Named<Hash> hash(ctx, args.Bytes());
  if (args.left() % 2 != 0) return Status::Reply(errors::WrongArity(ctx.command().full_name()));
  TRY(hash.Open());
  const uint64_t pairs = args.left() / 2;
  int64_t added = 0;
  while (args.More()) {
    const std::string_view field = args.Bytes();
    added += TRY(hash.Set(field, args.Bytes()));
  }
  TRY(hash.Save());
  ctx.Changed(kHashEvent, "hset", hash.key.bytes(), pairs);
  return added;
}

// HSET key field value [field value ...]
Status HSet(CommandContext& ctx, Args& args, Reply& reply) {
  reply.Integer(TRY(SetPairs(ctx, args)));
  return Ok();
}

// HMSET key field value [field value ...]
Status HMSet(CommandContext& ctx, Args& args, Reply& reply) {
  TRY(SetPairs(ctx, args));
  reply.Ok();
  return Ok();
}

// HSETNX key field value
Status HSetNx(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Hash> hash(ctx, args.Bytes());
  const std::string_view field = args.Bytes();
  TRY(hash.Open());
  if (TRY(hash.Get(field))) {
    reply.Integer(0);
    return Ok();
  }
  TRY(hash.Set(field, args.Bytes()));
  TRY(hash.Save());
  ctx.Changed(kHashEvent, "hset", hash.key.bytes());
  reply.Integer(1);
  return Ok();
}

// HGET key field
Status HGet(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Hash> hash(ctx, args.Bytes());
  TRY(hash.Open());
  FieldValue value = TRY(hash.Get(args.Bytes()));
  ReplyValue(value, reply);
  return Ok();
}

// HMGET key field [field ...]
Status HMGet(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Hash> hash(ctx, args.Bytes());
  TRY(hash.Open());
  reply.Array(args.left());
  while (args.More()) {
    FieldValue value = TRY(hash.Get(args.Bytes()));
    ReplyValue(value, reply);
  }
  return Ok();
}

// HDEL key field [field ...]
Status HDel(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Hash> hash(ctx, args.Bytes());
  TRY(hash.Open());
  int64_t removed = 0;
  while (args.More() && hash.size() > 0) removed += TRY(hash.Remove(args.Bytes()));
  const bool is_empty = hash.size() == 0;
  TRY(hash.Save());
  if (removed > 0) {
    ctx.Shrunk(kHashEvent, "hdel", hash.key.bytes(), static_cast<uint64_t>(removed), is_empty);
  } else if (is_empty && hash.exists()) {
    ctx.Emit(kGenericEvent, "del", hash.key.bytes());  // all remaining fields had expired
  }
  reply.Integer(removed);
  return Ok();
}

// HEXISTS key field
Status HExists(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Hash> hash(ctx, args.Bytes());
  TRY(hash.Open());
  reply.Integer(TRY(hash.Get(args.Bytes())) ? 1 : 0);
  return Ok();
}

// HLEN key
Status HLen(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Hash> hash(ctx, args.Bytes());
  TRY(hash.Open());
  reply.Integer(static_cast<int64_t>(hash.size()));
  return Ok();
}

// HSTRLEN key field
Status HStrLen(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Hash> hash(ctx, args.Bytes());
  TRY(hash.Open());
  FieldValue value = TRY(hash.Get(args.Bytes()));
  reply.Integer(value ? static_cast<int64_t>(value.text().size()) : 0);
  return Ok();
}

// HINCRBY key field increment
Status HIncrBy(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const std::string_view field = args.Bytes();
  const int64_t increment = args.Integer();
  TRY(args.Done());

  Hash hash(keys, key);
  TRY(hash.Open());
  int64_t number = 0;
  if (FieldValue old = TRY(hash.Get(field))) {
    const auto parsed = ParseInt64(old.text());
    if (!parsed) return Status::Reply("ERR hash value is not an integer");
    number = *parsed;
  }
  if (__builtin_add_overflow(number, increment, &number)) return Status::Reply(errors::kOverflow);
  std::string text;
  AppendInt64(text, number);
  TRY(hash.Set(field, text, Hash::Deadline::kKeep));
  TRY(hash.Save());
  ctx.Changed(kHashEvent, "hincrby", key.bytes());
  reply.Integer(number);
  return Ok();
}

// HINCRBYFLOAT key field increment
Status HIncrByFloat(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const std::string_view field = args.Bytes();
  const auto increment = ParseLongDouble(args.Bytes());
  if (!increment) return Status::Reply(errors::kNotAFloat);
  if (!std::isfinite(*increment)) return Status::Reply("ERR value is NaN or Infinity");

  Hash hash(keys, key);
  TRY(hash.Open());
  long double number = 0;
  if (FieldValue old = TRY(hash.Get(field))) {
    const auto parsed = ParseLongDouble(old.text());
    if (!parsed) return Status::Reply("ERR hash value is not a float");
    number = *parsed;
  }
  number += *increment;
  if (!std::isfinite(number)) return Status::Reply(errors::kNanOrInfinity);
  const std::string text = FormatLongDouble(number);
  TRY(hash.Set(field, text, Hash::Deadline::kKeep));
  TRY(hash.Save());
  ctx.Changed(kHashEvent, "hincrbyfloat", key.bytes());
  // Floating point sums may differ on another machine.
  if (hash.has_deadlines()) {
    ctx.Replicate({"HSETEX", key.bytes(), "KEEPTTL", "FIELDS", "1", field, text});
  } else {
    ctx.Replicate({"HSET", key.bytes(), field, text});
  }
  reply.Bulk(text);
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "hset", .arity = -4, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kUpdate)}, .run = HSet,
     .group = Group::kHash, .since = "2.0.0", .summary = "Sets fields of a hash.",
     .complexity = "O(N) with N the number of fields given", .syntax = "key field value [field value ...]"},
    {.name = "hmset", .arity = -4, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kUpdate)}, .run = HMSet,
     .group = Group::kHash, .since = "2.0.0", .summary = "Sets fields of a hash; HSET also returns how many are new.",
     .complexity = "O(N) with N the number of fields given", .syntax = "key field value [field value ...]",
     .deprecated_since = "4.0.0", .replaced_by = "`HSET` with multiple field-value pairs"},
    {.name = "hsetnx", .arity = 4, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kInsert)}, .run = HSetNx,
     .group = Group::kHash, .since = "2.0.0", .summary = "Sets a field of a hash if it does not exist.",
     .complexity = "O(1)", .syntax = "key field value"},
    {.name = "hget", .arity = 3, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)}, .run = HGet,
     .group = Group::kHash, .since = "2.0.0", .summary = "Returns the value of one field of a hash.",
     .complexity = "O(1)", .syntax = "key field"},
    {.name = "hmget", .arity = -3, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)}, .run = HMGet,
     .group = Group::kHash, .since = "2.0.0", .summary = "Returns the values of several fields of a hash.",
     .complexity = "O(N) with N the number of fields asked for", .syntax = "key field [field ...]"},
    {.name = "hdel", .arity = -3, .flags = kWrite | kFast, .keys = {OneKey(kRW | kDelete)}, .run = HDel,
     .group = Group::kHash, .since = "2.0.0", .summary = "Deletes fields of a hash, and the key with its last field.",
     .complexity = "O(N) with N the number of fields given", .syntax = "key field [field ...]"},
    {.name = "hexists", .arity = 3, .flags = kReadonly | kFast, .keys = {OneKey(kRO)}, .run = HExists,
     .group = Group::kHash, .since = "2.0.0", .summary = "Returns whether a hash has a field.", .complexity = "O(1)",
     .syntax = "key field"},
    {.name = "hlen", .arity = 2, .flags = kReadonly | kFast, .keys = {OneKey(kRO)}, .run = HLen, .group = Group::kHash,
     .since = "2.0.0", .summary = "Returns the number of fields of a hash.", .complexity = "O(1)", .syntax = "key"},
    {.name = "hstrlen", .arity = 3, .flags = kReadonly | kFast, .keys = {OneKey(kRO)}, .run = HStrLen,
     .group = Group::kHash, .since = "3.2.0", .summary = "Returns the length in bytes of one field's value.",
     .complexity = "O(1)", .syntax = "key field"},
    {.name = "hincrby", .arity = 4, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kAccess | kUpdate)},
     .run = HIncrBy, .group = Group::kHash, .since = "2.0.0",
     .summary = "Adds an integer to the value of a field of a hash.", .complexity = "O(1)",
     .syntax = "key field increment"},
    {.name = "hincrbyfloat", .arity = 4, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kAccess | kUpdate)},
     .run = HIncrByFloat, .group = Group::kHash, .since = "2.6.0",
     .summary = "Adds a floating point number to the value of a field of a hash.", .complexity = "O(1)",
     .syntax = "key field increment"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> HashCommands() { return kRows; }

}  // namespace cairn
