// SPDX-License-Identifier: BSD-3-Clause
//
// Also XCFGSET, which configures the ids of a stream's producers, and XIDMPRECORD, with which Redis restores them from
// a log.
#include "command/stream_idempotence.h"

#include <bit>
#include <optional>
#include <vector>

#include "base/hash128.h"
#include "base/number.h"
#include "command/families.h"
#include "command/named.h"
#include "command/stream_args.h"

namespace cairn {
namespace {

constexpr std::string_view kTwice = "ERR syntax error, IDMP/IDMPAUTO specified multiple times";
constexpr std::string_view kNoAutoProducer = "ERR syntax error, IDMPAUTO requires a non-empty producer ID";
constexpr std::string_view kNoProducer = "ERR syntax error, IDMP requires a non-empty producer ID";
constexpr std::string_view kNoId = "ERR syntax error, IDMP requires a non-empty idempotent ID";
constexpr std::string_view kDurationTwice = "ERR IDMP-DURATION specified multiple times";
constexpr std::string_view kDurationRange = "ERR IDMP-DURATION must be between 1 and 86400 seconds";
constexpr std::string_view kMaxSizeTwice = "ERR IDMP-MAXSIZE specified multiple times";
constexpr std::string_view kMaxSizeRange = "ERR IDMP-MAXSIZE must be between 1 and 10000 entries";
constexpr std::string_view kNothing = "ERR At least one parameter must be specified";
constexpr std::string_view kEmptyProducer = "ERR producer ID must be non-empty";
constexpr std::string_view kEmptyId = "ERR idempotent ID must be non-empty";
constexpr std::string_view kNoEntry = "ERR No such message in stream";
constexpr std::string_view kOtherEntry = "ERR IID already exists for this producer with a different stream ID";

// A replica keeps ids for longer than its primary, whose clock may be behind.
constexpr int64_t kReplicaSlackMs = 3600 * 1000;

void AppendNumber(std::string& out, uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8) out.push_back(static_cast<char>(number >> shift));
}

struct StreamSettings {
  std::optional<uint64_t> duration_s;
  std::optional<uint64_t> most_ids;
};

Result<uint64_t> ReadWithin(std::string_view text, uint64_t most, std::string_view error) {
  const int64_t number = TRY(ReadStreamNumber(text));
  if (number < 1 || static_cast<uint64_t>(number) > most) return Status::Reply(error);
  return static_cast<uint64_t>(number);
}

// [IDMP-DURATION seconds] [IDMP-MAXSIZE ids]
Result<StreamSettings> ReadSettings(Args& args) {
  StreamSettings settings;
  while (args.More()) {
    const std::string_view word = args.Bytes();
    if (args.More() && EqualsIgnoreCase(word, "idmp-duration")) {
      if (settings.duration_s) return Status::Reply(kDurationTwice);
      settings.duration_s = TRY(ReadWithin(args.Bytes(), StreamIdempotence::kMostDurationS, kDurationRange));
    } else if (args.More() && EqualsIgnoreCase(word, "idmp-maxsize")) {
      if (settings.most_ids) return Status::Reply(kMaxSizeTwice);
      settings.most_ids = TRY(ReadWithin(args.Bytes(), StreamIdempotence::kMostIds, kMaxSizeRange));
    } else {
      return Status::Reply(errors::kSyntax);
    }
  }
  if (!settings.duration_s && !settings.most_ids) return Status::Reply(kNothing);
  return settings;
}

// XCFGSET key [IDMP-DURATION duration] [IDMP-MAXSIZE maxsize]
Status XCfgSet(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view name = args.Bytes();
  Named<Stream> stream(ctx, name);
  TRY(stream.Open());
  if (!stream.exists()) return Status::Reply(errors::kNoSuchKey);
  const StreamSettings settings = TRY(ReadSettings(args));
  StreamIdempotence& kept = stream.state().idempotence;
  const StreamIdempotence before = kept;
  kept.duration_s = settings.duration_s.value_or(kept.duration_s);
  kept.most_ids = settings.most_ids.value_or(kept.most_ids);
  if (kept != before) {
    TRY(ProducersOf(stream).Clear());
    TRY(stream.Save());
    ctx.CountChanges(1);
  }
  reply.Ok();
  return Ok();
}

// XIDMPRECORD key producer-id idempotent-id stream-id
Status XIdmpRecord(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view name = args.Bytes();
  const std::string_view producer = args.Bytes();
  const std::string_view id = args.Bytes();
  const StreamId entry = TRY(ReadStreamIdArgument(args.Bytes()));
  if (producer.empty()) return Status::Reply(kEmptyProducer);
  if (id.empty()) return Status::Reply(kEmptyId);
  Named<Stream> stream(ctx, name);
  TRY(stream.Open());
  if (!stream.exists()) return Status::Reply(errors::kNoSuchKey);
  const bool obeys = ctx.session().is_primary;
  // The primary may have trimmed the entry since, and an id that is still here may have expired there.
  if (!obeys && !TRY(stream.Has(entry))) return Status::Reply(kNoEntry);
  StreamProducers producers = StartedProducersOf(ctx, stream);
  const std::optional<StreamId> before = TRY(producers.Find(producer, id, ExpiryTime(ctx)));
  if (!obeys && before && *before != entry) return Status::Reply(kOtherEntry);
  if (before != entry) {
    TRY(producers.Add(producer, id, entry, ExpiryTime(ctx)));
    TRY(stream.Save());
    ctx.CountChanges(1);
  }
  reply.Ok();
  return Ok();
}

}  // namespace

Status ReadIdempotentAdd(Args& args, IdempotentAdd& add, bool is_auto) {
  if (add.is_given()) return Status::Reply(kTwice);
  add.producer = args.Bytes();
  if (add.producer.empty()) return Status::Reply(is_auto ? kNoAutoProducer : kNoProducer);
  if (is_auto) return Ok();
  add.id = args.Bytes();
  return add.id.empty() ? Status::Reply(kNoId) : Ok();
}

// The hash is Redis's: ids that a Redis has made of the same fields are recognized after a transfer.
std::string IdempotentId(const IdempotentAdd& add, std::span<const std::string_view> fields) {
  if (!add.id.empty()) return std::string(add.id);
  Hash128 sum;
  Hash128 mix;
  std::string pair;
  for (size_t i = 0; i + 1 < fields.size(); i += 2) {
    pair.assign(fields[i]);
    AppendNumber(pair, fields[i].size());
    pair.append(fields[i + 1]);
    const Hash128 hash = Hash128Of(pair);
    sum.low += hash.low;
    sum.high += hash.high;
    mix.low ^= hash.low;
    mix.high ^= hash.high;
  }
  std::string id;
  AppendNumber(id, sum.low ^ std::rotl(mix.high, 1));
  AppendNumber(id, sum.high ^ std::rotl(mix.low, 1));
  return id;
}

StreamProducers ProducersOf(Stream& stream) {
  return StreamProducers(stream.txn(), stream.rows(), stream.state().idempotence);
}

StreamProducers StartedProducersOf(CommandContext& ctx, Stream& stream) {
  StreamIdempotence& kept = stream.state().idempotence;
  if (kept == StreamIdempotence()) {
    kept.duration_s = ReadLimit(ctx.limits().stream_idmp_duration_s);
    kept.most_ids = ReadLimit(ctx.limits().stream_idmp_maxsize);
  }
  return ProducersOf(stream);
}

int64_t ExpiryTime(CommandContext& ctx) {
  return ctx.session().is_primary ? ctx.now_ms() - kReplicaSlackMs : ctx.now_ms();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "xcfgset", .arity = -2, .flags = kWrite | kFast, .keys = {OneKey(kRW | kUpdate)}, .run = XCfgSet,
     .group = Group::kStream, .since = "8.6.0",
     .summary = "Sets how long, and how many, ids of idempotent producers a stream keeps.",
     .complexity = "O(N) with N the number of ids that it forgets",
     .syntax = "key [IDMP-DURATION duration:integer] [IDMP-MAXSIZE maxsize:integer]"},
    {.name = "xidmprecord", .arity = 5, .flags = kWrite | kFast, .keys = {OneKey(kRW | kUpdate)}, .run = XIdmpRecord,
     .group = Group::kStream, .since = "8.8.0",
     .summary = "Stores the id with which a producer has added an entry; for internal use by Redis.",
     .complexity = "O(1)", .syntax = "key pid iid stream-id"},
};
// clang-format on

std::span<const CommandRow> StreamProducerCommands() { return kRows; }

}  // namespace cairn
