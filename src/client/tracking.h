// SPDX-License-Identifier: BSD-3-Clause
//
// Tracking: which clients may have a copy of which keys (CLIENT TRACKING), and what they are told when one changes.
//
// A client that tracks by default is remembered for every key that it reads; the first change of the key is told to it,
// and with that it is forgotten. In broadcasting mode (BCAST) it names prefixes instead and is told of every change
// below them; nothing is remembered then.
//
// No change is missed, across all threads: (1) a client is remembered before it looks at the key, so a commit that its
// reply does not show finds it here; (2) changes are told after their commit, and what is pushed to a client comes
// after the replies it had when it was pushed; (3) the first client that tracks waits until every command that is under
// way is committed (storage/interest.h). What may happen is to be told of a change that one has seen already.
//
// Keys go by their names alone, whatever their database, as in Redis.
//
// Thread: any; guarded by mutex_, under which sessions are looked up and pushed to.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "client/client_registry.h"
#include "storage/transaction.h"

namespace cairn {

class ClientSession;
class Store;

class Tracking {
 public:
  explicit Tracking(const ClientRegistry& clients) : clients_(clients) {}

  struct Options {
    uint64_t redirect = 0;  // the client that is told instead; 0: oneself
    bool broadcast = false;
    bool no_loop = false;  // is not told of its own changes
    std::vector<std::string> prefixes;
  };
  void set_store(Store& store) { store_ = &store; }  // once, before there are clients

  // Sees to it that changes are announced, for a client that is going to track; to be asked until it is OK.
  // REQUIRES: the transaction may wait, or kWouldWait is passed on.
  Status Prepare(const ClientSession& session, Transaction& txn);
  // Begins or goes on with other options; prefixes add up. REQUIRES: Prepare was OK.
  void TurnOn(ClientSession& session, const Options& options);
  // Ends, also when the session is going away. No-op for one that does not track.
  void TurnOff(ClientSession& session);
  std::set<std::string> PrefixesOf(const ClientSession& session) const;

  // The session is about to look at these keys. Not in broadcasting mode.
  void Remember(const ClientSession& session, std::span<const std::string_view> keys);
  // Keys that are remembered at most; 0: any number. The others are told of as if they had changed.
  void SetMostKeys(uint64_t most_keys);
  // What they may take, in bytes.
  void SetMostBytes(uint64_t most_bytes);

  // Tells of what changed among the notifications of a tick that is committed.
  void Deliver(std::span<const Notification> notifications);

  struct Totals {
    uint64_t clients = 0;
    uint64_t keys = 0;
    uint64_t items = 0;  // a key times the clients that are remembered for it
    uint64_t prefixes = 0;
  };
  Totals totals() const;

 private:
  struct Tracker {
    ClientSession* session = nullptr;  // null: it has not begun yet
    uint64_t redirect = 0;
    bool broadcast = false;
    bool no_loop = false;
    std::set<std::string> prefixes;
  };
  using Readers = std::unordered_map<std::string, std::vector<uint64_t>>;
  // The keys that changed below a prefix, each with the client that changed it last.
  using Changes = std::map<std::string_view, uint64_t>;

  void TellReaders(Readers::iterator readers, uint64_t source, std::span<const Notification> later);
  void TellAll();
  void Broadcast(const std::map<std::string_view, Changes>& by_prefix);
  void Send(const Tracker& tracker, std::string_view what);
  void MakeRoom(uint64_t keys);

  const ClientRegistry& clients_;
  Store* store_ = nullptr;
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, Tracker> trackers_;  // by client id
  Readers readers_;                                 // the clients that read a key, by the key
  std::map<std::string, std::unordered_set<uint64_t>, std::less<>> prefixes_;
  uint64_t items_ = 0;
  uint64_t bytes_ = 0;  // that readers_ takes
  uint64_t most_keys_ = 0;
  uint64_t most_bytes_ = UINT64_MAX;
};

}  // namespace cairn
