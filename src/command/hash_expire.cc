// SPDX-License-Identifier: BSD-3-Clause
//
// Expiry of hash fields: HEXPIRE and similar commands set the time, HTTL and similar ones return it, HPERSIST removes
// it; HGETEX, HSETEX and HGETDEL also read or write the fields.
//
// All but HSETEX name their fields as "FIELDS numfields field [field ...]" and reply with an array of a code or a value
// for each. The codes are the enums below. As in Redis the key's type is checked before the arguments, except in
// HSETEX, which parses first.
#include <fmt/format.h>

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/number.h"
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/named.h"
#include "types/hash.h"

namespace cairn {
namespace {

constexpr std::string_view kNoFields = "ERR Mandatory argument FIELDS is missing or not at the right position";
constexpr std::string_view kBadCount = "ERR Number of fields must be a positive integer";
constexpr std::string_view kBadExpireCount = "ERR Parameter `numFields` should be greater than 0";
constexpr std::string_view kBadSetCount = "ERR invalid number of fields";
constexpr std::string_view kOtherCount = "ERR The `numfields` parameter must match the number of arguments";
constexpr std::string_view kNegative = "ERR invalid expire time, must be >= 0";
constexpr std::string_view kOneCondition = "ERR Only one of FXX or FNX arguments can be specified";
constexpr std::string_view kOneTime = "ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified";
constexpr std::string_view kNoTime = "ERR missing expire time";

// The codes that HEXPIRE, HTTL and HPERSIST return for a field.
constexpr int64_t kNoField = -2;
constexpr int64_t kNoDeadline = -1;
constexpr int64_t kConditionFailed = 0;
constexpr int64_t kDone = 1;
constexpr int64_t kDeleted = 2;

enum class Unit : unsigned char { kSeconds, kMilliseconds };
enum class Since : unsigned char { kNow, kEpoch };
enum class Condition : unsigned char { kAlways, kNx, kXx, kGt, kLt };

// Parses `text` as a Unix time in ms. A Valkey primary permits later times than Redis; its replica stores the latest.
Result<int64_t> ParseWhen(CommandContext& ctx, std::string_view text, Unit unit, Since since) {
  const auto number = ParseInt64(text);
  if (!number) return Status::Reply(errors::kNotAnInteger);
  if (*number < 0) return Status::Reply(kNegative);
  const int64_t factor = unit == Unit::kSeconds ? 1000 : 1;
  const int64_t base_ms = since == Since::kNow ? ctx.now_ms() : 0;
  if (*number > kLastFieldMs / factor || *number * factor > kLastFieldMs - base_ms) {
    if (ctx.session().is_primary) return kLastFieldMs;
    return Status::Reply(errors::InvalidExpire(ctx.command().full_name()));
  }
  return *number * factor + base_ms;
}

// Parses "FIELDS numfields field [field ...]", which must be the last arguments.
Result<std::span<const std::string_view>> ParseFields(Args& args, std::string_view bad_count) {
  if (!args.Keyword("fields")) return Status::Reply(kNoFields);
  const int64_t count = args.IntegerIn(1, INT64_MAX, bad_count);
  TRY(args.Check());
  if (static_cast<uint64_t>(count) != args.left()) return Status::Reply(kOtherCount);
  return args.all().subspan(args.position());
}

// Fields of one command with the same outcome.
using FieldList = std::vector<std::string_view>;

// Replicates "<command> key [word] FIELDS n field ...".
void Replicate(CommandContext& ctx, std::initializer_list<std::string_view> head,
               std::span<const std::string_view> fields, size_t per_field = 1) {
  std::vector<std::string_view> words(head);
  std::string count;
  AppendInt64(count, static_cast<int64_t>(fields.size() / per_field));
  words.insert(words.end(), {"FIELDS", count});
  words.insert(words.end(), fields.begin(), fields.end());
  ctx.Replicate(words);
}

// The fields to which a command gave an expiry time, by outcome.
struct Expired {
  FieldList set;
  FieldList deleted;  // the time was in the past

  void Emit(CommandContext& ctx, std::string_view key, int64_t when_ms, bool is_empty) const {
    if (set.empty() && deleted.empty()) return;
    ctx.Emit(kHashEvent, deleted.empty() ? "hexpire" : "hdel", key);
    if (is_empty) ctx.Emit(kGenericEvent, "del", key);
    if (!ctx.is_replicated()) return;
    ReplicateDeletion(ctx, key);
    std::string when;
    AppendInt64(when, when_ms);
    if (!set.empty()) Replicate(ctx, {"HPEXPIREAT", key, when}, set);
  }
  void ReplicateDeletion(CommandContext& ctx, std::string_view key) const {
    if (deleted.empty()) return;
    FieldList words = {"HDEL", key};
    words.insert(words.end(), deleted.begin(), deleted.end());
    ctx.Replicate(words);
  }
};

Condition ParseCondition(Args& args) {
  if (args.Keyword("nx")) return Condition::kNx;
  if (args.Keyword("xx")) return Condition::kXx;
  if (args.Keyword("gt")) return Condition::kGt;
  if (args.Keyword("lt")) return Condition::kLt;
  return Condition::kAlways;
}

bool Allows(Condition condition, int64_t current_ms, int64_t when_ms) {
  const bool has_any = current_ms != kNoExpiry;
  switch (condition) {
    case Condition::kAlways: return true;
    case Condition::kNx: return !has_any;
    case Condition::kXx: return has_any;
    case Condition::kGt: return has_any && when_ms > current_ms;
    case Condition::kLt: return !has_any || when_ms < current_ms;
  }
  return false;
}

// Sets a field's expiry time, or deletes the field if the time is in the past. Returns the code.
Result<int64_t> ExpireField(CommandContext& ctx, Hash& hash, std::string_view field, int64_t when_ms,
                            Condition condition, Expired& expired) {
  if (!TRY(hash.Get(field))) return kNoField;
  if (!Allows(condition, TRY(hash.DeadlineOf(field)), when_ms)) return kConditionFailed;
  if (ctx.txn().command().HasPassed(when_ms)) {
    TRY(hash.Remove(field));
    expired.deleted.push_back(field);
    return kDeleted;
  }
  TRY(hash.SetDeadline(field, when_ms));
  expired.set.push_back(field);
  return kDone;
}

template <Unit unit, Since since>
Status HExpire(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Hash> hash(ctx, args.Bytes());
  TRY(hash.Open());
  const int64_t when_ms = TRY(ParseWhen(ctx, args.Bytes(), unit, since));
  const Condition condition = ParseCondition(args);
  const auto fields = TRY(ParseFields(args, kBadExpireCount));
  reply.Array(fields.size());
  Expired expired;
  for (const std::string_view field : fields) {
    reply.Integer(TRY(ExpireField(ctx, hash, field, when_ms, condition, expired)));
  }
  ctx.CountChanges(expired.set.size() + expired.deleted.size());
  expired.Emit(ctx, hash.key.bytes(), when_ms, hash.size() == 0);
  return hash.Save();
}

template <Unit unit, Since since>
Status HTtl(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Hash> hash(ctx, args.Bytes());
  TRY(hash.Open());
  const auto fields = TRY(ParseFields(args, kBadCount));
  reply.Array(fields.size());
  for (const std::string_view field : fields) {
    if (!TRY(hash.Get(field))) {
      reply.Integer(kNoField);
      continue;
    }
    const int64_t when_ms = TRY(hash.DeadlineOf(field));
    if (when_ms == kNoExpiry) {
      reply.Integer(kNoDeadline);
      continue;
    }
    const int64_t left_ms = when_ms - (since == Since::kNow ? ctx.now_ms() : 0);
    reply.Integer(unit == Unit::kSeconds ? (left_ms + 999) / 1000 : left_ms);
  }
  return Ok();
}

// Emits and replicates HPERSIST for the fields that lost their expiry time, and for no others: a replica may still have
// a field that is expired here, and must not keep it.
void EmitPersisted(CommandContext& ctx, std::string_view key, const FieldList& fields, uint64_t changes) {
  if (fields.empty()) return;
  ctx.Changed(kHashEvent, "hpersist", key, changes);
  Replicate(ctx, {"HPERSIST", key}, fields);
}

// HPERSIST key FIELDS numfields field [field ...]
Status HPersist(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Hash> hash(ctx, args.Bytes());
  TRY(hash.Open());
  const auto fields = TRY(ParseFields(args, kBadCount));
  reply.Array(fields.size());
  FieldList persisted;
  for (const std::string_view field : fields) {
    if (!TRY(hash.Get(field))) {
      reply.Integer(kNoField);
    } else if (TRY(hash.DeadlineOf(field)) == kNoExpiry) {
      reply.Integer(kNoDeadline);
    } else {
      TRY(hash.SetDeadline(field, kNoExpiry));
      reply.Integer(kDone);
      persisted.push_back(field);
    }
  }
  EmitPersisted(ctx, hash.key.bytes(), persisted, 1);
  return hash.Save();
}

// Replies with a field's value or null. Returns whether the field exists.
Result<bool> ReplyField(const Hash& hash, std::string_view field, Reply& reply) {
  FieldValue value = TRY(hash.Get(field));
  if (value) {
    reply.Bulk(value.text());
  } else {
    reply.Null();
  }
  return static_cast<bool>(value);
}

// HGETDEL key FIELDS numfields field [field ...]
Status HGetDel(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Hash> hash(ctx, args.Bytes());
  TRY(hash.Open());
  const auto fields = TRY(ParseFields(args, kBadCount));
  reply.Array(fields.size());
  Expired taken;
  for (const std::string_view field : fields) {
    if (!TRY(ReplyField(hash, field, reply))) continue;
    TRY(hash.Remove(field));
    taken.deleted.push_back(field);
  }
  if (!taken.deleted.empty()) {
    ctx.Shrunk(kHashEvent, "hdel", hash.key.bytes(), taken.deleted.size(), hash.size() == 0);
    taken.ReplicateDeletion(ctx, hash.key.bytes());
  }
  return hash.Save();
}

// Parses EX, PX, EXAT or PXAT and the time behind it; nullopt for any other argument.
Result<std::optional<int64_t>> ParseTime(CommandContext& ctx, Args& args) {
  struct Form {
    std::string_view word;
    Unit unit;
    Since since;
  };
  static constexpr Form kForms[] = {{"ex", Unit::kSeconds, Since::kNow},
                                    {"px", Unit::kMilliseconds, Since::kNow},
                                    {"exat", Unit::kSeconds, Since::kEpoch},
                                    {"pxat", Unit::kMilliseconds, Since::kEpoch}};
  for (const Form& form : kForms) {
    if (!args.Keyword(form.word)) continue;
    if (!args.More()) return Status::Reply(kNoTime);
    return std::optional(TRY(ParseWhen(ctx, args.Bytes(), form.unit, form.since)));
  }
  return std::optional<int64_t>();
}

// HGETEX key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST]
//     FIELDS numfields field [field ...]
Status HGetEx(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Hash> hash(ctx, args.Bytes());
  TRY(hash.Open());
  const std::optional<int64_t> when_ms = TRY(ParseTime(ctx, args));
  const bool persists = !when_ms && args.Keyword("persist");
  const auto fields = TRY(ParseFields(args, kBadCount));
  reply.Array(fields.size());
  Expired expired;
  FieldList persisted;
  for (const std::string_view field : fields) {
    if (!TRY(ReplyField(hash, field, reply))) continue;
    if (when_ms) TRY(ExpireField(ctx, hash, field, *when_ms, Condition::kAlways, expired));
    if (!persists || TRY(hash.DeadlineOf(field)) == kNoExpiry) continue;
    TRY(hash.SetDeadline(field, kNoExpiry));
    persisted.push_back(field);
  }
  ctx.CountChanges(expired.set.size() + expired.deleted.size());
  if (when_ms) expired.Emit(ctx, hash.key.bytes(), *when_ms, hash.size() == 0);
  EmitPersisted(ctx, hash.key.bytes(), persisted, persisted.size());
  return hash.Save();
}

struct SetOptions {
  bool only_new = false;       // FNX
  bool only_existing = false;  // FXX
  bool keeps = false;          // KEEPTTL
  std::optional<int64_t> when_ms;
  std::span<const std::string_view> pairs;
};

// Parses one option before FIELDS.
Status ParseSetOption(CommandContext& ctx, Args& args, SetOptions& options) {
  static constexpr std::string_view kTimes[] = {"ex", "px", "exat", "pxat", "keepttl"};
  const std::string_view word = args.Peek();
  for (const std::string_view time : kTimes) {
    if (EqualsIgnoreCase(word, time) && (options.when_ms || options.keeps)) return Status::Reply(kOneTime);
  }
  if (auto when_ms = TRY(ParseTime(ctx, args))) {
    options.when_ms = when_ms;
  } else if (args.Keyword("keepttl")) {
    options.keeps = true;
  } else if (EqualsIgnoreCase(word, "fnx") || EqualsIgnoreCase(word, "fxx")) {
    if (options.only_new || options.only_existing) return Status::Reply(kOneCondition);
    options.only_new = args.Keyword("fnx");
    options.only_existing = !options.only_new && args.Keyword("fxx");
  } else {
    return Status::Reply(fmt::format("ERR unknown argument: {}", errors::Shown(word)));
  }
  return Ok();
}

Result<SetOptions> ParseSetOptions(CommandContext& ctx, Args& args) {
  SetOptions options;
  while (!args.Keyword("fields")) {
    if (!args.More()) return Status::Reply(errors::WrongArity(ctx.command().full_name()));
    TRY(ParseSetOption(ctx, args, options));
  }
  if (args.left() < 3) return Status::Reply(errors::WrongArity(ctx.command().full_name()));
  const int64_t count = args.IntegerIn(1, INT32_MAX, kBadSetCount);
  TRY(args.Check());
  if (args.left() != static_cast<uint64_t>(count) * 2) {
    return Status::Reply(errors::WrongArity(ctx.command().full_name()));
  }
  options.pairs = args.all().subspan(args.position());
  return options;
}

// Returns whether FNX and FXX allow setting the fields.
Result<bool> MeetsCondition(const Hash& hash, const SetOptions& options) {
  if (!options.only_new && !options.only_existing) return true;
  for (size_t i = 0; i < options.pairs.size(); i += 2) {
    const bool is_there = static_cast<bool>(TRY(hash.Get(options.pairs[i])));
    if (is_there == options.only_new) return false;
  }
  return true;
}

// Emits and replicates the fields that HSETEX set. Changes of their expiry times are reported separately.
void EmitSet(CommandContext& ctx, std::string_view key, const SetOptions& options) {
  ctx.Changed(kHashEvent, "hset", key, options.pairs.size() / 2);
  if (options.keeps) {
    Replicate(ctx, {"HSETEX", key, "KEEPTTL"}, options.pairs, 2);
    return;
  }
  std::vector<std::string_view> words = {"HSET", key};
  words.insert(words.end(), options.pairs.begin(), options.pairs.end());
  ctx.Replicate(words);
}

// HSETEX key [FNX | FXX] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds |
//     KEEPTTL] FIELDS numfields field value [field value ...]
Status HSetEx(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Hash> hash(ctx, args.Bytes());
  const SetOptions options = TRY(ParseSetOptions(ctx, args));
  TRY(hash.Open());
  if (!TRY(MeetsCondition(hash, options))) {
    reply.Integer(0);
    return Ok();
  }
  const auto deadline = options.keeps ? Hash::Deadline::kKeep : Hash::Deadline::kClear;
  Expired expired;
  for (size_t i = 0; i < options.pairs.size(); i += 2) {
    TRY(hash.Set(options.pairs[i], options.pairs[i + 1], deadline));
    if (!options.when_ms) continue;
    TRY(ExpireField(ctx, hash, options.pairs[i], *options.when_ms, Condition::kAlways, expired));
  }
  const bool is_empty = hash.size() == 0;
  TRY(hash.Save());  // first: it emits the expiry of an expired key
  EmitSet(ctx, hash.key.bytes(), options);
  if (options.when_ms) expired.Emit(ctx, hash.key.bytes(), *options.when_ms, is_empty);
  reply.Integer(1);
  return Ok();
}

constexpr std::string_view kPerField = "O(N) with N the number of fields given";

constexpr CommandRow ExpireRow(std::string_view name, CommandFunction run, std::string_view summary,
                               std::string_view syntax) {
  return {.name = name,
          .arity = -6,
          .flags = kWrite | kDenyOom | kFast,
          .keys = {OneKey(kRW | kUpdate)},
          .run = run,
          .group = Group::kHash,
          .since = "7.4.0",
          .summary = summary,
          .complexity = kPerField,
          .syntax = syntax};
}

constexpr CommandRow TtlRow(std::string_view name, CommandFunction run, std::string_view summary) {
  return {.name = name,
          .arity = -5,
          .flags = kReadonly | kFast,
          .keys = {OneKey(kRO | kAccess)},
          .run = run,
          .group = Group::kHash,
          .since = "7.4.0",
          .summary = summary,
          .complexity = kPerField,
          .syntax = "key FIELDS numfields:integer field [field ...]",
          .tips = name == "httl" || name == "hpttl" ? "nondeterministic_output" : ""};
}

constexpr CommandRow kRows[] = {
    ExpireRow("hexpire", HExpire<Unit::kSeconds, Since::kNow>, "Sets the time to live of fields of a hash in seconds.",
              "key seconds:integer [NX | XX | GT | LT] FIELDS numfields:integer field [field ...]"),
    ExpireRow("hpexpire", HExpire<Unit::kMilliseconds, Since::kNow>,
              "Sets the time to live of fields of a hash in milliseconds.",
              "key milliseconds:integer [NX | XX | GT | LT] FIELDS numfields:integer field [field ...]"),
    ExpireRow("hexpireat", HExpire<Unit::kSeconds, Since::kEpoch>,
              "Sets the expiry of fields of a hash to a Unix time in seconds.",
              "key unix-time-seconds:unix-time [NX | XX | GT | LT] FIELDS numfields:integer "
              "field [field ...]"),
    ExpireRow("hpexpireat", HExpire<Unit::kMilliseconds, Since::kEpoch>,
              "Sets the expiry of fields of a hash to a Unix time in milliseconds.",
              "key unix-time-milliseconds:unix-time [NX | XX | GT | LT] FIELDS numfields:integer "
              "field [field ...]"),
    TtlRow("httl", HTtl<Unit::kSeconds, Since::kNow>, "Returns the time to live of fields of a hash in seconds."),
    TtlRow("hpttl", HTtl<Unit::kMilliseconds, Since::kNow>,
           "Returns the time to live of fields of a hash in milliseconds."),
    TtlRow("hexpiretime", HTtl<Unit::kSeconds, Since::kEpoch>,
           "Returns the expiry of fields of a hash as Unix times in seconds."),
    TtlRow("hpexpiretime", HTtl<Unit::kMilliseconds, Since::kEpoch>,
           "Returns the expiry of fields of a hash as Unix times in milliseconds."),
    {.name = "hpersist",
     .arity = -5,
     .flags = kWrite | kFast,
     .keys = {OneKey(kRW | kUpdate)},
     .run = HPersist,
     .group = Group::kHash,
     .since = "7.4.0",
     .summary = "Removes the expiry of fields of a hash.",
     .complexity = kPerField,
     .syntax = "key FIELDS numfields:integer field [field ...]"},
    {.name = "hgetdel",
     .arity = -5,
     .flags = kWrite | kFast,
     .keys = {OneKey(kRW | kAccess | kDelete)},
     .run = HGetDel,
     .group = Group::kHash,
     .since = "8.0.0",
     .summary = "Returns the values of fields of a hash and deletes them.",
     .complexity = kPerField,
     .syntax = "key FIELDS numfields:integer field [field ...]"},
    {.name = "hgetex",
     .arity = -5,
     .flags = kWrite | kFast,
     .keys = {OneKey(kRW | kAccess | kUpdate)},
     .run = HGetEx,
     .group = Group::kHash,
     .since = "8.0.0",
     .summary = "Returns the values of fields of a hash and sets their expiry.",
     .complexity = kPerField,
     .syntax = "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST] "
               "FIELDS numfields:integer field [field ...]"},
    {.name = "hsetex",
     .arity = -6,
     .flags = kWrite | kDenyOom | kFast,
     .keys = {OneKey(kRW | kUpdate)},
     .run = HSetEx,
     .group = Group::kHash,
     .since = "8.0.0",
     .summary = "Sets fields of a hash and their expiry.",
     .complexity = kPerField,
     .syntax = "key [FNX | FXX] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | "
               "KEEPTTL] FIELDS numfields:integer field value [field value ...]"},
};

}  // namespace

std::span<const CommandRow> HashExpireCommands() { return kRows; }

}  // namespace cairn
