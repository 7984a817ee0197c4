// SPDX-License-Identifier: BSD-3-Clause
//
// XREAD reads entries behind an id, XREADGROUP reads as a consumer of a group. Both may block until there are entries.
//
// A blocked command runs again from the start when one of its keys changes; before it blocks, `$` is replaced by the
// stream's last id. XREAD writes nothing, so it holds no stripes while it reads; it locks them before it parks, so that
// no commit falls between its read and its registration.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/number.h"
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/stream_args.h"
#include "types/stream.h"
#include "types/stream_group.h"

namespace cairn {
namespace {

constexpr std::string_view kTimeoutNumber = "ERR timeout is not an integer or out of range";
constexpr std::string_view kTimeoutNegative = "ERR timeout is negative";
constexpr std::string_view kTimeoutRange = "ERR timeout is out of range";
constexpr std::string_view kGroupOfXRead =
    "ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.";
constexpr std::string_view kNoAckOfXRead =
    "ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.";
constexpr std::string_view kNoGroup = "ERR Missing GROUP option for XREADGROUP";
constexpr std::string_view kDollar =
    "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of "
    "this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would "
    "just return an empty result set.";
constexpr std::string_view kPlus =
    "ERR The + ID is meaningless in the context of XREADGROUP: you want to read the history of "
    "this consumer by specifying a proper ID, or use the > ID to get new messages. The + ID would "
    "just return an empty result set.";
constexpr std::string_view kGreater =
    "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> "
    "option.";
constexpr std::string_view kGroupContext = " in XREADGROUP with GROUP option";

struct ReadRequest {
  bool blocks = false;
  uint64_t count = 0;  // 0: all
  bool no_ack = false;
  std::optional<std::string_view> group;
  std::string_view consumer;
  size_t first_key = 0;  // position of the first key
  size_t streams = 0;    // as many keys, then as many ids

  std::string_view KeyName(const Args& args, size_t i) const { return args[first_key + i]; }
  std::string_view IdText(const Args& args, size_t i) const { return args[first_key + streams + i]; }
};

Status ReadTimeout(CommandContext& ctx, std::string_view text) {
  const auto ms = ParseInt64(text);
  if (!ms) return Status::Reply(kTimeoutNumber);
  if (*ms < 0) return Status::Reply(kTimeoutNegative);
  if (*ms > INT64_MAX - ctx.now_ms()) return Status::Reply(kTimeoutRange);
  ctx.set_block_timeout_ms(*ms);
  return Ok();
}

Status Unbalanced(bool as_group) {
  return Status::Reply(as_group ? "ERR Unbalanced 'xreadgroup' list of streams: for each stream key an ID or '>' must "
                                  "be specified."
                                : "ERR Unbalanced 'xread' list of streams: for each stream key an ID or '$' must be "
                                  "specified.");
}

// [GROUP group consumer] [COUNT count] [BLOCK ms] [NOACK] STREAMS key [key ...] id [id ...]
Result<ReadRequest> ReadOptions(CommandContext& ctx, Args& args, bool as_group) {
  ReadRequest request;
  while (args.More() && request.first_key == 0) {
    const std::string_view word = args.Bytes();
    if (args.More() && EqualsIgnoreCase(word, "block")) {
      TRY(ReadTimeout(ctx, args.Bytes()));
      request.blocks = true;
    } else if (args.More() && EqualsIgnoreCase(word, "count")) {
      request.count = static_cast<uint64_t>(TRY(ReadStreamCount(args.Bytes())));
    } else if (args.More() && EqualsIgnoreCase(word, "streams")) {
      request.first_key = args.position();
      if (args.left() % 2 != 0) return Unbalanced(as_group);
      request.streams = args.left() / 2;
    } else if (args.left() >= 2 && EqualsIgnoreCase(word, "group")) {
      if (!as_group) return Status::Reply(kGroupOfXRead);
      request.group = args.Bytes();
      request.consumer = args.Bytes();
    } else if (EqualsIgnoreCase(word, "noack")) {
      if (!as_group) return Status::Reply(kNoAckOfXRead);
      request.no_ack = true;
    } else {
      return Status::Reply(errors::kSyntax);
    }
  }
  if (request.first_key == 0) return Status::Reply(errors::kSyntax);
  if (as_group && !request.group) return Status::Reply(kNoGroup);
  return request;
}

// Writes the reply: name and entries of each stream that has new entries.
class StreamsReply {
 public:
  explicit StreamsReply(Reply& reply) : reply_(reply), mark_(reply.Later()) {}

  void Begin(std::string_view name) {
    if (reply_.protocol() == 2) reply_.Array(2);
    reply_.Bulk(name);
    ++count_;
  }
  // Returns false if no stream had entries; then nothing was written.
  bool Finish() {
    if (count_ == 0) return false;
    if (reply_.protocol() == 2) {
      reply_.FinishArray(mark_, count_);
    } else {
      reply_.FinishMap(mark_, count_);
    }
    return true;
  }

 private:
  Reply& reply_;
  const size_t mark_;
  size_t count_ = 0;
};

// The id right before the stream's last entry, or 0-0 if there is no entry. For a client that was blocked (`again`), a
// key of another type has none.
Result<StreamId> BeforeLastEntry(Keyspace& keys, const Key& key, bool again) {
  KeyEntry entry = TRY(keys.Find(key));
  if (entry.exists() && entry.type() != Type::kStream) {
    return again ? Result<StreamId>(StreamId{}) : Status::Reply(errors::kWrongType);
  }
  Stream stream(keys, key);
  TRY(stream.Open(std::move(entry)));
  if (stream.size() == 0) return StreamId{};
  return PreviousStreamId(TRY(stream.LastEntryId())).value_or(StreamId{});
}

// The ids after which to read, one for each stream; none for a missing stream with `$`. A client that is blocked with
// `+` gets the entry that is the last one when it wakes.
Result<std::vector<StreamId>> ReadIds(CommandContext& ctx, const Args& args, const ReadRequest& request, bool again) {
  Keyspace keys = ctx.keys();
  std::vector<StreamId> ids;
  for (size_t i = 0; i < request.streams; ++i) {
    const std::string_view text = request.IdText(args, i);
    const Key key = keys.Name(request.KeyName(args, i));
    if (text == "+") {
      ids.push_back(TRY(BeforeLastEntry(keys, key, again)));
      continue;
    }
    if (again) {
      ids.push_back(TRY(ReadStreamIdArgument(text)));
      continue;
    }
    Stream stream(keys, key);
    TRY(stream.Open());
    if (text == ">") return Status::Reply(kGreater);
    ids.push_back(text == "$" ? stream.state().last_id : TRY(ReadStreamIdArgument(text)));
    if (text == "$") {
      ctx.ReplaceWhenParked(request.first_key + request.streams + i, ids.back().ToString());
    }
  }
  return ids;
}

Status LockKeys(CommandContext& ctx, const Args& args, const ReadRequest& request) {
  std::vector<uint32_t> stripes;
  for (size_t i = 0; i < request.streams; ++i) {
    stripes.push_back(StripeOf(request.KeyName(args, i)));
  }
  return ctx.txn().Lock(stripes);
}

// XREAD [COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]
Status XRead(CommandContext& ctx, Args& args, Reply& reply) {
  const bool again = ctx.session().blocking.command != nullptr;
  ReadRequest request = TRY(ReadOptions(ctx, args, /*as_group=*/false));
  const std::vector<StreamId> ids = TRY(ReadIds(ctx, args, request, again));
  Keyspace keys = ctx.keys();
  StreamsReply streams(reply);
  bool has_other_type = false;
  for (size_t i = 0; i < request.streams; ++i) {
    const Key key = keys.Name(request.KeyName(args, i));
    KeyEntry entry = TRY(keys.Find(key));
    if (again && entry.exists() && entry.type() != Type::kStream) {
      has_other_type = true;
      continue;
    }
    Stream stream(keys, key);
    TRY(stream.Open(std::move(entry)));
    const auto from = NextStreamId(ids[i]);
    if (!from || stream.size() == 0 || stream.state().last_id <= ids[i]) continue;
    if (TRY(stream.LastEntryId()) <= ids[i]) continue;
    streams.Begin(request.KeyName(args, i));
    const size_t mark = reply.Later();
    const StreamRange range{*from, kLastStreamId};
    reply.FinishArray(mark, TRY(ReplyStreamEntries(reply, stream, range, request.count, false)));
  }
  // A blocked client gets WRONGTYPE only when another of its keys has entries.
  if (streams.Finish()) return has_other_type ? Status::Reply(errors::kWrongType) : Ok();
  if (!request.blocks) {
    reply.NullArray();
    return Ok();
  }
  TRY(LockKeys(ctx, args, request));
  return Status::MustBlock();
}

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

// Entries that no consumer of the group has read yet.
Status ReplyNew(CommandContext& ctx, const ReadRequest& request, const Stream& stream, StreamGroup& group,
                StreamConsumer& consumer, Reply& reply) {
  const auto from = NextStreamId(group.last_id());
  const size_t mark = reply.Later();
  size_t written = 0;
  const auto deliver = [&](const StreamEntry& entry) -> Result<bool> {
    group.Advance(stream.state(), entry.id);
    ReplyStreamEntry(reply, entry);
    if (!request.no_ack) {
      const PendingEntry pending{.id = entry.id, .delivered_ms = ctx.now_ms(), .deliveries = 1};
      TRY(group.Assign(consumer, pending));
      ReplicatePending(ctx, stream.key().bytes(), group, consumer.name, pending);
    }
    return ++written != request.count;
  };
  if (from) TRY(stream.ForEach(*from, kLastStreamId, /*reverse=*/false, deliver));
  consumer.active_ms = ctx.now_ms();
  ReplicateGroupPosition(ctx, stream.key().bytes(), group);
  reply.FinishArray(mark, written);
  return Ok();
}

// The consumer's pending entries behind `id`; a deleted entry has no fields.
Status ReplyHistory(CommandContext& ctx, const ReadRequest& request, const Stream& stream, StreamGroup& group,
                    StreamConsumer& consumer, StreamId id, Reply& reply) {
  const size_t mark = reply.Later();
  size_t written = 0;
  const auto repeat = [&](const PendingEntry& pending) -> Result<bool> {
    const StreamRange only{pending.id, pending.id};
    if (TRY(ReplyStreamEntries(reply, stream, only, 1, false)) == 0) {
      reply.Array(2);
      ReplyStreamId(reply, pending.id);
      reply.NullArray();
    } else {
      TRY(group.Assign(consumer,
                       {.id = pending.id, .delivered_ms = ctx.now_ms(), .deliveries = pending.deliveries + 1}));
    }
    return ++written != request.count;
  };
  const StreamId from = NextStreamId(id).value_or(StreamId{});
  TRY(group.ForEachPendingOf(consumer, from, kLastStreamId, repeat));
  reply.FinishArray(mark, written);
  return Ok();
}

// XREADGROUP GROUP group consumer [COUNT count] [BLOCK milliseconds] [NOACK]
//            STREAMS key [key ...] id [id ...]
Status XReadGroup(CommandContext& ctx, Args& args, Reply& reply) {
  ReadRequest request = TRY(ReadOptions(ctx, args, /*as_group=*/true));
  TRY(CheckGroups(ctx, args, request));
  Keyspace keys = ctx.keys();
  StreamsReply streams(reply);
  const bool again = ctx.session().blocking.command != nullptr;
  for (size_t i = 0; i < request.streams; ++i) {
    const Key key = keys.Name(request.KeyName(args, i));
    Stream stream(keys, key);
    TRY(stream.Open());
    StreamGroup group = *TRY(StreamGroup::Find(stream, *request.group));
    bool created = false;
    StreamConsumer& consumer = *TRY(group.ConsumerOrNew(request.consumer, ctx.now_ms(), &created));
    if (created) ReplicateNewConsumer(ctx, key.bytes(), group, request.consumer);
    consumer.seen_ms = ctx.now_ms();
    const std::string_view text = request.IdText(args, i);
    bool serves = true;
    if (text != ">") {
      ctx.CountChanges(1);
      ctx.ReplicateNothing();  // new delivery counts are not replicated
      streams.Begin(key.bytes());
      const StreamId id = TRY(ReadStreamIdArgument(text));
      TRY(ReplyHistory(ctx, request, stream, group, consumer, id, reply));
    } else if (stream.size() > 0 && stream.state().last_id > group.last_id() &&
               TRY(stream.LastEntryId()) > group.last_id()) {
      ctx.CountChanges(1);
      streams.Begin(key.bytes());
      TRY(ReplyNew(ctx, request, stream, group, consumer, reply));
    } else {
      serves = false;
    }
    // A command that stays blocked must not write each time: it would wake itself.
    if (serves || created || !(again || request.blocks)) group.Save();
  }
  if (streams.Finish()) return Ok();
  if (request.blocks) return Status::MustBlock();
  reply.NullArray();
  return Ok();
}

constexpr KeySpec KeysAfterStreams(int16_t from) {
  return {.flags = kRO | kAccess, .begin = from, .keyword = "STREAMS", .last = -1, .limit = 2};
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "xread", .arity = -4, .flags = kReadonly | kBlocking, .keys = {KeysAfterStreams(1)}, .run = XRead,
     .group = Group::kStream, .since = "5.0.0",
     .summary = "Returns the entries of streams after given ids; optionally blocks until there are some.",
     .complexity = "O(N) with N the number of entries returned",
     .syntax = "[COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]"},
    {.name = "xreadgroup", .arity = -7, .flags = kWrite | kBlocking, .keys = {KeysAfterStreams(4)}, .run = XReadGroup,
     .group = Group::kStream, .since = "5.0.0",
     .summary = "Delivers new entries to a consumer of a group, or its unacknowledged ones again; may block.",
     .complexity = "O(N) with N the number of entries returned",
     .syntax = "GROUP group consumer [COUNT count] [BLOCK milliseconds] [NOACK] STREAMS key [key ...] id [id ...]"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> StreamReadCommands() { return kRows; }

}  // namespace cairn
