// SPDX-License-Identifier: BSD-3-Clause
#include "client/tracking.h"

#include <algorithm>

#include "client/client_session.h"
#include "resp/reply.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr std::string_view kChannel = "__redis__:invalidate";

constexpr uint64_t kReaderBytes = 2 * sizeof(uint64_t);

uint64_t BytesOf(std::string_view key) { return key.size() + 128; }

std::string KeyArray(std::span<const std::string_view> keys) {
  std::string text;
  Reply reply(text, 2);
  reply.Array(keys.size());
  for (const std::string_view key : keys) reply.Bulk(key);
  return text;
}

}  // namespace

// Registers the client first, so that the last other tracker cannot end the notifications meanwhile.
Status Tracking::Prepare(const ClientSession& session, Transaction& txn) {
  {
    const MutexLock lock(mutex_);
    trackers_.try_emplace(session.id());
  }
  if (!(store_->interests().wanted() & kInterestInKeys)) {
    TRY(txn.LockAll());
    store_->interests().Set(kInterestInKeys, kInterestInKeys);
  }
  txn.replicated_commands().SetInterest(store_->interests().wanted());
  return Ok();
}

void Tracking::TurnOn(ClientSession& session, const Options& options) {
  const MutexLock lock(mutex_);
  Tracker& tracker = trackers_[session.id()];
  tracker.session = &session;
  tracker.redirect = options.redirect;
  tracker.broadcast = options.broadcast;
  tracker.no_loop = options.no_loop;
  for (const std::string& prefix : options.prefixes) {
    if (!tracker.prefixes.insert(prefix).second) continue;
    session.memory.listed_bytes += Session::ListedBytes(prefix);
    prefixes_[prefix].insert(session.id());
  }
}

void Tracking::TurnOff(ClientSession& session) {
  const MutexLock lock(mutex_);
  const auto found = trackers_.find(session.id());
  if (found == trackers_.end()) return;
  for (const std::string& prefix : found->second.prefixes) {
    const auto clients = prefixes_.find(prefix);
    clients->second.erase(session.id());
    if (clients->second.empty()) prefixes_.erase(clients);
    session.memory.listed_bytes -= Session::ListedBytes(prefix);
  }
  trackers_.erase(found);
  if (!trackers_.empty()) return;  // keys that the client has read are forgotten when they change
  store_->interests().Set(kInterestInKeys, 0);
  Readers().swap(readers_);
  items_ = bytes_ = 0;
}

std::set<std::string> Tracking::PrefixesOf(const ClientSession& session) const {
  const MutexLock lock(mutex_);
  const auto found = trackers_.find(session.id());
  return found == trackers_.end() ? std::set<std::string>() : found->second.prefixes;
}

std::vector<std::string_view> Tracking::Remember(const ClientSession& session, std::span<const std::string_view> keys) {
  std::vector<std::string_view> added;
  const MutexLock lock(mutex_);
  for (const std::string_view key : keys) {
    std::string name(key);
    auto found = readers_.find(name);
    if (found == readers_.end()) {
      if (most_keys_ != 0) MakeRoom(most_keys_ - 1);
      found = readers_.emplace(std::move(name), std::vector<uint64_t>()).first;
      bytes_ += BytesOf(key);
    }
    std::vector<uint64_t>& ids = found->second;
    if (std::find(ids.begin(), ids.end(), session.id()) != ids.end()) continue;
    ids.push_back(session.id());
    added.push_back(key);
    ++items_;
    bytes_ += kReaderBytes;
  }
  if (bytes_ > most_bytes_) MakeRoom(UINT64_MAX);
  return added;
}

void Tracking::SetMostKeys(uint64_t most_keys) {
  const MutexLock lock(mutex_);
  most_keys_ = most_keys;
  if (most_keys_ != 0) MakeRoom(most_keys_);
}

void Tracking::SetMostBytes(uint64_t most_bytes) {
  const MutexLock lock(mutex_);
  most_bytes_ = most_bytes;
  MakeRoom(UINT64_MAX);
}

// Invalidates keys until at most `keys` are remembered and their memory is within the limit.
void Tracking::MakeRoom(uint64_t keys) {
  while (!readers_.empty() && (readers_.size() > keys || bytes_ > most_bytes_)) {
    NotifyReaders(readers_.begin(), 0, 0, {});
  }
}

void Tracking::Deliver(std::span<const Notification> notifications) {
  const MutexLock lock(mutex_);
  if (trackers_.empty()) return;
  LastReads reads;
  for (size_t i = 0; i < notifications.size(); ++i) {
    const Notification& one = notifications[i];
    if (one.kind == NotificationKind::kKeyRead) reads[{one.source, one.channel}] = i;
  }
  std::map<std::string_view, Changes> by_prefix;
  for (size_t i = 0; i < notifications.size(); ++i) {
    const Notification& one = notifications[i];
    if (one.kind == NotificationKind::kAllChanged) NotifyAll();
    if (one.kind != NotificationKind::kKeyChanged) continue;
    const std::string& key = one.channel;
    for (const auto& [prefix, clients] : prefixes_) {
      if (key.starts_with(prefix)) by_prefix[prefix][key] = one.source;
    }
    const auto readers = readers_.find(key);
    if (readers != readers_.end()) NotifyReaders(readers, one.source, i, reads);
  }
  if (!by_prefix.empty()) Broadcast(by_prefix);
}

// A client that was remembered anew later in the same tick has read the change, and stays remembered.
void Tracking::NotifyReaders(Readers::iterator readers, uint64_t source, size_t change, const LastReads& reads) {
  const std::string& key = readers->first;
  const std::string_view keys[] = {key};
  const std::string what = KeyArray(keys);
  std::vector<uint64_t> kept;
  for (const uint64_t id : readers->second) {
    const auto read = reads.find({id, key});
    if (read != reads.end() && read->second > change) {
      kept.push_back(id);
      continue;
    }
    const auto tracker = trackers_.find(id);
    if (tracker == trackers_.end() || tracker->second.session == nullptr || tracker->second.broadcast) continue;
    if (tracker->second.no_loop && id == source) {
      kept.push_back(id);
      continue;
    }
    Send(tracker->second, what);
  }
  const size_t told = readers->second.size() - kept.size();
  items_ -= told;
  bytes_ -= told * kReaderBytes;
  if (kept.empty()) {
    bytes_ -= BytesOf(key);
    readers_.erase(readers);
  } else {
    readers->second = std::move(kept);
  }
}

void Tracking::NotifyAll() {
  for (const auto& [id, tracker] : trackers_) {
    if (tracker.session == nullptr) continue;
    Send(tracker, tracker.session->shown.protocol.load() == 3 ? "_\r\n" : "$-1\r\n");
  }
  Readers().swap(readers_);
  items_ = bytes_ = 0;
}

// Sends one message per prefix; a client with NOLOOP gets a message without its own changes.
void Tracking::Broadcast(const std::map<std::string_view, Changes>& by_prefix) {
  for (const auto& [prefix, changes] : by_prefix) {
    std::vector<std::string_view> keys;
    for (const auto& [key, source] : changes) keys.push_back(key);
    const std::string all = KeyArray(keys);
    for (const uint64_t id : prefixes_.find(prefix)->second) {
      const Tracker& tracker = trackers_.find(id)->second;
      if (!tracker.no_loop) {
        Send(tracker, all);
        continue;
      }
      std::vector<std::string_view> others;
      for (const auto& [key, source] : changes) {
        if (source != id) others.push_back(key);
      }
      if (!others.empty()) Send(tracker, KeyArray(others));
    }
  }
}

// RESP3 has push messages. In RESP2, only a subscriber to which another client redirects can be notified.
void Tracking::Send(const Tracker& tracker, std::string_view what) {
  ClientSession* target = tracker.session;
  std::shared_ptr<Session> other;
  std::string message;
  if (tracker.redirect != 0) {
    other = clients_.Find(tracker.redirect);
    const bool is_leaving = other != nullptr && other->close.load() != CloseRequest::kNone;
    target = is_leaving ? nullptr : static_cast<ClientSession*>(other.get());
  }
  if (target == nullptr) {
    tracker.session->shown.tracking |= kShowsBrokenRedirect;
    if (tracker.session->shown.protocol.load() != 3) return;
    Reply reply(message, 3);
    reply.Push(2);
    reply.Bulk("tracking-redir-broken");
    reply.Integer(static_cast<int64_t>(tracker.redirect));
    tracker.session->Push(message);
    return;
  }
  if (target->shown.protocol.load() == 3) {
    Reply reply(message, 3);
    reply.Push(2);
    reply.Bulk("invalidate");
  } else if (other != nullptr && target->is_subscriber()) {
    Reply reply(message, 2);
    reply.Push(3);
    reply.Bulk("message");
    reply.Bulk(kChannel);
  } else {
    return;
  }
  target->Push(message.append(what));
}

Tracking::Totals Tracking::totals() const {
  const MutexLock lock(mutex_);
  return {trackers_.size(), readers_.size(), items_, prefixes_.size()};
}

}  // namespace cairn
