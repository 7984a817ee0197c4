// SPDX-License-Identifier: BSD-3-Clause
//
// Commands on strings that depend on the old value, of Redis 8 and Valkey 9: DELEX, DELIFEQ, DIGEST, MSETEX, INCREX.
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "base/number.h"
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/string_options.h"
#include "command/value_condition.h"
#include "types/string.h"

namespace cairn {
namespace {

Status Delete(CommandContext& ctx, Keyspace& keys, const Key& key, const KeyEntry& entry) {
  TRY(keys.Remove(key, entry));
  ctx.Changed(kGenericEvent, "del", key.bytes());
  ctx.Replicate({ctx.DeletionFor(kUnlinksDeleted), key.bytes()});
  return Ok();
}

// Deletes the key if the condition holds for its value, which must be a string.
Status DeleteIf(CommandContext& ctx, std::string_view name, const ValueCondition& condition, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(name);
  const KeyEntry entry = TRY(keys.FindTyped(key, Type::kString));
  const bool deletes = entry.exists() && TRY(Holds(condition, keys, key, entry));
  if (deletes) TRY(Delete(ctx, keys, key, entry));
  reply.Integer(deletes);
  return Ok();
}

// Whether DELEX deletes an existing key. Redis looks the key up before it rejects a condition.
Result<bool> MeetsCondition(Keyspace& keys, const Key& key, const KeyEntry& entry, Args& args) {
  if (!args.More()) return true;
  if (entry.type() != Type::kString) {
    return Status::Reply("ERR Key should be of string type if conditions are specified");
  }
  ValueCondition condition;
  if (!ReadValueCondition(args, condition)) {
    return Status::Reply("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE");
  }
  TRY(CheckValueCondition(condition));
  return Holds(condition, keys, key, entry);
}

// DELEX key [IFEQ value | IFNE value | IFDEQ digest | IFDNE digest]
Status DelEx(CommandContext& ctx, Args& args, Reply& reply) {
  if (args.size() != 2 && args.size() != 4) return Status::Reply(errors::WrongArity(ctx.command().full_name()));
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const KeyEntry entry = TRY(keys.Find(key, Access::kPeek));
  const bool deletes = entry.exists() && TRY(MeetsCondition(keys, key, entry, args));
  if (deletes) TRY(Delete(ctx, keys, key, entry));
  reply.Integer(deletes);
  return Ok();
}

// DELIFEQ key value
Status DelIfEq(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view name = args.Bytes();
  return DeleteIf(ctx, name, {ValueCondition::Kind::kEqual, args.Bytes()}, reply);
}

// DIGEST key
Status Digest(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const KeyEntry entry = TRY(keys.FindTyped(key, Type::kString));
  if (entry.exists()) {
    reply.Bulk(TRY(DigestOf(keys, key, entry)));
  } else {
    reply.Null();
  }
  return Ok();
}

// Replicates a value that was set, with its absolute expiry.
void ReplicateValue(CommandContext& ctx, std::string_view name, std::string_view value, int64_t expire_ms) {
  if (!ctx.is_replicated()) return ctx.ReplicateNothing();
  if (expire_ms == kNoExpiry) return ctx.Replicate({"SET", name, value});
  ctx.Replicate({"SET", name, value, "PXAT", std::to_string(expire_ms)});
}

// MSETEX numkeys key value [key value ...] [NX | XX] [EX s | PX ms | EXAT s | PXAT ms | KEEPTTL]
Status MSetEx(CommandContext& ctx, Args& args, Reply& reply) {
  const int64_t count = args.IntegerIn(1, INT32_MAX, "ERR invalid numkeys value");
  TRY(args.Check());
  if (static_cast<uint64_t>(count) > args.left() / 2) return Status::Reply("ERR wrong number of key-value pairs");
  const auto pairs = args.all().subspan(args.position(), 2 * static_cast<size_t>(count));
  args.Skip(pairs.size());
  const StringOptions options = TRY(ParseStringOptions(args, OptionsOf::kMSetEx));
  int64_t expire_ms = kNoExpiry;
  if (options.has_expiry) expire_ms = TRY(ParseExpiry(ctx, options.expiry, options.form));
  Keyspace keys = ctx.keys();
  for (size_t i = 0; i < pairs.size() && (options.if_missing || options.if_exists); i += 2) {
    if (TRY(keys.Find(keys.Name(pairs[i]), Access::kPeek)).exists() == options.if_exists) continue;
    reply.Integer(0);
    return Ok();
  }
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const Key key = keys.Name(pairs[i]);
    const KeyEntry entry = TRY(keys.Find(key, Access::kPeek));
    if (options.keep_ttl) expire_ms = entry.expire_ms();
    TRY(WriteText(keys, key, entry, pairs[i + 1], expire_ms));
    ctx.Changed(kStringEvent, "set", pairs[i]);
    if (options.has_expiry) ctx.Emit(kGenericEvent, "expire", pairs[i]);
    ReplicateValue(ctx, pairs[i], pairs[i + 1], expire_ms);
  }
  reply.Integer(1);
  return Ok();
}

// ---- INCREX

struct IncrExOptions {
  bool is_float = false;
  bool saturates = false;
  bool only_without_expiry = false;  // ENX
  StringOptions string;              // the expiry, PERSIST, NX and XX
  std::string_view by = "1";
  std::string_view lower;  // empty: the type's limit
  std::string_view upper;
};

bool ReadValue(Args& args, std::string_view word, std::string_view& value) {
  if (args.left() < 2 || !value.empty() || !args.Keyword(word)) return false;
  value = args.Bytes();
  return true;
}

bool ReadIncrExWord(Args& args, IncrExOptions& options, std::string_view& by_int, std::string_view& by_float) {
  if (by_float.empty() && ReadValue(args, "byint", by_int)) return true;
  if (by_int.empty() && ReadValue(args, "byfloat", by_float)) return true;
  if (ReadValue(args, "lbound", options.lower) || ReadValue(args, "ubound", options.upper)) return true;
  if (args.Keyword("saturate")) return options.saturates = true;
  if (args.Keyword("enx")) return options.only_without_expiry = true;
  return ReadStringOption(args, OptionsOf::kIncrEx, options.string);
}

Result<IncrExOptions> ParseIncrEx(Args& args) {
  IncrExOptions options;
  std::string_view by_int;
  std::string_view by_float;
  while (args.More()) {
    if (!ReadIncrExWord(args, options, by_int, by_float)) args.Fail(errors::kSyntax);
  }
  if (options.only_without_expiry && !options.string.has_expiry) args.Fail(errors::kSyntax);
  TRY(args.Done());
  options.is_float = !by_float.empty();
  if (options.is_float) options.by = by_float;
  if (!by_int.empty()) options.by = by_int;
  return options;
}

// The numbers of a call. `T` is int64_t or long double.
template <typename T>
struct Increment {
  T value, by, lower, upper;
};

template <typename T>
std::optional<T> ParseAs(std::string_view text) {
  if constexpr (std::is_same_v<T, int64_t>) {
    return ParseInt64(text);
  } else {
    return ParseLongDouble(text);
  }
}

template <typename T>
Result<Increment<T>> ParseNumbers(std::string_view value, const IncrExOptions& options) {
  constexpr T kHighest = std::numeric_limits<T>::max();
  constexpr bool kIsInteger = std::is_same_v<T, int64_t>;
  const std::string_view error = kIsInteger ? errors::kNotAnInteger : errors::kNotAFloat;
  const auto old = ParseAs<T>(value);
  const auto by = ParseAs<T>(options.by);
  const auto lower = options.lower.empty() ? std::numeric_limits<T>::lowest() : ParseAs<T>(options.lower);
  const auto upper = options.upper.empty() ? kHighest : ParseAs<T>(options.upper);
  if (!old || !by || !lower || !upper) return Status::Reply(error);
  if (*lower > *upper) return Status::Reply("ERR LBOUND can't be greater than UBOUND");
  return Increment<T>{*old, *by, *lower, *upper};
}

// The sum, within the bounds or, if it saturates, at one of them; none: nothing is to change.
std::optional<int64_t> Sum(const Increment<int64_t>& of, bool saturates) {
  int64_t sum = 0;
  const bool overflows = __builtin_add_overflow(of.value, of.by, &sum);
  const bool is_high = overflows ? of.by > 0 : sum > of.upper;
  const bool is_low = overflows ? of.by < 0 : sum < of.lower;
  if (!is_high && !is_low) return sum;
  if (!saturates) return std::nullopt;
  return is_high ? of.upper : of.lower;
}
std::optional<long double> Sum(const Increment<long double>& of, bool saturates) {
  const long double sum = of.value + of.by;
  if (sum >= of.lower && sum <= of.upper && std::isfinite(sum)) return sum;
  if (!saturates) return std::nullopt;
  return sum > of.upper ? of.upper : of.lower;
}

std::string TextOf(int64_t value) { return std::to_string(value); }
std::string TextOf(long double value) { return FormatLongDouble(value); }

void ReplyNumber(Reply& reply, int64_t value) { reply.Integer(value); }
void ReplyNumber(Reply& reply, long double value) {
  if (reply.protocol() == 2) return reply.Bulk(FormatLongDouble(value));
  reply.Double(static_cast<double>(value));
}

// The expiry after the increment.
Result<int64_t> ExpiryAfter(CommandContext& ctx, const KeyEntry& entry, const IncrExOptions& options) {
  if (options.string.persist) return kNoExpiry;
  if (!options.string.has_expiry) return entry.expire_ms();
  const int64_t expire_ms = TRY(ParseExpiry(ctx, options.string.expiry, options.string.form));
  return options.only_without_expiry && entry.expire_ms() != kNoExpiry ? entry.expire_ms() : expire_ms;
}

// `to` - `from`, or the bound that it exceeds.
template <typename T>
T Difference(T to, T from) {
  if constexpr (std::is_integral_v<T>) {
    T difference;
    if (__builtin_sub_overflow(to, from, &difference)) {
      return to < from ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    }
    return difference;
  } else {
    return to - from;
  }
}

template <typename T>
Status IncrementBy(CommandContext& ctx, const Key& key, const IncrExOptions& options, Reply& reply) {
  Keyspace keys = ctx.keys();
  const KeyEntry entry = TRY(keys.FindTyped(key, Type::kString));
  const StringText text = TRY(ReadNumberText(keys, key, entry));
  const Increment<T> numbers = TRY(ParseNumbers<T>(entry.exists() ? text.view() : "0", options));
  const int64_t expire_ms = TRY(ExpiryAfter(ctx, entry, options));
  const bool allowed = entry.exists() ? !options.string.if_missing : !options.string.if_exists;
  const std::optional<T> sum = allowed ? Sum(numbers, options.saturates) : std::nullopt;
  reply.Array(2);
  ReplyNumber(reply, sum.value_or(numbers.value));
  ReplyNumber(reply, sum ? Difference(*sum, numbers.value) : T{0});
  if (!sum) return Ok();
  if (expire_ms != kNoExpiry && ctx.txn().command().HasPassed(expire_ms)) {
    return entry.exists() ? Delete(ctx, keys, key, entry) : Ok();
  }
  const std::string digits = TextOf(*sum);
  TRY(WriteText(keys, key, entry, digits, expire_ms));
  ctx.Changed(kStringEvent, options.is_float ? "incrbyfloat" : "incrby", key.bytes());
  if (expire_ms != entry.expire_ms())
    ctx.Emit(kGenericEvent, expire_ms == kNoExpiry ? "persist" : "expire", key.bytes());
  ReplicateValue(ctx, key.bytes(), digits, expire_ms);
  return Ok();
}

// INCREX key [NX | XX] [BYINT n | BYFLOAT n] [LBOUND n] [UBOUND n] [SATURATE]
//   [EX s | PX ms | EXAT s | PXAT ms | PERSIST] [ENX]
Status IncrEx(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view name = args.Bytes();
  const IncrExOptions options = TRY(ParseIncrEx(args));
  const Key key = ctx.keys().Name(name);
  return options.is_float ? IncrementBy<long double>(ctx, key, options, reply)
                          : IncrementBy<int64_t>(ctx, key, options, reply);
}

// With a condition a client learns something about the value.
uint16_t KeyFlagsOfDelEx(std::span<const std::string_view> argv) {
  return argv.size() > 2 ? kRW | kAccess | kDelete : kRW | kDelete;
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "delex", .arity = -2, .flags = kWrite | kFast,
     .keys = {{.flags = kRW | kDelete | kVariableFlags, .begin = 1}},
     .run = DelEx, .group = Group::kString, .since = "8.4.0",
     .summary = "Deletes a key, if a condition holds for the string under it.",
     .complexity = "O(N) with N the length of the string, O(1) without a digest",
     .syntax = "key [IFEQ ifeq-value | IFNE ifne-value | IFDEQ ifdeq-digest | IFDNE ifdne-digest]",
     .key_flags = KeyFlagsOfDelEx},
    {.name = "delifeq", .arity = 3, .flags = kWrite | kFast, .keys = {OneKey(kRM | kDelete)}, .run = DelIfEq,
     .group = Group::kString, .since = "9.0.0", .summary = "Deletes a key if the string under it has a value.",
     .complexity = "O(1)", .syntax = "key value"},
    {.name = "digest", .arity = 2, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)}, .run = Digest,
     .group = Group::kString, .since = "8.4.0", .summary = "Returns a hash of the string under a key.",
     .complexity = "O(N) with N the length of the string", .syntax = "key"},
    {.name = "msetex", .arity = -4, .flags = kWrite | kDenyOom,
     .keys = {{.flags = kOW | kUpdate, .begin = 1, .step = 2, .keynum = 0, .first_after_keynum = 1}}, .run = MSetEx,
     .group = Group::kString, .since = "8.4.0",
     .summary = "Stores several strings at once, with one expiry, if a condition holds for all keys.",
     .complexity = "O(N) with N the number of keys",
     .syntax = "numkeys key value [key value ...] [NX | XX] [EX seconds | PX milliseconds "
               "| EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]",
     .tips = "request_policy:multi_shard response_policy:all_succeeded"},
    {.name = "increx", .arity = -2, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kAccess | kUpdate)},
     .run = IncrEx, .group = Group::kString, .since = "8.8.0",
     .summary = "Adds a number to the one under a key, within bounds, and changes its expiry.", .complexity = "O(1)",
     .syntax = "key [NX | XX] [BYINT integer | BYFLOAT float] [LBOUND lowerbound] [UBOUND upperbound] [SATURATE] "
               "[EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST] [ENX]"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> StringConditionalCommands() { return kRows; }

}  // namespace cairn
