// SPDX-License-Identifier: BSD-3-Clause
//
// XREADGROUP reads as a consumer of a group: new entries, or those of its own that are pending. With CLAIM it first
// takes over entries that have been pending for long, the longest first (StreamGroup::ForEachPendingByTime). It may
// block until there are entries; with CLAIM it then also runs again when the next pending entry has been pending long
// enough.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/stream_args.h"
#include "command/stream_read_args.h"
#include "types/stream.h"
#include "types/stream_group.h"

namespace cairn {
namespace {

constexpr std::string_view kDollar =
    "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of "
    "this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would "
    "just return an empty result set.";
constexpr std::string_view kPlus =
    "ERR The + ID is meaningless in the context of XREADGROUP: you want to read the history of "
    "this consumer by specifying a proper ID, or use the > ID to get new messages. The + ID would "
    "just return an empty result set.";
constexpr std::string_view kGroupContext = " in XREADGROUP with GROUP option";

// Checks the ids, and that every stream has the group. A blocked client gets the same error when the key or the group
// is deleted.
Status CheckGroups(CommandContext& ctx, const Args& args, const ReadRequest& request) {
  Keyspace keys = ctx.keys();
  for (size_t i = 0; i < request.streams; ++i) {
    const Key key = keys.Name(request.KeyName(args, i));
    KeyEntry entry = TRY(keys.Find(key));
    if (entry.exists() && entry.type() != Type::kStream) return Status::Reply(errors::kWrongType);
    Stream stream(keys, key);
    TRY(stream.Open(std::move(entry)));
    if (!TRY(StreamGroup::Find(stream, *request.group))) {
      return NoSuchGroup(key.bytes(), *request.group, kGroupContext);
    }
    const std::string_view text = request.IdText(args, i);
    if (text == "$") return Status::Reply(kDollar);
    if (text == "+") return Status::Reply(kPlus);
    if (text != ">") TRY(ReadStreamIdArgument(text));
  }
  return Ok();
}

// One stream of the command, as the consumer reads it.
struct GroupRead {
  CommandContext& ctx;
  const ReadRequest& request;
  Reply& reply;
  StreamsReply& streams;
  const Stream& stream;
  StreamGroup& group;
  StreamConsumer& consumer;

  std::string_view key() const { return stream.key().bytes(); }
  // Makes the entry pending for the consumer, from now on.
  Status Deliver(const PendingEntry& entry) {
    TRY(group.Assign(consumer, entry));
    ReplicatePending(ctx, key(), group, consumer.name, entry);
    return Ok();
  }
};

// Pending entries that have been idle long enough to be claimed.
struct Claimable {
  std::vector<PendingEntry> entries;  // the longest idle first
  int64_t next_ms = 0;                // without entries: when the first one can be claimed; 0: never
};

// A call deletes the rows by time of up to this many pending entries that are no longer in the stream. So later calls
// do not walk over them again.
constexpr uint64_t kMostDropped = 10'000;

Result<Claimable> FindClaimable(GroupRead& read) {
  Claimable found;
  uint64_t dropped = 0;
  if (!read.request.min_idle_ms) return found;
  const int64_t min_idle_ms = *read.request.min_idle_ms;
  TRY(read.group.ForEachPendingByTime([&](const PendingEntry& entry) -> Result<bool> {
    const bool is_idle = read.ctx.now_ms() - entry.delivered_ms >= min_idle_ms;
    if (!is_idle && !found.entries.empty()) return false;
    if (!TRY(read.stream.Has(entry.id))) {
      if (++dropped <= kMostDropped) read.group.DropTime(entry);
      return true;
    }
    if (!is_idle) {
      if (min_idle_ms <= INT64_MAX - entry.delivered_ms) found.next_ms = entry.delivered_ms + min_idle_ms;
      return false;
    }
    found.entries.push_back(entry);
    return found.entries.size() != read.streams.most();
  }));
  return found;
}

// With CLAIM the reply also says how long an entry was pending, and how often it was delivered before.
void ReplyDelivery(Reply& reply, const StreamEntry& entry, const ReadRequest& request, int64_t idle_ms,
                   uint64_t deliveries) {
  if (!request.min_idle_ms) return ReplyStreamEntry(reply, entry);
  reply.Array(4);
  ReplyStreamEntryParts(reply, entry);
  reply.Integer(idle_ms);
  reply.Integer(static_cast<int64_t>(deliveries));
}

Status ReplyClaimed(GroupRead& read, const Claimable& claimable) {
  const int64_t now_ms = read.ctx.now_ms();
  for (const PendingEntry& pending : claimable.entries) {
    if (!read.streams.HasRoom()) return Ok();
    TRY(read.stream.ForEach(pending.id, pending.id, /*reverse=*/false, [&](const StreamEntry& entry) -> Result<bool> {
      ReplyDelivery(read.reply, entry, read.request, now_ms - pending.delivered_ms, pending.deliveries);
      return false;
    }));
    read.streams.Added();
    TRY(read.Deliver({.id = pending.id, .delivered_ms = now_ms, .deliveries = NextDelivery(pending.deliveries)}));
    read.consumer.active_ms = now_ms;
  }
  return Ok();
}

// Entries that no consumer of the group has read yet.
Status ReplyNew(GroupRead& read) {
  const auto from = NextStreamId(read.group.last_id());
  const auto deliver = [&](const StreamEntry& entry) -> Result<bool> {
    read.group.Advance(read.stream.state(), entry.id);
    ReplyDelivery(read.reply, entry, read.request, 0, 0);
    read.streams.Added();
    if (!read.request.no_ack) {
      TRY(read.Deliver({.id = entry.id, .delivered_ms = read.ctx.now_ms(), .deliveries = 1}));
    }
    return read.streams.HasRoom();
  };
  if (from) TRY(read.stream.ForEach(*from, kLastStreamId, /*reverse=*/false, deliver));
  read.consumer.active_ms = read.ctx.now_ms();
  ReplicateGroupPosition(read.ctx, read.key(), read.group);
  return Ok();
}

// Returns whether the group has not read all entries.
Result<bool> HasNew(const GroupRead& read) {
  const StreamId last_id = read.group.last_id();
  if (read.stream.size() == 0 || read.stream.state().last_id <= last_id) return false;
  return TRY(read.stream.LastEntryId()) > last_id;
}

// Replies with claimed and new entries. Returns false if there are none.
Result<bool> ServeNew(GroupRead& read) {
  const Claimable claimable = TRY(FindClaimable(read));
  const bool has_new = TRY(HasNew(read));
  if (!has_new && claimable.entries.empty()) {
    int64_t& run_again_ms = read.ctx.wait().run_again_ms;
    if (claimable.next_ms > 0 && (run_again_ms == 0 || claimable.next_ms < run_again_ms)) {
      run_again_ms = claimable.next_ms;
    }
    return false;
  }
  read.ctx.CountChanges(1);
  read.streams.Begin(read.key());
  TRY(ReplyClaimed(read, claimable));
  if (has_new && read.streams.HasRoom()) TRY(ReplyNew(read));
  read.streams.End();
  return true;
}

// The consumer's pending entries behind `id`; a deleted entry has no fields.
Status ServeHistory(GroupRead& read, StreamId id) {
  read.streams.Begin(read.key());
  const auto repeat = [&](const PendingEntry& pending) -> Result<bool> {
    const StreamRange only{pending.id, pending.id};
    if (TRY(ReplyStreamEntries(read.reply, read.stream, only, 1, false)) == 0) {
      read.reply.Array(2);
      ReplyStreamId(read.reply, pending.id);
      read.reply.NullArray();
    } else {
      TRY(read.group.Assign(
          read.consumer,
          {.id = pending.id, .delivered_ms = read.ctx.now_ms(), .deliveries = NextDelivery(pending.deliveries)}));
    }
    read.streams.Added();
    return read.streams.HasRoom();
  };
  const StreamId from = NextStreamId(id).value_or(StreamId{});
  TRY(read.group.ForEachPendingOf(read.consumer, from, kLastStreamId, repeat));
  read.streams.End();
  return Ok();
}

// XREADGROUP GROUP group consumer [COUNT count] [MAXCOUNT maxcount] [MAXSIZE maxsize] [BLOCK milliseconds]
//            [CLAIM min-idle-time] [NOACK] STREAMS key [key ...] id [id ...]
Status XReadGroup(CommandContext& ctx, Args& args, Reply& reply) {
  const ReadRequest request = TRY(ReadStreamOptions(ctx, args, /*as_group=*/true));
  TRY(CheckGroups(ctx, args, request));
  Keyspace keys = ctx.keys();
  StreamsReply streams(reply, request);
  const bool again = ctx.session().blocking.command != nullptr;
  for (size_t i = 0; i < request.streams && streams.HasRoomInAll(); ++i) {
    const Key key = keys.Name(request.KeyName(args, i));
    Stream stream(keys, key);
    TRY(stream.Open());
    StreamGroup group = *TRY(StreamGroup::Find(stream, *request.group));
    bool created = false;
    StreamConsumer& consumer = *TRY(group.ConsumerOrNew(request.consumer, ctx.now_ms(), &created));
    if (created) ReplicateNewConsumer(ctx, key.bytes(), group, request.consumer);
    consumer.seen_ms = ctx.now_ms();
    GroupRead read{ctx, request, reply, streams, stream, group, consumer};
    const std::string_view text = request.IdText(args, i);
    const bool is_new = text == ">";
    const bool begins_times = is_new && request.min_idle_ms && TRY(group.KeepTimes());
    bool serves = true;
    if (is_new) {
      serves = TRY(ServeNew(read));
    } else {
      TRY(ServeHistory(read, TRY(ReadStreamIdArgument(text))));
    }
    // A command that stays blocked must not write each time: it would wake itself.
    if (serves || created || begins_times || !(again || request.blocks)) group.Save();
  }
  if (streams.Finish()) return Ok();
  if (request.blocks) return Status::MustBlock();
  reply.NullArray();
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "xreadgroup", .arity = -7, .flags = kWrite | kBlocking, .keys = {KeysAfterStreams(4)}, .run = XReadGroup,
     .group = Group::kStream, .since = "5.0.0",
     .summary = "Delivers new entries to a consumer of a group, or its unacknowledged ones again; may block.",
     .complexity = "O(N) with N the number of entries returned",
     .syntax = "GROUP group consumer [COUNT count] [MAXCOUNT maxcount:integer] [MAXSIZE maxsize:integer] "
               "[BLOCK milliseconds] [CLAIM min-idle-time] [NOACK] STREAMS key [key ...] id [id ...]",
     .find_keys = FindStreamKeys},
};
// clang-format on

}  // namespace

std::span<const CommandRow> StreamReadGroupCommands() { return kRows; }

}  // namespace cairn
