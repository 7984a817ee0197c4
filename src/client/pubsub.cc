// SPDX-License-Identifier: BSD-3-Clause
#include "client/pubsub.h"

#include "base/glob.h"
#include "client/client_session.h"
#include "resp/reply.h"

namespace cairn {
namespace {

// A message, encoded in RESP for each protocol when first needed.
class Message {
 public:
  Message(std::string_view type, std::string_view pattern, const Notification& notification)
      : type_(type), pattern_(pattern), notification_(notification) {}

  const std::string& In(int protocol) {
    std::string& text = texts_[protocol == 3];
    if (text.empty()) Write(Reply(text, protocol));
    return text;
  }

 private:
  void Write(Reply reply) const {
    const bool has_pattern = type_ == "pmessage";
    reply.Push(has_pattern ? 4 : 3);
    reply.Bulk(type_);
    if (has_pattern) reply.Bulk(pattern_);
    reply.Bulk(notification_.channel);
    reply.Bulk(notification_.message);
  }

  const std::string_view type_;
  const std::string_view pattern_;
  const Notification& notification_;
  std::string texts_[2];
};

void PushToAll(const std::unordered_set<ClientSession*>& sessions, Message message) {
  for (ClientSession* session : sessions) {
    session->Push(message.In(session->shown.protocol.load(std::memory_order_relaxed)));
  }
}

}  // namespace

void PubSub::Remove(ChannelKind kind, const std::string& name, ClientSession& session) {
  Index& index = indexes_[static_cast<size_t>(kind)];
  const auto found = index.find(name);
  if (found == index.end()) return;
  found->second.erase(&session);
  if (found->second.empty()) index.erase(found);
}

void PubSub::Settle(ClientSession& session, std::string& pushed) {
  const MutexLock lock(mutex_);
  Subscriptions& subscriptions = session.subscriptions;
  for (const Subscriptions::Change& change : subscriptions.changes()) {
    if (change.added) {
      indexes_[static_cast<size_t>(change.kind)][change.name].insert(&session);
      session.memory.listed_bytes += Session::ListedBytes(change.name);
    } else {
      Remove(change.kind, change.name, session);
      session.memory.listed_bytes -= Session::ListedBytes(change.name);
    }
  }
  for (const ChannelKind kind : {ChannelKind::kChannel, ChannelKind::kPattern, ChannelKind::kShard}) {
    session.shown.subscriptions[static_cast<size_t>(kind)] = static_cast<uint32_t>(subscriptions.count(kind));
  }
  session.shown.protocol = session.protocol;
  session.TakePushed(pushed);
  // The slot of a new channel may have left between the command and now.
  std::vector<std::string> lost;
  for (const Subscriptions::Change& change : subscriptions.changes()) {
    if (change.added && change.kind == ChannelKind::kShard && !Serves(change.name)) lost.push_back(change.name);
  }
  for (const std::string& channel : lost) {
    if (!DropShardChannel(session, channel)) continue;
    Remove(ChannelKind::kShard, channel, session);
    PushCancellation(session, channel);
  }
  subscriptions.Settled();
}

bool PubSub::DropShardChannel(ClientSession& session, std::string_view channel) {
  if (!session.subscriptions.Remove(ChannelKind::kShard, channel)) return false;
  session.memory.listed_bytes -= Session::ListedBytes(channel);
  return true;
}

void PubSub::PushCancellation(ClientSession& session, std::string_view channel) {
  const uint32_t left = --session.shown.subscriptions[static_cast<size_t>(ChannelKind::kShard)];
  std::string message;
  Reply reply(message, session.shown.protocol.load(std::memory_order_relaxed));
  reply.Push(3);
  reply.Bulk("sunsubscribe");
  reply.Bulk(channel);
  reply.Integer(left);
  session.Push(message);
}

void PubSub::CancelLostShardChannels() {
  const MutexLock lock(mutex_);
  Index& index = indexes_[static_cast<size_t>(ChannelKind::kShard)];
  for (auto entry = index.begin(); entry != index.end();) {
    if (Serves(entry->first)) {
      ++entry;
      continue;
    }
    for (ClientSession* session : entry->second) {
      PushCancellation(*session, entry->first);
      session->cancelled_channels.push_back(entry->first);
      session->has_cancelled_channels = true;
    }
    entry = index.erase(entry);
  }
}

void PubSub::DropCancelled(ClientSession& session) {
  const MutexLock lock(mutex_);
  session.subscriptions.Rewind();
  for (const std::string& channel : session.cancelled_channels) DropShardChannel(session, channel);
  session.subscriptions.Settled();
  session.cancelled_channels.clear();
  session.has_cancelled_channels = false;
}

void PubSub::Forget(ClientSession& session) {
  session.subscriptions.Rewind();
  if (session.subscriptions.empty()) return;
  session.subscriptions.RemoveAll();
  std::string pushed;
  Settle(session, pushed);
}

int64_t PubSub::CountReceivers(ChannelKind kind, std::string_view channel) const {
  const MutexLock lock(mutex_);
  const auto found = Of(kind).find(channel);
  size_t count = found == Of(kind).end() ? 0 : found->second.size();
  if (kind == ChannelKind::kShard) return static_cast<int64_t>(count);
  for (const auto& [pattern, sessions] : Of(ChannelKind::kPattern)) {
    if (GlobMatches(pattern, channel)) count += sessions.size();
  }
  return static_cast<int64_t>(count);
}

void PubSub::DeliverOne(const Notification& notification) {
  const bool is_shard = notification.kind == NotificationKind::kShardMessage;
  const ChannelKind kind = is_shard ? ChannelKind::kShard : ChannelKind::kChannel;
  const auto found = Of(kind).find(notification.channel);
  if (found != Of(kind).end()) {
    PushToAll(found->second, Message(is_shard ? "smessage" : "message", {}, notification));
  }
  if (is_shard) return;
  for (const auto& [pattern, sessions] : Of(ChannelKind::kPattern)) {
    if (GlobMatches(pattern, notification.channel)) PushToAll(sessions, Message("pmessage", pattern, notification));
  }
}

void PubSub::Deliver(std::span<const Notification> notifications) {
  const MutexLock lock(mutex_);
  for (const Notification& notification : notifications) {
    const bool is_message =
        notification.kind == NotificationKind::kMessage || notification.kind == NotificationKind::kShardMessage;
    if (!is_message) continue;  // client/tracking.h delivers the others
    DeliverOne(notification);
    if (notification.source != 0 && forwards()) cluster_node_.forward(notification);
  }
}

int64_t PubSub::Count(ChannelKind kind) const {
  const MutexLock lock(mutex_);
  return static_cast<int64_t>(Of(kind).size());
}

std::vector<std::string> PubSub::Channels(ChannelKind kind) const {
  const MutexLock lock(mutex_);
  std::vector<std::string> channels;
  for (const auto& [channel, sessions] : Of(kind)) channels.push_back(channel);
  return channels;
}

void PubSub::Visit(const Visitor& visit) const {
  const MutexLock lock(mutex_);
  for (const ChannelKind kind : {ChannelKind::kChannel, ChannelKind::kPattern, ChannelKind::kShard}) {
    for (const auto& [name, sessions] : Of(kind)) {
      for (ClientSession* session : sessions) visit(*session, kind, name);
    }
  }
}

int64_t PubSub::CountSubscribers(ChannelKind kind, std::string_view channel) const {
  const MutexLock lock(mutex_);
  const auto found = Of(kind).find(channel);
  return found == Of(kind).end() ? 0 : static_cast<int64_t>(found->second.size());
}

}  // namespace cairn
