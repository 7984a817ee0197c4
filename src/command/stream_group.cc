// SPDX-License-Identifier: BSD-3-Clause
//
// Consumer groups: creating and deleting groups and consumers, acknowledging, and pending entries. Delivery is in
// stream_read.cc, transfer to another consumer in stream_claim.cc.
#include "types/stream_group.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/help.h"
#include "command/named.h"
#include "command/stream_args.h"
#include "types/stream.h"

namespace cairn {
namespace {

constexpr std::string_view kNoKey =
    "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use "
    "the MKSTREAM option to create an empty stream automatically.";
constexpr std::string_view kBusy = "BUSYGROUP Consumer Group name already exists";
constexpr std::string_view kEntriesRead = "ERR value for ENTRIESREAD must be positive or -1";
constexpr size_t kMostCreateArgs = 8;

struct GroupOptions {
  bool make_stream = false;
  int64_t entries_read = kUnknownEntriesRead;
};

// [MKSTREAM] [ENTRIESREAD n], from the sixth argument on.
Result<GroupOptions> ReadGroupOptions(const Args& args, bool creates) {
  GroupOptions options;
  for (size_t i = 5; i < args.size(); ++i) {
    if (creates && EqualsIgnoreCase(args[i], "mkstream")) {
      options.make_stream = true;
    } else if (EqualsIgnoreCase(args[i], "entriesread") && i + 1 < args.size()) {
      options.entries_read = TRY(ReadStreamNumber(args[++i]));
      if (options.entries_read < kUnknownEntriesRead) return Status::Reply(kEntriesRead);
    } else {
      return Status::Reply(errors::BadSubcommand(args[1], "XGROUP"));
    }
  }
  return options;
}

// The number of entries that a group has read cannot be more than were added to its stream.
int64_t LimitEntriesRead(int64_t entries_read, const StreamState& stream) {
  return std::min(entries_read, static_cast<int64_t>(stream.entries_added));
}

// XGROUP CREATE key group id | $ [MKSTREAM] [ENTRIESREAD entries-read]
Status XGroupCreate(CommandContext& ctx, Args& args, Reply& reply) {
  const GroupOptions options = TRY(ReadGroupOptions(args, /*creates=*/true));
  Named<Stream> stream(ctx, args[2]);
  TRY(stream.Open());
  if (!stream.exists() && !options.make_stream) return Status::Reply(kNoKey);
  if (args.size() > kMostCreateArgs) {
    return Status::Reply(errors::BadSubcommand(args[1], "XGROUP"));
  }
  const StreamId id = args[4] == "$" ? stream.state().last_id : TRY(ReadStreamIdArgument(args[4]));
  if (!stream.exists()) stream.Create();
  if (TRY(StreamGroup::Find(stream, args[3]))) return Status::Reply(kBusy);
  StreamGroup::Create(stream, args[3], id, LimitEntriesRead(options.entries_read, stream.state())).Save();
  TRY(stream.Save());
  ctx.Changed(kStreamEvent, "xgroup-create", args[2]);
  reply.Ok();
  return Ok();
}

// The stream and the group of an XGROUP subcommand.
struct Target {
  Stream stream;
  std::optional<StreamGroup> group;
};

Result<Target> FindTarget(Keyspace& keys, const Key& key, std::string_view group) {
  Stream stream(keys, key);
  TRY(stream.Open());
  if (!stream.exists()) return Status::Reply(kNoKey);
  std::optional<StreamGroup> found = TRY(StreamGroup::Find(stream, group));
  return Target{std::move(stream), std::move(found)};
}

// XGROUP SETID key group id | $ [ENTRIESREAD entries-read]
Status XGroupSetId(CommandContext& ctx, Args& args, Reply& reply) {
  const GroupOptions options = TRY(ReadGroupOptions(args, /*creates=*/false));
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args[2]);
  Target target = TRY(FindTarget(keys, key, args[3]));
  if (!target.group) return NoGroupOfKey(args[2], args[3]);
  if (args.size() != 5 && args.size() != 7) {
    return Status::Reply(errors::BadSubcommand(args[1], "XGROUP"));
  }
  StreamId id = target.stream.state().last_id;
  if (args[4] != "$") {
    id = args[4] == "-" || args[4] == "+" ? TRY(ReadRangeStart(args[4])) : TRY(ReadStreamIdArgument(args[4]));
  }
  target.group->SetPosition(id, LimitEntriesRead(options.entries_read, target.stream.state()));
  target.group->Save();
  ctx.Changed(kStreamEvent, "xgroup-setid", args[2]);
  reply.Ok();
  return Ok();
}

// XGROUP DESTROY key group
Status XGroupDestroy(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args[2]);
  Target target = TRY(FindTarget(keys, key, args[3]));
  if (target.group) {
    TRY(target.group->Destroy(target.stream));
    TRY(target.stream.Save());
    ctx.Changed(kStreamEvent, "xgroup-destroy", args[2]);
  }
  reply.Integer(target.group ? 1 : 0);
  return Ok();
}

// XGROUP CREATECONSUMER key group consumer
Status XGroupCreateConsumer(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args[2]);
  Target target = TRY(FindTarget(keys, key, args[3]));
  if (!target.group) return NoGroupOfKey(args[2], args[3]);
  bool created;
  TRY(target.group->ConsumerOrNew(args[4], ctx.now_ms(), &created));
  if (created) {
    target.group->Save();
    ReplicateNewConsumer(ctx, args[2], *target.group, args[4]);
  }
  reply.Integer(created ? 1 : 0);
  return Ok();
}

// XGROUP DELCONSUMER key group consumer
Status XGroupDelConsumer(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args[2]);
  Target target = TRY(FindTarget(keys, key, args[3]));
  if (!target.group) return NoGroupOfKey(args[2], args[3]);
  uint64_t pending = 0;
  if (StreamConsumer* const consumer = TRY(target.group->Consumer(args[4]))) {
    pending = consumer->pending;
    TRY(target.group->DeleteConsumer(*consumer));
    target.group->Save();
    ctx.Changed(kStreamEvent, "xgroup-delconsumer", args[2]);
  }
  reply.Integer(static_cast<int64_t>(pending));
  return Ok();
}

constexpr std::string_view kHelp[] = {
    "CREATE <key> <groupname> <id|$> [option]",
    "    Create a consumer group that starts after an id. Options are:",
    "    * MKSTREAM",
    "      Create an empty stream if the key does not exist.",
    "    * ENTRIESREAD entries_read",
    "      Set the number of entries that the group has read (internal use).",
    "CREATECONSUMER <key> <groupname> <consumer>",
    "    Create a consumer of the group.",
    "DELCONSUMER <key> <groupname> <consumer>",
    "    Delete a consumer and its pending entries.",
    "DESTROY <key> <groupname>",
    "    Delete the group.",
    "SETID <key> <groupname> <id|$> [ENTRIESREAD entries_read]",
    "    Set the read position of the group.",
};

// XACK key group id [id ...]
Status XAck(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Stream> stream(ctx, args[1]);
  TRY(stream.Open());
  std::optional<StreamGroup> group = TRY(StreamGroup::Find(stream, args[2]));
  int64_t acknowledged = 0;
  if (group) {
    std::vector<StreamId> ids;
    for (size_t i = 3; i < args.size(); ++i) ids.push_back(TRY(ReadStreamIdArgument(args[i])));
    for (const StreamId id : ids) acknowledged += TRY(group->Release(id)) ? 1 : 0;
    if (acknowledged > 0) group->Save();
    ctx.CountChanges(static_cast<uint64_t>(acknowledged));
  }
  reply.Integer(acknowledged);
  return Ok();
}

// Replies with the number of pending entries, the first and the last id, and the number for each consumer.
Status ReplyPendingSummary(const StreamGroup& group, Reply& reply) {
  reply.Array(4);
  reply.Integer(static_cast<int64_t>(group.pending()));
  if (group.pending() == 0) {
    reply.Null();
    reply.Null();
    reply.NullArray();
    return Ok();
  }
  TRY(group.ForEachPending({}, kLastStreamId, [&](const PendingEntry& entry) -> Result<bool> {
    ReplyStreamId(reply, entry.id);
    return false;
  }));
  ReplyStreamId(reply, TRY(group.LastPending()));
  const size_t mark = reply.Later();
  size_t count = 0;
  TRY(group.ForEachConsumer([&](const StreamConsumer& consumer) -> Result<bool> {
    if (consumer.pending == 0) return true;
    reply.Array(2);
    reply.Bulk(consumer.name);
    reply.BulkInteger(static_cast<int64_t>(consumer.pending));
    ++count;
    return true;
  }));
  reply.FinishArray(mark, count);
  return Ok();
}

struct PendingQuery {
  int64_t min_idle_ms = 0;
  StreamRange range;
  int64_t count = 0;
  std::optional<std::string_view> consumer;
};

// [IDLE min-idle-time] start end count [consumer], from the fourth argument on.
Result<PendingQuery> ReadPendingQuery(const Args& args) {
  PendingQuery query;
  size_t at = 3;
  if (EqualsIgnoreCase(args[3], "idle")) {
    query.min_idle_ms = TRY(ReadStreamNumber(args[4]));
    if (args.size() < 8) return Status::Reply(errors::kSyntax);
    at += 2;
  }
  query.count = TRY(ReadStreamCount(args[at + 2]));
  query.range.from = TRY(ReadRangeStart(args[at]));
  query.range.to = TRY(ReadRangeEnd(args[at + 1]));
  if (at + 3 < args.size()) query.consumer = args[at + 3];
  return query;
}

Status ReplyPendingEntries(CommandContext& ctx, const PendingQuery& query, StreamGroup& group, Reply& reply) {
  StreamConsumer* consumer = nullptr;
  if (query.consumer) {
    consumer = TRY(group.Consumer(*query.consumer));
  }
  if (query.count == 0 || (query.consumer && consumer == nullptr)) {
    reply.Array(0);
    return Ok();
  }
  const size_t mark = reply.Later();
  int64_t written = 0;
  const auto visit = [&](const PendingEntry& entry) -> Result<bool> {
    const int64_t idle_ms = ctx.now_ms() - entry.delivered_ms;
    if (query.min_idle_ms != 0 && !entry.nacked && idle_ms < query.min_idle_ms) return true;
    reply.Array(4);
    ReplyStreamId(reply, entry.id);
    reply.Bulk(entry.consumer);
    reply.Integer(entry.nacked ? -1 : std::max<int64_t>(idle_ms, 0));
    reply.Integer(static_cast<int64_t>(entry.deliveries));
    return ++written != query.count;
  };
  const auto& [from, to] = query.range;
  TRY(consumer != nullptr ? group.ForEachPendingOf(*consumer, from, to, visit) : group.ForEachPending(from, to, visit));
  reply.FinishArray(mark, static_cast<size_t>(written));
  return Ok();
}

// XPENDING key group [[IDLE min-idle-time:integer] start end count [consumer]]
Status XPending(CommandContext& ctx, Args& args, Reply& reply) {
  const bool summary = args.size() == 3;
  if (!summary && (args.size() < 6 || args.size() > 9)) return Status::Reply(errors::kSyntax);
  PendingQuery query;
  if (!summary) query = TRY(ReadPendingQuery(args));
  Named<Stream> stream(ctx, args[1]);
  TRY(stream.Open());
  std::optional<StreamGroup> group = TRY(StreamGroup::Find(stream, args[2]));
  if (!group) return NoSuchGroup(args[1], args[2]);
  return summary ? ReplyPendingSummary(*group, reply) : ReplyPendingEntries(ctx, query, *group, reply);
}

// clang-format off
constexpr CommandRow kSubcommandRows[] = {
    {.name = "create", .arity = -5, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kInsert, 2)}, .run = XGroupCreate,
     .group = Group::kStream, .since = "5.0.0", .summary = "Creates a consumer group.", .complexity = "O(1)",
     .syntax = "key groupname <id | $> [MKSTREAM] [ENTRIESREAD entries_read:integer]"},
    {.name = "createconsumer", .arity = 5, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kInsert, 2)},
     .run = XGroupCreateConsumer, .group = Group::kStream, .since = "6.2.0",
     .summary = "Creates a consumer of a group.", .complexity = "O(1)", .syntax = "key groupname consumername"},
    {.name = "delconsumer", .arity = 5, .flags = kWrite, .keys = {OneKey(kRW | kDelete, 2)}, .run = XGroupDelConsumer,
     .group = Group::kStream, .since = "5.0.0", .summary = "Deletes a consumer and its pending entries.",
     .complexity = "O(N) with N the number of entries pending for it", .syntax = "key groupname consumername"},
    {.name = "destroy", .arity = 4, .flags = kWrite, .keys = {OneKey(kRW | kDelete, 2)}, .run = XGroupDestroy,
     .group = Group::kStream, .since = "5.0.0", .summary = "Deletes a consumer group.",
     .complexity = "O(N) with N the number of its pending entries", .syntax = "key groupname"},
    {.name = "help", .arity = 2, .flags = kLoading | kStale, .run = Help<kHelp>, .group = Group::kStream,
     .since = "5.0.0", .summary = "Describes the subcommands.", .complexity = "O(1)"},
    {.name = "setid", .arity = -5, .flags = kWrite, .keys = {OneKey(kRW | kUpdate, 2)}, .run = XGroupSetId,
     .group = Group::kStream, .since = "5.0.0", .summary = "Sets the read position of a consumer group.",
     .complexity = "O(1)", .syntax = "key groupname <id | $> [ENTRIESREAD entries_read:integer]"},
};
// clang-format on

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "xgroup", .arity = -2, .flags = kSubcommands, .group = Group::kStream, .since = "5.0.0",
     .summary = "Creates and deletes consumer groups.", .complexity = "That of the subcommand",
     .subcommands = kSubcommandRows},
    {.name = "xack", .arity = -4, .flags = kWrite | kFast, .keys = {OneKey(kRW | kUpdate)}, .run = XAck,
     .group = Group::kStream, .since = "5.0.0", .summary = "Acknowledges entries, which are then no longer pending.",
     .complexity = "O(1) for each entry", .syntax = "key group id [id ...]"},
    {.name = "xpending", .arity = -3, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = XPending,
     .group = Group::kStream, .since = "5.0.0",
     .summary = "Returns the entries that were delivered but not acknowledged.",
     .complexity = "O(N) with N the number of entries looked at, or of consumers",
     .syntax = "key group [[IDLE min-idle-time:integer] start end count [consumer]]",
     .tips = "nondeterministic_output"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> StreamGroupCommands() { return kRows; }

}  // namespace cairn
