// SPDX-License-Identifier: BSD-3-Clause
//
// XINFO: the state of a stream, its consumer groups and their consumers.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/help.h"
#include "command/stream_args.h"
#include "command/stream_idempotence.h"
#include "types/stream.h"
#include "types/stream_group.h"

namespace cairn {
namespace {

constexpr uint64_t kFullCount = 10;  // entries per list that FULL shows without COUNT

void ReplyNumber(Reply& reply, std::string_view name, int64_t value) {
  reply.Bulk(name);
  reply.Integer(value);
}

void ReplyNumber(Reply& reply, std::string_view name, uint64_t value) {
  ReplyNumber(reply, name, static_cast<int64_t>(value));
}

void ReplyId(Reply& reply, std::string_view name, StreamId id) {
  reply.Bulk(name);
  ReplyStreamId(reply, id);
}

// Replies with the group's read position and lag, if known.
void ReplyProgress(Reply& reply, const StreamGroup& group, const StreamState& stream) {
  reply.Bulk("entries-read");
  if (group.entries_read() == kUnknownEntriesRead) {
    reply.Null();
  } else {
    reply.Integer(group.entries_read());
  }
  reply.Bulk("lag");
  const std::optional<int64_t> lag = group.Lag(stream);
  if (lag) {
    reply.Integer(*lag);
  } else {
    reply.Null();
  }
}

// Replies with the first or last entry; null if the stream is empty.
Status ReplyEdge(Reply& reply, std::string_view name, const Stream& stream, bool last) {
  reply.Bulk(name);
  const StreamRange all{{}, kLastStreamId};
  if (TRY(ReplyStreamEntries(reply, stream, all, 1, /*reverse=*/last)) == 0) reply.Null();
  return Ok();
}

// The fields about producers, which a client for an older Redis may not expect: only if producers have used the stream,
// or XCFGSET has changed it.
size_t ProducerFields(const StreamState& state) { return state.idempotence == StreamIdempotence() ? 0 : 6; }

Status ReplyProducers(Reply& reply, CommandContext& ctx, Stream& stream) {
  int64_t ids = 0;
  int64_t producers = 0;
  std::string last;
  TRY(ProducersOf(stream).ForEach(ctx.now_ms(), [&](std::string_view producer, auto, auto) -> Result<bool> {
    if (producers == 0 || producer != last) ++producers;
    last = producer;
    ++ids;
    return true;
  }));
  const StreamIdempotence& kept = stream.state().idempotence;
  ReplyNumber(reply, "idmp-duration", kept.duration_s);
  ReplyNumber(reply, "idmp-maxsize", kept.most_ids);
  ReplyNumber(reply, "pids-tracked", producers);
  ReplyNumber(reply, "iids-tracked", ids);
  ReplyNumber(reply, "iids-added", kept.added);
  ReplyNumber(reply, "iids-duplicates", kept.duplicates);
  return Ok();
}

// Begins a map with the state of the stream and of its producers, and `more` fields to follow.
Status ReplyState(Reply& reply, CommandContext& ctx, Stream& stream, size_t more) {
  const StreamState& state = stream.state();
  const size_t of_producers = ProducerFields(state);
  reply.Map(7 + of_producers + more);
  ReplyNumber(reply, "length", state.count);
  ReplyNumber(reply, "radix-tree-keys", state.chunks);
  ReplyNumber(reply, "radix-tree-nodes", state.chunks + 1);  // plus the root
  ReplyId(reply, "last-generated-id", state.last_id);
  ReplyId(reply, "max-deleted-entry-id", state.max_deleted_id);
  ReplyNumber(reply, "entries-added", state.entries_added);
  ReplyId(reply, "recorded-first-entry-id", state.first_id);
  return of_producers == 0 ? Ok() : ReplyProducers(reply, ctx, stream);
}

Status ReplyGroupPending(Reply& reply, const StreamGroup& group, uint64_t count) {
  ReplyNumber(reply, "pel-count", group.pending());
  if (group.nacked() > 0) ReplyNumber(reply, "nacked-count", group.nacked());
  reply.Bulk("pending");
  const size_t mark = reply.Later();
  uint64_t written = 0;
  TRY(group.ForEachPending({}, kLastStreamId, [&](const PendingEntry& entry) -> Result<bool> {
    reply.Array(4);
    ReplyStreamId(reply, entry.id);
    reply.Bulk(entry.consumer);
    reply.Integer(entry.delivered_ms);
    reply.Integer(static_cast<int64_t>(entry.deliveries));
    return ++written != count;
  }));
  reply.FinishArray(mark, written);
  return Ok();
}

Status ReplyFullConsumer(Reply& reply, const StreamGroup& group, const StreamConsumer& consumer, uint64_t count) {
  reply.Map(5);
  reply.Bulk("name");
  reply.Bulk(consumer.name);
  ReplyNumber(reply, "seen-time", consumer.seen_ms);
  ReplyNumber(reply, "active-time", consumer.active_ms);
  ReplyNumber(reply, "pel-count", consumer.pending);
  reply.Bulk("pending");
  const size_t mark = reply.Later();
  uint64_t written = 0;
  const auto visit = [&](const PendingEntry& entry) -> Result<bool> {
    reply.Array(3);
    ReplyStreamId(reply, entry.id);
    reply.Integer(entry.delivered_ms);
    reply.Integer(static_cast<int64_t>(entry.deliveries));
    return ++written != count;
  };
  TRY(group.ForEachPendingOf(consumer, {}, kLastStreamId, visit));
  reply.FinishArray(mark, written);
  return Ok();
}

Status ReplyFullGroup(Reply& reply, const StreamGroup& group, const StreamState& stream, uint64_t count) {
  reply.Map(group.nacked() > 0 ? 8 : 7);
  reply.Bulk("name");
  reply.Bulk(group.name());
  ReplyId(reply, "last-delivered-id", group.last_id());
  ReplyProgress(reply, group, stream);
  TRY(ReplyGroupPending(reply, group, count));
  reply.Bulk("consumers");
  reply.Array(group.consumers());
  return group.ForEachConsumer([&](const StreamConsumer& consumer) -> Result<bool> {
    TRY(ReplyFullConsumer(reply, group, consumer, count));
    return true;
  });
}

Status ReplyFull(Reply& reply, CommandContext& ctx, Stream& stream, uint64_t count) {
  TRY(ReplyState(reply, ctx, stream, 2));
  reply.Bulk("entries");
  const size_t mark = reply.Later();
  const StreamRange all{{}, kLastStreamId};
  reply.FinishArray(mark, TRY(ReplyStreamEntries(reply, stream, all, count, /*reverse=*/false)));
  reply.Bulk("groups");
  reply.Array(stream.state().groups);
  return StreamGroup::ForEach(stream, [&](StreamGroup& group) -> Result<bool> {
    TRY(ReplyFullGroup(reply, group, stream.state(), count));
    return true;
  });
}

// [FULL [COUNT count]] from the fourth argument on; nullopt without FULL.
Result<std::optional<uint64_t>> ReadFullOption(const Args& args) {
  const size_t words = args.size() - 3;
  if (words == 0) return std::optional<uint64_t>();
  const bool good = (words == 1 || words == 3) && EqualsIgnoreCase(args[3], "full") &&
                    (words == 1 || EqualsIgnoreCase(args[4], "count"));
  if (!good) return Status::Reply(errors::BadSubcommand(args[1], "XINFO"));
  const int64_t count = words == 1 ? -1 : TRY(ReadStreamNumber(args[5]));
  return std::optional(count < 0 ? kFullCount : static_cast<uint64_t>(count));
}

// Finds the stream in XINFO's third argument, which must exist.
Result<Stream> FindStream(Keyspace& keys, const Key& key) {
  Stream stream(keys, key);
  TRY(stream.Open());
  if (!stream.exists()) return Status::Reply(errors::kNoSuchKey);
  return stream;
}

// XINFO STREAM key [FULL [COUNT count]]
Status XInfoStream(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args[2]);
  Stream stream = TRY(FindStream(keys, key));
  const std::optional<uint64_t> full = TRY(ReadFullOption(args));
  if (full) return ReplyFull(reply, ctx, stream, *full);
  TRY(ReplyState(reply, ctx, stream, 3));
  ReplyNumber(reply, "groups", stream.state().groups);
  TRY(ReplyEdge(reply, "first-entry", stream, /*last=*/false));
  return ReplyEdge(reply, "last-entry", stream, /*last=*/true);
}

// XINFO GROUPS key
Status XInfoGroups(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args[2]);
  const Stream stream = TRY(FindStream(keys, key));
  reply.Array(stream.state().groups);
  return StreamGroup::ForEach(stream, [&](StreamGroup& group) -> Result<bool> {
    reply.Map(6);
    reply.Bulk("name");
    reply.Bulk(group.name());
    ReplyNumber(reply, "consumers", group.consumers());
    ReplyNumber(reply, "pending", group.pending());
    ReplyId(reply, "last-delivered-id", group.last_id());
    ReplyProgress(reply, group, stream.state());
    return true;
  });
}

// XINFO CONSUMERS key group
Status XInfoConsumers(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args[2]);
  const Stream stream = TRY(FindStream(keys, key));
  const std::optional<StreamGroup> group = TRY(StreamGroup::Find(stream, args[3]));
  if (!group) return NoGroupOfKey(args[2], args[3]);
  reply.Array(group->consumers());
  return group->ForEachConsumer([&](const StreamConsumer& consumer) -> Result<bool> {
    const int64_t now_ms = ctx.now_ms();
    const bool active = consumer.active_ms != kNeverActive;
    reply.Map(4);
    reply.Bulk("name");
    reply.Bulk(consumer.name);
    ReplyNumber(reply, "pending", consumer.pending);
    ReplyNumber(reply, "idle", std::max<int64_t>(now_ms - consumer.seen_ms, 0));
    ReplyNumber(reply, "inactive", active ? std::max<int64_t>(now_ms - consumer.active_ms, 0) : kNeverActive);
    return true;
  });
}

constexpr std::string_view kHelp[] = {
    "CONSUMERS <key> <groupname>",
    "    Return details of the consumers of <groupname>.",
    "GROUPS <key>",
    "    Return details of the consumer groups of the stream.",
    "STREAM <key> [FULL [COUNT <count>]",
    "    Return details of the stream.",
};

// clang-format off
constexpr CommandRow kSubcommandRows[] = {
    {.name = "consumers", .arity = 4, .flags = kReadonly, .keys = {OneKey(kRO | kAccess, 2)}, .run = XInfoConsumers,
     .group = Group::kStream, .since = "5.0.0", .summary = "Returns the consumers of a group.",
     .complexity = "O(N) with N the number of consumers", .syntax = "key groupname", .tips = "nondeterministic_output"},
    {.name = "groups", .arity = 3, .flags = kReadonly, .keys = {OneKey(kRO | kAccess, 2)}, .run = XInfoGroups,
     .group = Group::kStream, .since = "5.0.0", .summary = "Returns the consumer groups of a stream.",
     .complexity = "O(N) with N the number of groups", .syntax = "key"},
    {.name = "help", .arity = 2, .flags = kLoading | kStale, .run = Help<kHelp>, .group = Group::kStream,
     .since = "5.0.0", .summary = "Describes the subcommands.", .complexity = "O(1)"},
    {.name = "stream", .arity = -3, .flags = kReadonly, .keys = {OneKey(kRO | kAccess, 2)}, .run = XInfoStream,
     .group = Group::kStream, .since = "5.0.0", .summary = "Returns the state of a stream.", .complexity = "O(1)",
     .syntax = "key [FULL [COUNT count]]"},
};

constexpr CommandRow kRows[] = {
    {.name = "xinfo", .arity = -2, .flags = kSubcommands, .group = Group::kStream, .since = "5.0.0",
     .summary = "Returns details of streams and their consumer groups.", .complexity = "That of the subcommand",
     .subcommands = kSubcommandRows},
};
// clang-format on

}  // namespace

std::span<const CommandRow> StreamInfoCommands() { return kRows; }

}  // namespace cairn
