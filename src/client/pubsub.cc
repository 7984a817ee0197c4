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
  subscriptions.Settled();
  for (const ChannelKind kind : {ChannelKind::kChannel, ChannelKind::kPattern, ChannelKind::kShard}) {
    session.shown.subscriptions[static_cast<size_t>(kind)] = static_cast<uint32_t>(subscriptions.count(kind));
  }
  session.shown.protocol = session.protocol;
  session.TakePushed(pushed);
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
    if (is_message) DeliverOne(notification);  // client/tracking.h delivers the others
  }
}

int64_t PubSub::Count(ChannelKind kind) const {
  const MutexLock lock(mutex_);
  return static_cast<int64_t>(Of(kind).size());
}

std::vector<std::string> PubSub::Channels(ChannelKind kind, std::optional<std::string_view> pattern) const {
  const MutexLock lock(mutex_);
  std::vector<std::string> channels;
  for (const auto& [channel, sessions] : Of(kind)) {
    if (!pattern || GlobMatches(*pattern, channel)) channels.push_back(channel);
  }
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
