// SPDX-License-Identifier: BSD-3-Clause
//
// PubSub: the subscriptions, and the delivery of messages from publishers to subscribers.
//
// PUBLISH adds a message to the notifications of its transaction; the publisher's worker delivers them after the tick's
// commit. So no subscriber receives a message about a change that is not visible yet, and the messages of one publisher
// keep their order. A message is pushed to each subscriber's session (ClientSession::Push), and the subscriber's own
// thread sends it between two replies.
//
// Invariants: (1) messages are delivered one after the other, so two subscribers of the same channels receive them in
// the same order; (2) after Settle has returned, messages arrive for the new subscriptions and in the new protocol, and
// none for cancelled subscriptions.
//
// Thread: any; guarded by mutex_. Under it ClientSession::Push is called, which takes only leaf locks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "command/subscriptions.h"
#include "storage/transaction.h"

namespace cairn {

class ClientSession;

class PubSub {
 public:
  // Applies changes of the session's subscriptions and protocol. `pushed` gets the messages pushed before.
  void Settle(ClientSession& session, std::string& pushed);
  // Removes a session that is closing.
  void Forget(ClientSession& session);
  // Removes the cancelled subscriptions from the session's own list. Thread: the session's worker.
  void DropCancelled(ClientSession& session);

  // The number of messages that a PUBLISH would send; a client that subscribes to the channel and to a matching pattern
  // gets two. `kind` is kChannel, which patterns match too, or kShard.
  int64_t CountReceivers(ChannelKind kind, std::string_view channel) const;
  // A message with a source is one of a client here, and is also forwarded to the other nodes of a cluster.
  void Deliver(std::span<const Notification> notifications);

  // The cluster of which this server is a node. All but one are called under mutex_, so they take only leaf locks.
  // REQUIRES of the setter: no client is served yet.
  struct ClusterNode {
    std::function<bool()> forwards;
    // Sends a message to other nodes.
    std::function<void(const Notification& message)> forward;
    // The bytes of these messages that are not sent yet. Any thread calls it, without mutex_.
    std::function<size_t()> unsent_bytes;
    // Whether this node serves the slot of a shard channel.
    std::function<bool(std::string_view channel)> serves;
  };
  void set_cluster_node(ClusterNode node) { cluster_node_ = std::move(node); }
  bool forwards() const { return cluster_node_.forwards && cluster_node_.forwards(); }
  // The bytes of messages for other nodes of a cluster that are not sent yet. Any thread; takes no lock.
  size_t unsent_bytes() const { return cluster_node_.unsent_bytes ? cluster_node_.unsent_bytes() : 0; }
  // Must be called when this node serves fewer slots: cancels the subscriptions to their channels with a SUNSUBSCRIBE
  // message.
  void CancelLostShardChannels();

  // The number of channels or patterns with a subscriber.
  int64_t Count(ChannelKind kind) const;
  // The channels with a subscriber.
  std::vector<std::string> Channels(ChannelKind kind) const;
  int64_t CountSubscribers(ChannelKind kind, std::string_view channel) const;
  // Calls visit for every subscription. It may take only leaf locks, as the delivery of a message may.
  using Visitor = std::function<void(ClientSession& session, ChannelKind kind, std::string_view name)>;
  void Visit(const Visitor& visit) const;

 private:
  using Sessions = std::unordered_set<ClientSession*>;
  using Index = std::map<std::string, Sessions, std::less<>>;

  const Index& Of(ChannelKind kind) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return indexes_[static_cast<size_t>(kind)];
  }
  void Remove(ChannelKind kind, const std::string& name, ClientSession& session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Serves(std::string_view channel) const { return !cluster_node_.serves || cluster_node_.serves(channel); }
  // Returns false if the session has not subscribed to it. Thread: the session's worker.
  static bool DropShardChannel(ClientSession& session, std::string_view channel);
  static void PushCancellation(ClientSession& session, std::string_view channel);
  void DeliverOne(const Notification& notification) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  ClusterNode cluster_node_;
  mutable Mutex mutex_;
  Index indexes_[kChannelKinds] ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn
