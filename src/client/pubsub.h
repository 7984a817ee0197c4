// SPDX-License-Identifier: BSD-3-Clause
//
// PubSub: who listens to what, and the way a message takes from its publisher to them.
//
// PUBLISH announces a message to its transaction; when the tick is committed, the publisher's worker delivers what the
// tick has announced. So nobody hears of what is not yet to be seen, and the messages of one publisher keep their
// order. A message is appended to what is pushed to each subscriber's session (ClientSession::Push), from where the
// subscriber's own thread takes it between two replies.
//
// Invariants: (1) all messages are delivered one after the other, so that two subscribers of the same channels see
// them in the same order; (2) once Settle has returned, messages come for the new subscriptions and in the new
// protocol, and none for those that were given up.
//
// Thread: any; guarded by mutex_. Under it ClientSession::Push is called, which takes leaf locks only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "command/subscriptions.h"
#include "storage/transaction.h"

namespace cairn {

class ClientSession;

class PubSub {
 public:
  // Makes the changes of the session's subscriptions and its protocol known. `pushed` gets what was pushed to it under
  // the old ones.
  void Settle(ClientSession& session, std::string& pushed);
  // The session is going away.
  void Forget(ClientSession& session);

  // How many would get a message; one that listens to the channel and to a pattern gets it twice. `kind` is
  // kChannel, which patterns match too, or kShard.
  int64_t CountReceivers(ChannelKind kind, std::string_view channel) const;
  void Deliver(std::span<const Notification> notifications);

  // Channels or patterns that somebody listens to.
  int64_t Count(ChannelKind kind) const;
  // All of them, or those that match.
  std::vector<std::string> Channels(ChannelKind kind, std::optional<std::string_view> pattern) const;
  int64_t CountSubscribers(ChannelKind kind, std::string_view channel) const;
  // Calls visit for every subscription. It may take what a message's delivery may take: leaf locks.
  using Visitor = std::function<void(ClientSession& session, ChannelKind kind, std::string_view name)>;
  void Visit(const Visitor& visit) const;

 private:
  using Sessions = std::unordered_set<ClientSession*>;
  using Index = std::map<std::string, Sessions, std::less<>>;

  const Index& Of(ChannelKind kind) const { return indexes_[static_cast<size_t>(kind)]; }
  void Remove(ChannelKind kind, const std::string& name, ClientSession& session);
  void DeliverOne(const Notification& notification);

  mutable std::mutex mutex_;
  Index indexes_[kChannelKinds];
};

}  // namespace cairn
