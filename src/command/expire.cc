// SPDX-License-Identifier: BSD-3-Clause
//
// Key expiry: setting, clearing and reading the expiry time of a key.
//
// An expiry time is stored as Unix time in milliseconds. The eight commands differ in the unit, and in whether they
// count from now. A time in the past deletes the key at once.
#include <string>
#include <string_view>
#include <vector>

#include "base/number.h"
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/fixed.h"

namespace cairn {
namespace {

enum class Unit : unsigned char { kSeconds, kMilliseconds };
enum class Origin : unsigned char { kNow, kEpoch };

struct ExpireConditions {
  bool if_none = false;     // NX
  bool if_any = false;      // XX
  bool if_greater = false;  // GT
  bool if_less = false;     // LT

  // No expiry time counts as an infinite one.
  bool Allow(int64_t current, int64_t wanted) const {
    const bool has_any = current != kNoExpiry;
    if (if_none && has_any) return false;
    if (if_any && !has_any) return false;
    if (if_greater && (!has_any || wanted <= current)) return false;
    return !(if_less && has_any && wanted >= current);
  }
};

Result<ExpireConditions> ParseConditions(Args& args) {
  ExpireConditions conditions;
  while (args.More()) {
    if (args.Keyword("nx")) {
      conditions.if_none = true;
    } else if (args.Keyword("xx")) {
      conditions.if_any = true;
    } else if (args.Keyword("gt")) {
      conditions.if_greater = true;
    } else if (args.Keyword("lt")) {
      conditions.if_less = true;
    } else {
      return Status::Reply("ERR Unsupported option " + std::string(errors::Shown(args.Bytes())));
    }
  }
  if (conditions.if_none && (conditions.if_any || conditions.if_greater || conditions.if_less)) {
    return Status::Reply("ERR NX and XX, GT or LT options at the same time are not compatible");
  }
  if (conditions.if_greater && conditions.if_less) {
    return Status::Reply("ERR GT and LT options at the same time are not compatible");
  }
  return conditions;
}

// The expiry time as Unix time in ms. It may lie in the past, even before 1970.
Result<int64_t> ParseDeadline(CommandContext& ctx, std::string_view text, Unit unit, Origin origin) {
  const auto number = ParseInt64(text);
  if (!number) return Status::Reply(errors::kNotAnInteger);
  int64_t when = *number;
  const bool overflows = (unit == Unit::kSeconds && __builtin_mul_overflow(when, 1000, &when)) ||
                         (origin == Origin::kNow && __builtin_add_overflow(when, ctx.now_ms(), &when));
  if (overflows) return Status::Reply(errors::InvalidExpire(ctx.command().full_name()));
  return when;
}

// Replicates the command with the absolute time and the same conditions.
void ReplicateExpireAt(CommandContext& ctx, const Args& args, int64_t when) {
  if (!ctx.is_replicated()) return;
  const std::string moment = std::to_string(when);
  std::vector<std::string_view> words(args.all().begin(), args.all().end());
  words[0] = "PEXPIREAT";
  words[2] = moment;
  ctx.Replicate(words);
}

// EXPIRE, PEXPIRE, EXPIREAT and PEXPIREAT.
Status SetDeadline(CommandContext& ctx, Args& args, Reply& reply, Unit unit, Origin origin) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const std::string_view number = args.Bytes();
  const ExpireConditions conditions = TRY(ParseConditions(args));
  const int64_t when = TRY(ParseDeadline(ctx, number, unit, origin));
  const KeyEntry entry = TRY(keys.Find(key, Access::kPeek));
  if (!entry.exists() || !conditions.Allow(entry.expire_ms(), when)) {
    reply.Integer(0);
    return Ok();
  }
  if (ctx.txn().command().HasPassed(when)) {
    TRY(keys.Remove(key, entry));
    ctx.Changed(kGenericEvent, "del", key.bytes());
    ctx.Replicate({ctx.DeletionFor(kUnlinksExpired), key.bytes()});
  } else {
    TRY(keys.SetExpiry(key, entry, when));
    ctx.Changed(kGenericEvent, "expire", key.bytes());
    ReplicateExpireAt(ctx, args, when);
  }
  reply.Integer(1);
  return Ok();
}

// PERSIST key
Status Persist(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const KeyEntry entry = TRY(keys.Find(key, Access::kPeek));
  const bool expires = entry.expire_ms() != kNoExpiry;
  if (expires) {
    TRY(keys.SetExpiry(key, entry, kNoExpiry));
    ctx.Changed(kGenericEvent, "persist", key.bytes());
  }
  reply.Integer(expires ? 1 : 0);
  return Ok();
}

// TTL, PTTL, EXPIRETIME and PEXPIRETIME.
// Replies with -2 for a missing key, -1 for no expiry, else the expiry time rounded to the unit.
Status ReplyDeadline(CommandContext& ctx, Args& args, Reply& reply, Unit unit, Origin origin) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const KeyEntry entry = TRY(keys.Find(key, Access::kPeek));
  if (!entry.exists() || entry.expire_ms() == kNoExpiry) {
    reply.Integer(entry.exists() ? -1 : -2);
    return Ok();
  }
  const int64_t when = entry.expire_ms() - (origin == Origin::kNow ? ctx.now_ms() : 0);
  const auto milliseconds = static_cast<uint64_t>(std::max<int64_t>(when, 0));
  reply.Integer(static_cast<int64_t>(unit == Unit::kSeconds ? (milliseconds + 500) / 1000 : milliseconds));
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "expire", .arity = -3, .flags = kWrite | kFast, .keys = {OneKey(kRW | kUpdate)},
     .run = Fixed<SetDeadline, Unit::kSeconds, Origin::kNow>, .since = "1.0.0",
     .summary = "Sets a key's time to live in seconds.", .complexity = "O(1)",
     .syntax = "key seconds [NX | XX | GT | LT]"},
    {.name = "pexpire", .arity = -3, .flags = kWrite | kFast, .keys = {OneKey(kRW | kUpdate)},
     .run = Fixed<SetDeadline, Unit::kMilliseconds, Origin::kNow>, .since = "2.6.0",
     .summary = "Sets a key's time to live in milliseconds.", .complexity = "O(1)",
     .syntax = "key milliseconds [NX | XX | GT | LT]"},
    {.name = "expireat", .arity = -3, .flags = kWrite | kFast, .keys = {OneKey(kRW | kUpdate)},
     .run = Fixed<SetDeadline, Unit::kSeconds, Origin::kEpoch>, .since = "1.2.0",
     .summary = "Sets a key's expiry to a Unix time in seconds.", .complexity = "O(1)",
     .syntax = "key unix-time-seconds [NX | XX | GT | LT]"},
    {.name = "pexpireat", .arity = -3, .flags = kWrite | kFast, .keys = {OneKey(kRW | kUpdate)},
     .run = Fixed<SetDeadline, Unit::kMilliseconds, Origin::kEpoch>, .since = "2.6.0",
     .summary = "Sets a key's expiry to a Unix time in milliseconds.", .complexity = "O(1)",
     .syntax = "key unix-time-milliseconds [NX | XX | GT | LT]"},
    {.name = "persist", .arity = 2, .flags = kWrite | kFast, .keys = {OneKey(kRW | kUpdate)}, .run = Persist,
     .since = "2.2.0", .summary = "Removes a key's expiry.", .complexity = "O(1)", .syntax = "key"},
    {.name = "ttl", .arity = 2, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyDeadline, Unit::kSeconds, Origin::kNow>, .since = "1.0.0",
     .summary = "Returns a key's time to live in seconds.", .complexity = "O(1)", .syntax = "key",
     .tips = "nondeterministic_output"},
    {.name = "pttl", .arity = 2, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyDeadline, Unit::kMilliseconds, Origin::kNow>, .since = "2.6.0",
     .summary = "Returns a key's time to live in milliseconds.", .complexity = "O(1)", .syntax = "key",
     .tips = "nondeterministic_output"},
    {.name = "expiretime", .arity = 2, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyDeadline, Unit::kSeconds, Origin::kEpoch>, .since = "7.0.0",
     .summary = "Returns a key's expiry as a Unix time in seconds.", .complexity = "O(1)", .syntax = "key"},
    {.name = "pexpiretime", .arity = 2, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyDeadline, Unit::kMilliseconds, Origin::kEpoch>, .since = "7.0.0",
     .summary = "Returns a key's expiry as a Unix time in milliseconds.", .complexity = "O(1)", .syntax = "key"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ExpireCommands() { return kRows; }

}  // namespace cairn
