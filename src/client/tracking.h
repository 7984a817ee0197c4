// SPDX-License-Identifier: BSD-3-Clause
//
// Tracking: which clients may cache which keys (CLIENT TRACKING), and the invalidation messages when a key changes.
//
// In the default mode, the server remembers each key that a client reads; the first change of the key sends a message
// and forgets the pair. In broadcasting mode (BCAST), a client names prefixes instead and gets a message for every
// change below them; no reads are remembered.
//
// No change is missed, across all threads: (1) a client is remembered before it reads the key, so a commit that its
// reply does not show finds it; (2) messages are sent after the commit, and arrive after the replies that the client
// had when they were pushed; (3) the first tracking client waits until all commands in progress have committed
// (storage/interest.h). A client may get a message about a change that it has already seen. With NOLOOP it stays
// remembered after its own change, because it may have read the key again since.
//
// Keys are identified by their names alone, in whichever database, as in Redis.
//
// Thread: any; guarded by mutex_, under which sessions are looked up and pushed to.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "client/client_registry.h"
#include "storage/transaction.h"

namespace cairn {

class ClientSession;
class Store;

class Tracking {
 public:
  explicit Tracking(const ClientRegistry& clients) : clients_(clients) {}

  struct Options {
    uint64_t redirect = 0;  // the client that gets the messages; 0: the tracking client itself
    bool broadcast = false;
    bool no_loop = false;  // no messages about the client's own changes
    std::vector<std::string> prefixes;
  };
  void set_store(Store& store) { store_ = &store; }  // once, before there are clients

  // Turns notifications on for a client that is about to track; repeat until it returns OK. REQUIRES: the transaction
  // may wait, or the caller passes kWouldWait on.
  Status Prepare(const ClientSession& session, Transaction& txn);
  // Starts tracking, or changes its options; prefixes add up. REQUIRES: Prepare returned OK.
  void TurnOn(ClientSession& session, const Options& options);
  // Stops tracking, also when the session closes. No-op for a client that does not track.
  void TurnOff(ClientSession& session);
  std::set<std::string> PrefixesOf(const ClientSession& session) const;

  // Remembers that the session is about to read these keys. Not in broadcasting mode. Returns the keys that were not
  // remembered before.
  std::vector<std::string_view> Remember(const ClientSession& session, std::span<const std::string_view> keys);
  // The most keys to remember; 0: no limit. Keys beyond it are invalidated as if they had changed.
  void SetMostKeys(uint64_t most_keys);
  // The most memory for remembered keys, in bytes.
  void SetMostBytes(uint64_t most_bytes);

  // Sends the messages for the key changes among the notifications of a committed tick.
  void Deliver(std::span<const Notification> notifications);

  struct Totals {
    uint64_t clients = 0;
    uint64_t keys = 0;
    uint64_t items = 0;  // pairs of a key and a client
    uint64_t prefixes = 0;
  };
  Totals totals() const;

 private:
  struct Tracker {
    ClientSession* session = nullptr;  // null until TurnOn
    uint64_t redirect = 0;
    bool broadcast = false;
    bool no_loop = false;
    std::set<std::string> prefixes;
  };
  using Readers = std::unordered_map<std::string, std::vector<uint64_t>>;
  // The keys that changed below a prefix, each with the client that changed it last.
  using Changes = std::map<std::string_view, uint64_t>;
  // By client and key: the index, among the notifications of a tick, of the last read after which the client was
  // remembered anew.
  using LastReads = std::map<std::pair<uint64_t, std::string_view>, size_t>;

  // Invalidates a key that `source` changed. `change` is the index of that change among the notifications.
  void NotifyReaders(Readers::iterator readers, uint64_t source, size_t change, const LastReads& reads)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NotifyAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Broadcast(const std::map<std::string_view, Changes>& by_prefix) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Send(const Tracker& tracker, std::string_view what) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MakeRoom(uint64_t keys) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ClientRegistry& clients_;
  Store* store_ = nullptr;
  mutable Mutex mutex_;
  std::unordered_map<uint64_t, Tracker> trackers_ ABSL_GUARDED_BY(mutex_);  // by client id
  Readers readers_ ABSL_GUARDED_BY(mutex_);                                 // the clients that read a key, by the key
  std::map<std::string, std::unordered_set<uint64_t>, std::less<>> prefixes_ ABSL_GUARDED_BY(mutex_);
  uint64_t items_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // memory of readers_
  uint64_t most_keys_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t most_bytes_ ABSL_GUARDED_BY(mutex_) = UINT64_MAX;
};

}  // namespace cairn
