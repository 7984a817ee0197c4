// SPDX-License-Identifier: BSD-3-Clause
//
// XCLAIM and XAUTOCLAIM: move pending entries from one consumer, which is dead or slow, to another. Pending entries
// that were deleted from the stream are dropped on the way.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/number.h"
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/named.h"
#include "command/stream_args.h"
#include "types/stream.h"
#include "types/stream_group.h"

namespace cairn {
namespace {

constexpr std::string_view kClaimMinIdle = "ERR Invalid min-idle-time argument for XCLAIM";
constexpr std::string_view kAutoMinIdle = "ERR Invalid min-idle-time argument for XAUTOCLAIM";
constexpr std::string_view kClaimIdle = "ERR Invalid IDLE option argument for XCLAIM";
constexpr std::string_view kClaimTime = "ERR Invalid TIME option argument for XCLAIM";
constexpr std::string_view kClaimRetries = "ERR Invalid RETRYCOUNT option argument for XCLAIM";
constexpr std::string_view kCountRange = "ERR COUNT must be > 0";

// XAUTOCLAIM examines up to this many entries for each one it may return.
constexpr int64_t kLooksPerEntry = 10;
constexpr int64_t kMostAutoCount = INT64_MAX / 16;

Result<int64_t> ReadNumber(std::string_view text, std::string_view error) {
  const auto number = ParseInt64(text);
  if (!number) return Status::Reply(error);
  return *number;
}

// The new state of claimed entries.
struct ClaimRules {
  int64_t min_idle_ms = 0;
  std::optional<int64_t> delivered_ms;  // else now
  std::optional<uint64_t> deliveries;   // else incremented
  StreamId last_id;
  bool force = false;
  bool only_ids = false;
};

// A running claim: the stream, its group and the claiming consumer.
struct Claim {
  CommandContext& ctx;
  std::string_view key;
  const Stream& stream;
  StreamGroup& group;
  StreamConsumer& consumer;
  const ClaimRules& rules;
  int64_t now_ms;

  void Replicate(std::string_view owner, const PendingEntry& entry) {
    ctx.CountChanges(1);
    ReplicatePending(ctx, key, group, owner, entry);
  }
};

// Drops a pending entry that was deleted from the stream. It is replicated as a claim, which drops it on a replica too;
// without a consumer as XACK.
Status Drop(Claim& claim, const PendingEntry& entry) {
  if (entry.nacked) {
    claim.ctx.CountChanges(1);
    ReplicateIds(claim.ctx, {"XACK", claim.key, claim.group.name()}, {entry.id});
  } else {
    claim.Replicate(entry.consumer, entry);
  }
  return TRY(claim.group.Release(entry.id)) ? Ok() : Status::Corruption("stream: a pending entry disappeared");
}

bool IsIdle(const Claim& claim, const PendingEntry& entry) {
  return claim.rules.min_idle_ms == 0 || entry.nacked || claim.now_ms - entry.delivered_ms >= claim.rules.min_idle_ms;
}

// Assigns the entry to the consumer and replies with it.
Status Take(Claim& claim, PendingEntry entry, Reply& reply) {
  entry.delivered_ms = claim.rules.delivered_ms.value_or(claim.now_ms);
  if (claim.rules.deliveries) {
    entry.deliveries = *claim.rules.deliveries;
  } else if (!claim.rules.only_ids) {
    entry.deliveries = NextDelivery(entry.deliveries);
  }
  TRY(claim.group.Assign(claim.consumer, entry));
  claim.consumer.active_ms = claim.now_ms;
  claim.Replicate(claim.consumer.name, entry);
  if (claim.rules.only_ids) {
    ReplyStreamId(reply, entry.id);
    return Ok();
  }
  TRY(ReplyStreamEntries(reply, claim.stream, {entry.id, entry.id}, 1, false));
  return Ok();
}

// Reads [IDLE ms] [TIME unix-time-ms] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID id] from position `at` on.
Result<ClaimRules> ReadClaimOptions(const Args& args, size_t at, int64_t now_ms) {
  ClaimRules rules;
  for (; at < args.size(); ++at) {
    const std::string_view word = args[at];
    const bool followed = at + 1 < args.size();
    if (EqualsIgnoreCase(word, "force")) {
      rules.force = true;
    } else if (EqualsIgnoreCase(word, "justid")) {
      rules.only_ids = true;
    } else if (followed && EqualsIgnoreCase(word, "idle")) {
      const int64_t idle_ms = TRY(ReadNumber(args[++at], kClaimIdle));
      rules.delivered_ms = idle_ms < 0 ? now_ms : now_ms - idle_ms;
    } else if (followed && EqualsIgnoreCase(word, "time")) {
      rules.delivered_ms = TRY(ReadNumber(args[++at], kClaimTime));
    } else if (followed && EqualsIgnoreCase(word, "retrycount")) {
      const int64_t deliveries = TRY(ReadNumber(args[++at], kClaimRetries));
      if (deliveries >= 0) rules.deliveries = static_cast<uint64_t>(deliveries);
    } else if (followed && EqualsIgnoreCase(word, "lastid")) {
      rules.last_id = TRY(ReadStreamIdArgument(args[++at]));
    } else {
      return Status::Reply("ERR Unrecognized XCLAIM option '" + std::string(errors::Shown(word)) + "'");
    }
  }
  // An invalid time is replaced by the current time, as in Redis.
  if (rules.delivered_ms && (*rules.delivered_ms < 0 || *rules.delivered_ms > now_ms)) {
    rules.delivered_ms = now_ms;
  }
  return rules;
}

// Claims one entry by its id. Returns whether it added an entry to the reply.
Result<bool> ClaimOne(Claim& claim, StreamId id, Reply& reply) {
  std::optional<PendingEntry> entry = TRY(claim.group.Pending(id));
  if (!TRY(claim.stream.Has(id))) {
    if (entry) TRY(Drop(claim, *entry));
    return false;
  }
  if (!entry && !claim.rules.force) return false;
  if (entry && !IsIdle(claim, *entry)) return false;
  TRY(Take(claim, entry.value_or(PendingEntry{.id = id, .deliveries = 1}), reply));
  return true;
}

// XCLAIM key group consumer min-idle-time id [id ...] [options]
Status XClaim(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Stream> stream(ctx, args[1]);
  TRY(stream.Open());
  std::optional<StreamGroup> group = TRY(StreamGroup::Find(stream, args[2]));
  if (!group) return NoSuchGroup(args[1], args[2]);
  const int64_t min_idle_ms = TRY(ReadNumber(args[4], kClaimMinIdle));
  std::vector<StreamId> ids;
  size_t at = 5;
  for (; at < args.size(); ++at) {
    const auto id = ParseStreamId(args[at], 0);
    if (!id) break;
    ids.push_back(*id);
  }
  ClaimRules rules = TRY(ReadClaimOptions(args, at, ctx.now_ms()));
  rules.min_idle_ms = std::max<int64_t>(min_idle_ms, 0);
  if (rules.last_id > group->last_id()) {
    group->SetPosition(rules.last_id, group->entries_read());
    ctx.CountChanges(1);
    ReplicateGroupPosition(ctx, stream.key.bytes(), *group);
  }
  bool created = false;
  StreamConsumer& consumer = *TRY(group->ConsumerOrNew(args[3], ctx.now_ms(), &created));
  if (created) ReplicateNewConsumer(ctx, stream.key.bytes(), *group, args[3]);
  consumer.seen_ms = ctx.now_ms();

  Claim claim{ctx, stream.key.bytes(), stream, *group, consumer, rules, ctx.now_ms()};
  const size_t mark = reply.Later();
  size_t written = 0;
  for (const StreamId id : ids) written += TRY(ClaimOne(claim, id, reply)) ? 1 : 0;
  reply.FinishArray(mark, written);
  group->Save();
  return Ok();
}

struct AutoClaimArgs {
  StreamId start;
  int64_t count = 100;
  ClaimRules rules;
};

Result<AutoClaimArgs> ReadAutoClaimArgs(const Args& args) {
  AutoClaimArgs claim;
  claim.rules.min_idle_ms = std::max<int64_t>(TRY(ReadNumber(args[4], kAutoMinIdle)), 0);
  claim.start = TRY(ReadRangeStart(args[5]));
  for (size_t at = 6; at < args.size(); ++at) {
    if (EqualsIgnoreCase(args[at], "count") && at + 1 < args.size()) {
      claim.count = TRY(ReadNumber(args[++at], kCountRange));
      if (claim.count < 1 || claim.count > kMostAutoCount) return Status::Reply(kCountRange);
    } else if (EqualsIgnoreCase(args[at], "justid")) {
      claim.rules.only_ids = true;
    } else {
      return Status::Reply(errors::kSyntax);
    }
  }
  return claim;
}

// Claims entries from `start` on and replies with an array of them. Returns the id to continue from, 0-0 at the end.
// `deleted` gets the pending entries that no longer exist.
Result<StreamId> ClaimOnwards(Claim& claim, const AutoClaimArgs& options, Reply& reply,
                              std::vector<StreamId>& deleted) {
  int64_t count = options.count;
  int64_t looks = options.count * kLooksPerEntry;
  StreamId next;
  size_t written = 0;
  const size_t mark = reply.Later();
  const auto visit = [&](const PendingEntry& entry) -> Result<bool> {
    if (looks-- == 0 || count == 0) {
      next = entry.id;
      return false;
    }
    if (!TRY(claim.stream.Has(entry.id))) {
      TRY(Drop(claim, entry));
      deleted.push_back(entry.id);
      --count;
    } else if (IsIdle(claim, entry)) {
      TRY(Take(claim, entry, reply));
      ++written;
      --count;
    }
    return true;
  };
  TRY(claim.group.ForEachPending(options.start, kLastStreamId, visit));
  reply.FinishArray(mark, written);
  return next;
}

// XAUTOCLAIM key group consumer min-idle-time start [COUNT count] [JUSTID]
Status XAutoClaim(CommandContext& ctx, Args& args, Reply& reply) {
  const AutoClaimArgs options = TRY(ReadAutoClaimArgs(args));
  Named<Stream> stream(ctx, args[1]);
  TRY(stream.Open());
  std::optional<StreamGroup> group = TRY(StreamGroup::Find(stream, args[2]));
  if (!group) return NoSuchGroup(args[1], args[2]);
  bool created = false;
  StreamConsumer& consumer = *TRY(group->ConsumerOrNew(args[3], ctx.now_ms(), &created));
  if (created) ReplicateNewConsumer(ctx, stream.key.bytes(), *group, args[3]);
  consumer.seen_ms = ctx.now_ms();

  Claim claim{ctx, stream.key.bytes(), stream, *group, consumer, options.rules, ctx.now_ms()};
  std::string body;
  Reply claimed(body, reply);
  std::vector<StreamId> deleted;
  const StreamId next = TRY(ClaimOnwards(claim, options, claimed, deleted));
  group->Save();
  reply.Array(3);
  ReplyStreamId(reply, next);
  reply.Append(claimed);
  reply.Array(deleted.size());
  for (const StreamId id : deleted) ReplyStreamId(reply, id);
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "xclaim", .arity = -6, .flags = kWrite | kFast, .keys = {OneKey(kRW | kUpdate)}, .run = XClaim,
     .group = Group::kStream, .since = "5.0.0", .summary = "Assigns pending entries to another consumer.",
     .complexity = "O(log(N)) for each entry with N the number of pending ones",
     .syntax = "key group consumer min-idle-time id [id ...] [IDLE ms] [TIME unix-time-milliseconds] [RETRYCOUNT "
               "count] [FORCE] [JUSTID] [LASTID id]", .tips = "nondeterministic_output"},
    {.name = "xautoclaim", .arity = -6, .flags = kWrite | kFast, .keys = {OneKey(kRW | kDelete)}, .run = XAutoClaim,
     .group = Group::kStream, .since = "6.2.0",
     .summary = "Assigns the next pending entries that have been idle to a consumer.",
     .complexity = "O(N) with N the number of entries looked at",
     .syntax = "key group consumer min-idle-time start [COUNT count] [JUSTID]", .tips = "nondeterministic_output"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> StreamClaimCommands() { return kRows; }

}  // namespace cairn
