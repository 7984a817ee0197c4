// SPDX-License-Identifier: BSD-3-Clause
//
// DUMP and RESTORE: a value as bytes, exchangeable between Cairn and Redis in both directions.
//
// RESTORE reads the whole payload before it changes anything, so a damaged payload has no effect. Redis logs the
// reason; Cairn does not. The client gets the same error in either case.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/number.h"
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "rdb/dump_payload.h"
#include "rdb/rdb_reader.h"
#include "types/json.h"
#include "types/rdb_value.h"
#include "types/value_types.h"

namespace cairn {
namespace {

constexpr std::string_view kBusyKey = "BUSYKEY Target key name already exists.";
constexpr std::string_view kBadTtl = "ERR Invalid TTL value, must be >= 0";
constexpr std::string_view kBadIdleTime = "ERR Invalid IDLETIME value, must be >= 0";
constexpr std::string_view kBadFrequency = "ERR Invalid FREQ value, must be >= 0 and <= 255";
constexpr std::string_view kBadFooter = "ERR DUMP payload version or checksum are wrong";
constexpr std::string_view kBadPayload = "ERR Bad data format";

// One step of the fast lane's budget per this many bytes: 128 KB, compressed or not, go to the slow lane.
constexpr uint64_t kBytesPerStep = 64;

// DUMP key
Status Dump(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  KeyEntry entry = TRY(keys.Find(key));
  if (!entry.exists()) {
    reply.Null();
    return Ok();
  }
  TRY(ctx.txn().command().Spend(TRY(ValueTypeOf(entry).size(entry)) / kBytesPerStep));
  std::string payload;
  RdbWriter writer(payload);
  TRY(SaveRdbValue(keys, key, std::move(entry), writer));
  AppendDumpFooter(payload);
  reply.Bulk(payload);
  return Ok();
}

struct RestoreOptions {
  bool replace = false;
  bool absolute = false;             // the TTL is a Unix time
  std::optional<int64_t> idle_s;     // time since the key was last used
  std::optional<int64_t> frequency;  // access frequency (RowCache::Frequency)
};

Result<RestoreOptions> ParseOptions(Args& args) {
  RestoreOptions options;
  while (args.More()) {
    const bool has_value = args.left() >= 2;
    if (args.Keyword("replace")) {
      options.replace = true;
    } else if (args.Keyword("absttl")) {
      options.absolute = true;
    } else if (has_value && !options.frequency && args.Keyword("idletime")) {
      options.idle_s = args.Integer();
      if (*options.idle_s < 0) args.Fail(kBadIdleTime);
    } else if (has_value && !options.idle_s && args.Keyword("freq")) {
      options.frequency = args.Integer();
      if (*options.frequency < 0 || *options.frequency > UINT8_MAX) args.Fail(kBadFrequency);
    } else {
      args.Fail(errors::kSyntax);
    }
  }
  TRY(args.Done());
  return options;
}

// The time at which the key expires; kNoExpiry for a TTL of 0.
Result<int64_t> ParseExpiry(std::string_view text, bool absolute, int64_t now_ms) {
  const auto ttl = ParseInt64(text);
  if (!ttl) return Status::Reply(errors::kNotAnInteger);
  if (*ttl < 0) return Status::Reply(kBadTtl);
  if (*ttl == 0) return kNoExpiry;
  if (absolute) return *ttl;
  // A TTL that overflows wraps around and lies in the past, as in Redis.
  const int64_t when = static_cast<int64_t>(static_cast<uint64_t>(*ttl) + static_cast<uint64_t>(now_ms));
  return when < 0 ? 0 : when;
}

Result<RdbValue> ReadPayload(std::string_view payload, Keyspace& keys) {
  const Limits& limits = keys.limits();
  const auto value_bytes = StripDumpFooter(payload, limits.skips_payload_checksums);
  if (!value_bytes) return Status::Reply(kBadFooter);
  const auto most_bytes = static_cast<uint64_t>(limits.proto_max_bulk_len.load(std::memory_order_relaxed));
  RdbReader reader(value_bytes->bytes, most_bytes, value_bytes->dialect);
  reader.set_most_parsed_bytes(Json::MostMemory(keys));
  CommandState& command = keys.txn().command();
  reader.set_most_kept_bytes(command.memory().left());
  Result<RdbValue> value = ReadRdbValue(reader);
  command.memory().Use(reader.kept_bytes());
  TRY(command.Spend(reader.kept_bytes() / kBytesPerStep));
  if (value.ok() && reader.left() == 0) return value;
  const std::string reason = value.ok() ? "there are bytes behind the value" : std::string(value.status().text());
  Log(LogSeverity::kWarning, "RESTORE of a malformed payload: {}", reason);
  return Status::Reply(kBadPayload);
}

// Replicates the command with the absolute expiry time.
void ReplicateWithTime(CommandContext& ctx, const Args& args, int64_t expire_ms) {
  if (!ctx.is_replicated()) return;
  const std::string moment = std::to_string(expire_ms);
  std::vector<std::string_view> words(args.all().begin(), args.all().end());
  words[2] = moment;
  words.push_back("ABSTTL");
  ctx.Replicate(words);
}

// RESTORE key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]
Status Restore(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const std::string_view ttl = args.Bytes();
  const std::string_view payload = args.Bytes();
  const RestoreOptions options = TRY(ParseOptions(args));
  const KeyEntry entry = TRY(keys.Find(key, Access::kPeek));
  if (entry.exists() && !options.replace) return Status::Reply(kBusyKey);
  const int64_t expire_ms = TRY(ParseExpiry(ttl, options.absolute, ctx.now_ms()));
  TRY(ctx.txn().command().Spend(payload.size() / kBytesPerStep));
  const RdbValue value = TRY(ReadPayload(payload, keys));
  if (expire_ms != kNoExpiry && ctx.txn().command().HasPassed(expire_ms)) {
    if (entry.exists()) {
      ctx.Changed(kGenericEvent, "del", key.bytes());
      ctx.Replicate({"DEL", key.bytes()});
    }
    TRY(keys.Remove(key, entry));
  } else {
    if (entry.exists()) {
      keys.EmitNew(key);
      keys.OmitNewKeyEvents();
    }
    TRY(LoadRdbValue(keys, key, entry, value));
    if (expire_ms != kNoExpiry) {
      const KeyEntry loaded = TRY(keys.Find(key, Access::kPeek));
      TRY(keys.SetExpiry(key, loaded, expire_ms));
    }
    if (options.idle_s) ctx.txn().uses().SetIdle(key.row(), *options.idle_s, ctx.txn().command().now_s());
    if (options.frequency) {
      ctx.txn().uses().SetFrequency(key.row(), static_cast<uint8_t>(*options.frequency), ctx.txn().command().now_s());
    }
    ctx.Changed(kGenericEvent, "restore", key.bytes());
    if (expire_ms != kNoExpiry && !options.absolute) ReplicateWithTime(ctx, args, expire_ms);
  }
  reply.Ok();
  return Ok();
}

constexpr std::string_view kRestoreSyntax =
    "key ttl:integer serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]";
constexpr std::string_view kRestoreComplexity = "O(N) with N the size of the payload";

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "dump", .arity = 2, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = Dump, .since = "2.6.0",
     .summary = "Returns a key's value in serialized form, for RESTORE.",
     .complexity = "O(N) with N the size of the value", .syntax = "key", .tips = "nondeterministic_output"},
    {.name = "restore", .arity = -4, .flags = kWrite | kDenyOom, .keys = {OneKey(kOW | kUpdate)}, .run = Restore,
     .since = "2.6.0", .summary = "Creates a key from a value that DUMP serialized.", .complexity = kRestoreComplexity,
     .syntax = kRestoreSyntax, .acl = "dangerous"},
    {.name = "restore-asking", .arity = -4, .flags = kWrite | kDenyOom | kAsking, .keys = {OneKey(kOW | kUpdate)},
     .run = Restore, .group = Group::kServer, .since = "3.0.0",
     .summary = "RESTORE for keys that are migrated between cluster nodes.", .complexity = kRestoreComplexity,
     .syntax = kRestoreSyntax, .acl = "keyspace dangerous"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> DumpCommands() { return kRows; }

}  // namespace cairn
