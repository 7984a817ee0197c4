// SPDX-License-Identifier: BSD-3-Clause
//
// Whole strings: GET, SET and similar commands. Edits in place are in string_edit.cc.
//
// GET and SET are the most frequent commands. Both look the key up once and allocate nothing. A SET without options
// only peeks at the old value, which matters for the counts only.
#include "types/string.h"

#include <algorithm>
#include <string>
#include <vector>

#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/fixed.h"
#include "command/string_options.h"

namespace cairn {
namespace {

// Replies with a string's text, or null for a missing key.
Status ReplyText(Keyspace& keys, const Key& key, const KeyEntry& entry, Reply& reply) {
  if (!entry.exists()) {
    reply.Null();
    return Ok();
  }
  // A fragmented string may be large although no client sent that many bytes.
  if (entry.encoding() == Encoding::kSpread && !reply.Fits(TRY(TextSize(entry)))) return Ok();
  reply.Bulk(TRY(ReadText(keys, key, entry)).view());
  return Ok();
}

// Stores a value in place of any old one, of any type.
Status Overwrite(CommandContext& ctx, Keyspace& keys, std::string_view name, std::string_view value,
                 int64_t expire_ms) {
  const Key key = keys.Name(name);
  const KeyEntry entry = TRY(keys.FindReplaced(key, value.size()));
  TRY(WriteText(keys, key, entry, value, expire_ms));
  ctx.Changed(kStringEvent, "set", name);
  return Ok();
}

// Emits the event of an expiry and replicates the value with the absolute time.
void EmitDeadline(CommandContext& ctx, std::string_view name, std::string_view value, int64_t expire_ms) {
  ctx.Emit(kGenericEvent, "expire", name);
  if (ctx.is_replicated()) ctx.Replicate({"SET", name, value, "PXAT", std::to_string(expire_ms)});
}

// Replicates SET with GET or a condition that holds as SET without them.
void ReplicatePlainly(CommandContext& ctx, std::string_view name, std::string_view value, bool keep_ttl) {
  if (keep_ttl) return ctx.Replicate({"SET", name, value, "KEEPTTL"});
  ctx.Replicate({"SET", name, value});
}

// GET key
Status Get(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  return ReplyText(keys, key, TRY(keys.FindTyped(key, Type::kString)), reply);
}

// SET with options: they may need the old value's type, text or expiry.
Status SetWithOptions(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view name = args.Bytes();
  const std::string_view value = args.Bytes();
  const StringOptions options = TRY(ParseStringOptions(args, OptionsOf::kSet));
  int64_t expire_ms = kNoExpiry;
  if (options.has_expiry) expire_ms = TRY(ParseExpiry(ctx, options.expiry, options.form));

  Keyspace keys = ctx.keys();
  keys.EmitMisses(options.get);
  const Key key = keys.Name(name);
  const bool needs_string = options.get || options.condition.is_set();
  const KeyEntry entry =
      needs_string ? TRY(keys.FindTyped(key, Type::kString)) : TRY(keys.FindReplaced(key, value.size()));
  bool allowed = entry.exists() ? !options.if_missing : !options.if_exists;
  if (options.condition.is_set()) allowed = TRY(Holds(options.condition, keys, key, entry));
  if (options.get) {
    TRY(ReplyText(keys, key, entry, reply));
  } else if (allowed) {
    reply.Ok();
  } else {
    reply.Null();
  }
  if (!allowed) return Ok();
  if (options.keep_ttl) expire_ms = entry.expire_ms();
  TRY(WriteText(keys, key, entry, value, expire_ms));
  ctx.Changed(kStringEvent, "set", name);
  if (options.has_expiry) {
    EmitDeadline(ctx, name, value, expire_ms);
  } else if (needs_string) {
    ReplicatePlainly(ctx, name, value, options.keep_ttl);
  }
  return Ok();
}

// SET key value [NX | XX | IFEQ value | IFNE value | IFDEQ digest | IFDNE digest] [GET]
//   [EX s | PX ms | EXAT s | PXAT ms | KEEPTTL]
Status Set(CommandContext& ctx, Args& args, Reply& reply) {
  if (args.size() > 3) return SetWithOptions(ctx, args, reply);
  Keyspace keys = ctx.keys();
  TRY(Overwrite(ctx, keys, args[1], args[2], kNoExpiry));
  reply.Ok();
  return Ok();
}

// Only with GET or a condition on it is the old value read.
uint16_t KeyFlagsOfSet(std::span<const std::string_view> argv) {
  const auto reads_it = [](std::string_view word) {
    constexpr std::string_view kWords[] = {"get", "ifeq", "ifne", "ifdeq", "ifdne"};
    return std::any_of(std::begin(kWords), std::end(kWords),
                       [word](std::string_view known) { return EqualsIgnoreCase(word, known); });
  };
  const bool reads = std::any_of(argv.begin() + 3, argv.end(), reads_it);
  return reads ? kRW | kAccess | kUpdate : kOW | kUpdate;
}

// SETNX key value
Status SetNx(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const KeyEntry entry = TRY(keys.Find(key, Access::kPeek));
  if (!entry.exists()) {
    TRY(WriteText(keys, key, entry, args.Bytes(), kNoExpiry));
    ctx.Changed(kStringEvent, "set", key.bytes());
  }
  reply.Integer(entry.exists() ? 0 : 1);
  return Ok();
}

// SETEX and PSETEX.
Status SetWithExpiry(CommandContext& ctx, Args& args, Reply& reply, TimeUnit unit) {
  const std::string_view name = args.Bytes();
  const int64_t expire_ms = TRY(ParseExpiry(ctx, args.Bytes(), {unit, /*absolute=*/false}));
  Keyspace keys = ctx.keys();
  const std::string_view value = args.Bytes();
  TRY(Overwrite(ctx, keys, name, value, expire_ms));
  EmitDeadline(ctx, name, value, expire_ms);
  reply.Ok();
  return Ok();
}

// GETSET key value
Status GetSet(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  keys.EmitMisses(true);
  const Key key = keys.Name(args.Bytes());
  const std::string_view value = args.Bytes();
  const KeyEntry entry = TRY(keys.FindTyped(key, Type::kString));
  TRY(ReplyText(keys, key, entry, reply));
  TRY(WriteText(keys, key, entry, value, kNoExpiry));
  ctx.Changed(kStringEvent, "set", key.bytes());
  ctx.Replicate({"SET", key.bytes(), value});
  return Ok();
}

// GETDEL key
Status GetDel(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  keys.EmitMisses(true);
  const Key key = keys.Name(args.Bytes());
  const KeyEntry entry = TRY(keys.FindTyped(key, Type::kString));
  TRY(ReplyText(keys, key, entry, reply));
  if (!entry.exists()) return Ok();
  TRY(keys.Remove(key, entry));
  ctx.Changed(kGenericEvent, "del", key.bytes());
  ctx.Replicate({ctx.DeletionFor(kUnlinksDeleted), key.bytes()});
  return Ok();
}

// Sets or removes the key's expiry time; a time in the past deletes the key.
Status ChangeDeadline(CommandContext& ctx, Keyspace& keys, const Key& key, const KeyEntry& entry, int64_t expire_ms) {
  if (expire_ms != kNoExpiry && ctx.txn().command().HasPassed(expire_ms)) {
    TRY(keys.Remove(key, entry));
    ctx.Changed(kGenericEvent, "del", key.bytes());
    ctx.Replicate({ctx.DeletionFor(kUnlinksExpired), key.bytes()});
    return Ok();
  }
  TRY(keys.SetExpiry(key, entry, expire_ms));
  ctx.Changed(kGenericEvent, expire_ms == kNoExpiry ? "persist" : "expire", key.bytes());
  if (!ctx.is_replicated()) return Ok();
  if (expire_ms == kNoExpiry) {
    ctx.Replicate({"PERSIST", key.bytes()});
  } else {
    ctx.Replicate({"PEXPIREAT", key.bytes(), std::to_string(expire_ms)});
  }
  return Ok();
}

// GETEX key [EX s | PX ms | EXAT s | PXAT ms | PERSIST]
Status GetEx(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  keys.EmitMisses(true);
  const Key key = keys.Name(args.Bytes());
  const StringOptions options = TRY(ParseStringOptions(args, OptionsOf::kGetEx));
  const KeyEntry entry = TRY(keys.FindTyped(key, Type::kString));
  if (!entry.exists()) {
    reply.Null();
    return Ok();
  }
  int64_t expire_ms = kNoExpiry;
  if (options.has_expiry) expire_ms = TRY(ParseExpiry(ctx, options.expiry, options.form));
  TRY(ReplyText(keys, key, entry, reply));
  const bool persists = options.persist && entry.expire_ms() != kNoExpiry;
  return options.has_expiry || persists ? ChangeDeadline(ctx, keys, key, entry, expire_ms) : Ok();
}

// MGET key [key ...]
Status MGet(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  reply.Array(args.left());
  while (args.More()) {
    const Key key = keys.Name(args.Bytes());
    const KeyEntry entry = TRY(keys.Find(key));
    if (entry.type() == Type::kString) {
      TRY(ReplyText(keys, key, entry, reply));
    } else {
      reply.Null();
    }
  }
  return Ok();
}

Status CheckPairs(CommandContext& ctx, const Args& args) {
  if (args.left() % 2 == 0) return Ok();
  return Status::Reply(errors::WrongArity(ctx.command().full_name()));
}

Status OverwriteAll(CommandContext& ctx, Keyspace& keys, Args& args) {
  while (args.More()) {
    const std::string_view name = args.Bytes();
    TRY(Overwrite(ctx, keys, name, args.Bytes(), kNoExpiry));
  }
  return Ok();
}

// MSET key value [key value ...]
Status MSet(CommandContext& ctx, Args& args, Reply& reply) {
  TRY(CheckPairs(ctx, args));
  Keyspace keys = ctx.keys();
  TRY(OverwriteAll(ctx, keys, args));
  reply.Ok();
  return Ok();
}

// MSETNX key value [key value ...]
Status MSetNx(CommandContext& ctx, Args& args, Reply& reply) {
  TRY(CheckPairs(ctx, args));
  Keyspace keys = ctx.keys();
  for (size_t i = 1; i < args.size(); i += 2) {
    const Key key = keys.Name(args[i]);
    if (TRY(keys.Find(key, Access::kPeek)).exists()) {
      reply.Integer(0);
      return Ok();
    }
  }
  TRY(OverwriteAll(ctx, keys, args));
  reply.Integer(1);
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "get", .arity = 2, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)}, .run = Get,
     .group = Group::kString, .since = "1.0.0", .summary = "Returns the string stored under a key.",
     .complexity = "O(1)", .syntax = "key"},
    {.name = "set", .arity = -3, .flags = kWrite | kDenyOom,
     .keys = {{.flags = kRW | kAccess | kUpdate | kVariableFlags, .begin = 1,
               .notes = "RW and ACCESS due to the optional `GET` argument"}},
     .run = Set, .group = Group::kString, .since = "1.0.0",
     .summary = "Stores a string under a key and replaces any old value.", .complexity = "O(1)",
     .syntax = "key value [NX | XX | IFEQ ifeq-value | IFNE ifne-value | IFDEQ ifdeq-digest | IFDNE ifdne-digest] "
               "[GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds "
               "| PXAT unix-time-milliseconds | KEEPTTL]",
     .key_flags = KeyFlagsOfSet},
    {.name = "setnx", .arity = 3, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kOW | kInsert)}, .run = SetNx,
     .group = Group::kString, .since = "1.0.0", .summary = "Stores a string under a key if the key does not exist.",
     .complexity = "O(1)", .syntax = "key value", .deprecated_since = "2.6.12",
     .replaced_by = "`SET` with the `NX` argument"},
    {.name = "setex", .arity = 4, .flags = kWrite | kDenyOom, .keys = {OneKey(kOW | kUpdate)},
     .run = Fixed<SetWithExpiry, TimeUnit::kSeconds>, .group = Group::kString, .since = "2.0.0",
     .summary = "Stores a string that expires after some seconds.", .complexity = "O(1)", .syntax = "key seconds value",
     .deprecated_since = "2.6.12", .replaced_by = "`SET` with the `EX` argument"},
    {.name = "psetex", .arity = 4, .flags = kWrite | kDenyOom, .keys = {OneKey(kOW | kUpdate)},
     .run = Fixed<SetWithExpiry, TimeUnit::kMilliseconds>, .group = Group::kString, .since = "2.6.0",
     .summary = "Stores a string that expires after some milliseconds.", .complexity = "O(1)",
     .syntax = "key milliseconds value", .deprecated_since = "2.6.12", .replaced_by = "`SET` with the `PX` argument"},
    {.name = "getset", .arity = 3, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kAccess | kUpdate)},
     .run = GetSet, .group = Group::kString, .since = "1.0.0", .summary = "Stores a string and returns the old one.",
     .complexity = "O(1)", .syntax = "key value", .deprecated_since = "6.2.0",
     .replaced_by = "`SET` with the `GET` argument"},
    {.name = "getdel", .arity = 2, .flags = kWrite | kFast, .keys = {OneKey(kRW | kAccess | kDelete)}, .run = GetDel,
     .group = Group::kString, .since = "6.2.0", .summary = "Returns the string stored under a key and deletes the key.",
     .complexity = "O(1)", .syntax = "key"},
    {.name = "getex", .arity = -2, .flags = kWrite | kFast,
     .keys = {{.flags = kRW | kAccess | kUpdate, .begin = 1, .notes = "RW and UPDATE because it changes the TTL"}},
     .run = GetEx, .group = Group::kString, .since = "6.2.0",
     .summary = "Returns the string stored under a key and changes its expiry.", .complexity = "O(1)",
     .syntax = "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST]"},
    {.name = "mget", .arity = -2, .flags = kReadonly | kFast, .keys = {KeysToEnd(kRO | kAccess)}, .run = MGet,
     .group = Group::kString, .since = "1.0.0", .summary = "Returns the strings stored under several keys.",
     .complexity = "O(N) with N the number of keys", .syntax = "key [key ...]", .tips = "request_policy:multi_shard"},
    {.name = "mset", .arity = -3, .flags = kWrite | kDenyOom, .keys = {KeysToEnd(kOW | kUpdate, 1, 2)}, .run = MSet,
     .group = Group::kString, .since = "1.0.1", .summary = "Stores several strings at once, each under its key.",
     .complexity = "O(N) with N the number of keys", .syntax = "key value [key value ...]",
     .tips = "request_policy:multi_shard response_policy:all_succeeded"},
    {.name = "msetnx", .arity = -3, .flags = kWrite | kDenyOom, .keys = {KeysToEnd(kOW | kInsert, 1, 2)}, .run = MSetNx,
     .group = Group::kString, .since = "1.0.1",
     .summary = "Stores several strings at once, if none of the keys exists.",
     .complexity = "O(N) with N the number of keys", .syntax = "key value [key value ...]"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> StringCommands() { return kRows; }

}  // namespace cairn
