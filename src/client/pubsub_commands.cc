// SPDX-License-Identifier: BSD-3-Clause
//
// SUBSCRIBE, PUBLISH and their families, and PUBSUB, which inspects their state.
//
// PUBLISH compares its channel with all patterns under PubSub's mutex, so a pattern is short, and a PUBLISH with a long
// channel runs on the slow lane.
//
// They touch no rows. A subscription changes only the session; the worker applies it (PubSub::Settle) after the
// command. PUBLISH adds a notification to the transaction; the worker delivers it after the tick's commit.
#include "client/families.h"
#include "client/pubsub.h"
#include "command/help.h"
#include "command/parts.h"
#include "command/scan_options.h"

namespace cairn {
namespace {

constexpr size_t kMostPatternBytes = 4096;
constexpr size_t kMostFastChannelBytes = 4096;

int64_t ShownCount(const Subscriptions& subscriptions, ChannelKind kind) {
  if (kind == ChannelKind::kShard) return static_cast<int64_t>(subscriptions.count(kind));
  return static_cast<int64_t>(subscriptions.count(ChannelKind::kChannel) + subscriptions.count(ChannelKind::kPattern));
}

// Replies for one name; null: there was no subscription to cancel.
void Confirm(CommandContext& ctx, Reply& reply, ChannelKind kind, const std::string_view* name) {
  Session& session = ctx.session();
  const size_t mark = reply.size();
  reply.Push(3);
  reply.Bulk(ctx.command().full_name());
  if (name == nullptr) {
    reply.Null();
  } else {
    reply.Bulk(*name);
  }
  reply.Integer(ShownCount(session.subscriptions, kind));
  if (session.reply_mode != ReplyMode::kOn) {
    session.subscriptions.NoteConfirmation(reply.written().substr(mark));
  }
}

// Waits for messages that the client published earlier in this tick: they must arrive before the change.
Status AwaitOwnMessages(CommandContext& ctx) {
  const bool waits = ctx.txn().command().lane() == Lane::kFast && !ctx.txn().notifications().empty();
  return waits ? Status::WouldWait() : Ok();
}

Status CheckPatterns(std::span<const std::string_view> patterns) {
  for (const std::string_view pattern : patterns) {
    if (pattern.size() > kMostPatternBytes) {
      return Status::Reply("ERR pattern exceeds maximum allowed size (4096 bytes)");
    }
  }
  return Ok();
}

template <ChannelKind kind>
Status SubscribeTo(CommandContext& ctx, Args& args, Reply& reply) {
  // Redis allows the other two kinds in MULTI, because clients relied on it.
  if (kind == ChannelKind::kShard && ctx.session().multi.active) {
    return Status::Reply("ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client");
  }
  if (kind == ChannelKind::kPattern) TRY(CheckPatterns(args.all().subspan(1)));
  TRY(AwaitOwnMessages(ctx));
  while (args.More()) {
    const std::string_view name = args.Bytes();
    ctx.session().subscriptions.Add(kind, name);
    Confirm(ctx, reply, kind, &name);
  }
  return Ok();
}

template <ChannelKind kind>
Status UnsubscribeFrom(CommandContext& ctx, Args& args, Reply& reply) {
  TRY(AwaitOwnMessages(ctx));
  Subscriptions& subscriptions = ctx.session().subscriptions;
  if (!args.More() && subscriptions.count(kind) == 0) Confirm(ctx, reply, kind, nullptr);
  const bool from_all = !args.More();
  while (from_all ? subscriptions.count(kind) > 0 : args.More()) {
    const std::string own = from_all ? *subscriptions.names(kind).begin() : std::string(args.Bytes());
    const std::string_view name = own;
    subscriptions.Remove(kind, name);
    Confirm(ctx, reply, kind, &name);
  }
  return Ok();
}

// PUBLISH channel message; SPUBLISH shardchannel message
template <ChannelKind kind>
Status PublishTo(PubSub& pubsub, CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view channel = args.Bytes();
  const std::string_view message = args.Bytes();
  const bool is_long = channel.size() > kMostFastChannelBytes;
  if (is_long && ctx.txn().command().lane() == Lane::kFast) return Status::WouldWait();
  const int64_t receivers = pubsub.CountReceivers(kind, channel);
  const bool forwards = pubsub.forwards();
  if (receivers > 0 || forwards) {
    const bool is_shard = kind == ChannelKind::kShard;
    ctx.txn().notifications().Add({is_shard ? NotificationKind::kShardMessage : NotificationKind::kMessage,
                                   std::string(channel), std::string(message), ctx.session().id()});
  }
  // In a cluster, replicas get the message by the bus.
  if (!forwards) ctx.Replicate(args.all());
  reply.Integer(receivers);
  return Ok();
}

// PUBSUB CHANNELS [pattern]; PUBSUB SHARDCHANNELS [pattern]
template <ChannelKind kind>
Status PubSubChannels(PubSub& pubsub, CommandContext& ctx, Args& args, Reply& reply) {
  if (args.size() > 3) return Status::Reply(errors::BadSubcommand(args[1], "PUBSUB"));
  args.Skip(1);
  const std::string_view pattern = args.More() ? args.Bytes() : std::string_view();
  const bool has_pattern = args.size() == 3;
  const size_t mark = reply.Later();
  size_t shown = 0;
  for (const std::string& channel : pubsub.Channels(kind)) {
    if (has_pattern && !TRY(SpendOnGlob(ctx.txn().command(), pattern, channel))) continue;
    reply.Bulk(channel);
    ++shown;
  }
  reply.FinishArray(mark, shown);
  return Ok();
}

// PUBSUB NUMSUB [channel ...]; PUBSUB SHARDNUMSUB [shardchannel ...]
template <ChannelKind kind>
Status PubSubNumSub(PubSub& pubsub, CommandContext&, Args& args, Reply& reply) {
  args.Skip(1);
  reply.Array(args.left() * 2);
  while (args.More()) {
    const std::string_view channel = args.Bytes();
    reply.Bulk(channel);
    reply.Integer(pubsub.CountSubscribers(kind, channel));
  }
  return Ok();
}

// PUBSUB NUMPAT
Status PubSubNumPat(PubSub& pubsub, CommandContext&, Args&, Reply& reply) {
  reply.Integer(pubsub.Count(ChannelKind::kPattern));
  return Ok();
}

constexpr std::string_view kHelp[] = {
    "CHANNELS [<pattern>]",
    "    Show the channels that have subscribers, or the matching ones of them.",
    "NUMPAT",
    "    Count the patterns that have subscribers.",
    "NUMSUB [<channel> ...]",
    "    Count the subscribers of each channel, without those of patterns.",
    "SHARDCHANNELS [<pattern>]",
    "    Show the shard channels that have subscribers, or the matching ones of them.",
    "SHARDNUMSUB [<shardchannel> ...]",
    "    Count the subscribers of each shard channel.",
};

constexpr auto kGroup = Group::kPubsub;
constexpr uint32_t kListen = kPubsub | kNoScript | kLoading | kStale | kForListener;
constexpr uint32_t kLook = kPubsub | kLoading | kStale;
constexpr auto kChannel = ChannelKind::kChannel;
constexpr auto kPattern = ChannelKind::kPattern;
constexpr auto kShard = ChannelKind::kShard;

// clang-format off
constexpr CommandRow kSubcommandRows[] = {
    {.name = "channels", .arity = -2, .flags = kLook, .run = With<PubSubChannels<kChannel>>, .group = kGroup,
     .since = "2.8.0", .summary = "Lists the channels that have subscribers.",
     .complexity = "O(N) with N the number of channels", .syntax = "[pattern]"},
    {.name = "numpat", .arity = 2, .flags = kLook, .run = With<PubSubNumPat>, .group = kGroup, .since = "2.8.0",
     .summary = "Counts the patterns that have subscribers.", .complexity = "O(1)"},
    {.name = "numsub", .arity = -2, .flags = kLook, .run = With<PubSubNumSub<kChannel>>, .group = kGroup,
     .since = "2.8.0", .summary = "Counts the subscribers of channels.",
     .complexity = "O(N log M) with N the channels given and M the channels with subscribers",
     .syntax = "[channel [channel ...]]"},
    {.name = "help", .arity = 2, .flags = kLoading | kStale, .run = Help<kHelp>, .group = kGroup,
     .since = "6.2.0", .summary = "Describes the subcommands.", .complexity = "O(1)"},
    {.name = "shardchannels", .arity = -2, .flags = kLook, .run = With<PubSubChannels<kShard>>, .group = kGroup,
     .since = "7.0.0", .summary = "Lists the shard channels that have subscribers.",
     .complexity = "O(N) with N the number of shard channels", .syntax = "[pattern]"},
    {.name = "shardnumsub", .arity = -2, .flags = kLook, .run = With<PubSubNumSub<kShard>>, .group = kGroup,
     .since = "7.0.0", .summary = "Counts the subscribers of shard channels.",
     .complexity = "O(N log M) with N the channels given and M the channels with subscribers",
     .syntax = "[shardchannel [shardchannel ...]]"},
};
// clang-format on

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "subscribe", .arity = -2, .flags = kListen, .run = SubscribeTo<kChannel>, .group = kGroup,
     .since = "2.0.0", .summary = "Subscribes to channels.",
     .complexity = "O(N log M) with N the channels given and M the channels with subscribers",
     .syntax = "channel [channel ...]"},
    {.name = "unsubscribe", .arity = -1, .flags = kListen, .run = UnsubscribeFrom<kChannel>, .group = kGroup,
     .since = "2.0.0", .summary = "Unsubscribes from channels; from all without an argument.",
     .complexity = "O(N log M) with N the channels left and M the channels with subscribers",
     .syntax = "[channel [channel ...]]"},
    {.name = "psubscribe", .arity = -2, .flags = kListen, .run = SubscribeTo<kPattern>, .group = kGroup,
     .since = "2.0.0", .summary = "Subscribes to all channels that match a pattern.",
     .complexity = "O(N log M) with N the patterns given and M the patterns with subscribers",
     .syntax = "pattern [pattern ...]"},
    {.name = "punsubscribe", .arity = -1, .flags = kListen, .run = UnsubscribeFrom<kPattern>, .group = kGroup,
     .since = "2.0.0", .summary = "Unsubscribes from patterns; from all without an argument.",
     .complexity = "O(N log M) with N the patterns left and M the patterns with subscribers",
     .syntax = "[pattern [pattern ...]]"},
    {.name = "ssubscribe", .arity = -2, .flags = kListen, .keys = {KeysToEnd(kNotKey)},
     .run = SubscribeTo<kShard>, .group = kGroup, .since = "7.0.0", .summary = "Subscribes to shard channels.",
     .complexity = "O(N log M) with N the channels given and M the channels with subscribers",
     .syntax = "shardchannel [shardchannel ...]"},
    {.name = "sunsubscribe", .arity = -1, .flags = kListen, .keys = {KeysToEnd(kNotKey)},
     .run = UnsubscribeFrom<kShard>, .group = kGroup, .since = "7.0.0",
     .summary = "Unsubscribes from shard channels; from all without an argument.",
     .complexity = "O(N log M) with N the channels left and M the channels with subscribers",
     .syntax = "[shardchannel [shardchannel ...]]"},
    {.name = "publish", .arity = 3, .flags = kPubsub | kLoading | kStale | kFast | kMayReplicate,
     .run = With<PublishTo<kChannel>>, .group = kGroup, .since = "2.0.0",
     .summary = "Sends a message to the subscribers of a channel.",
     .complexity = "O(N+M) with N the subscribers of the channel and M the patterns with subscribers",
     .syntax = "channel message"},
    {.name = "spublish", .arity = 3, .flags = kPubsub | kLoading | kStale | kFast | kMayReplicate,
     .keys = {OneKey(kNotKey)}, .run = With<PublishTo<kShard>>, .group = kGroup, .since = "7.0.0",
     .summary = "Sends a message to the subscribers of a shard channel.",
     .complexity = "O(N) with N the subscribers of the shard channel", .syntax = "shardchannel message"},
    {.name = "pubsub", .arity = -2, .flags = kSubcommands, .group = kGroup, .since = "2.8.0",
     .summary = "Commands that show channels and their subscribers.",
     .complexity = "Depends on the subcommand.", .subcommands = kSubcommandRows},
};
// clang-format on

}  // namespace

std::span<const CommandRow> PubSubCommands() { return kRows; }

}  // namespace cairn
