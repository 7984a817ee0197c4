// SPDX-License-Identifier: BSD-3-Clause
//
// Waiters: the clients that wait for changes of keys. One table has two kinds: clients parked by BLPOP and similar
// commands, and clients that WATCH.
//
// A parked client never gets an element from another thread. When a commit changes one of its keys, the client is woken
// and its command runs again from the start; it may find nothing and park again. A key's queue is in order of arrival,
// and a woken client keeps its place until it is served. A commit wakes the first client of the queue. The next one is
// woken by the first one's own commit, or when the first one parks again although the key exists or was deleted. A
// client woken while an earlier one has yet to run waits for its turn.
//
// A commit that changes only consumer groups of a stream wakes clients, because XREADGROUP CLAIM waits for pending
// entries. WATCH does not see it, as in Redis.
//
// Invariants: (1) a client is registered before the stripes its command read are released, so no commit falls between
// the read and the registration; (2) a key's queue is in order of arrival; (3) CommitListener is called while the
// committer holds the stripe.
//
// Thread: any; guarded by mutex_, which ranks after key stripes (docs/threading.md). Not here: timeouts, which the
// connection's thread handles.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "command/session.h"
#include "encoding/row_key.h"
#include "storage/store.h"

namespace cairn {

class Waiters : public CommitListener {
 public:
  struct AwaitedKey {
    std::string row;  // the key row
    uint32_t stripe;
    bool exists = false;  // when the command last read it: then it may serve a waiter of another type
  };
  // The number of keys that clients wait for and watch, for INFO.
  struct Totals {
    uint64_t blocking_keys = 0;
    uint64_t blocking_keys_on_nokey = 0;  // of these, keys whose deletion unblocks a client
    uint64_t watched_keys = 0;
    uint64_t watching_clients = 0;
  };

  // Parks the session on its keys. If it is already parked and was woken without being served, it keeps its place, and
  // the next client of each key that exists or was deleted is woken. With `unblock_on_nokey` the deletion of a key also
  // unblocks the client. REQUIRES: the stripes are held.
  void Park(Session& session, const std::vector<AwaitedKey>& keys, bool unblock_on_nokey);
  // The session was served, gave up or was closed. No-op if it is not parked.
  void Leave(Session& session);
  // Returns whether the session may run now: no client that arrived earlier for one of the same keys has been woken and
  // has yet to run. Otherwise the session is woken again after that client. True if not parked. REQUIRES: the stripes
  // are held.
  bool TakeTurn(const Session& session);
  size_t parked() const;
  Totals totals() const;

  // Sets session.watch.broken when the key changes. If the key did not exist, or was expired, only its existence after
  // a commit is a change; its deletion is not. REQUIRES: the stripe is held.
  void Watch(Session& session, int db, const RowKey& row, bool existed);
  void Unwatch(Session& session);

  bool IsInterested(uint32_t stripe) const override { return interest_[stripe].load(std::memory_order_acquire) != 0; }
  void OnKeyChanged(uint32_t stripe, std::string_view key_row, bool exists) override;
  void OnGroupsChanged(std::string_view key_row) override;
  void OnKeyspacesChanged(std::span<const KeyspaceId> keyspaces,
                          const std::function<bool(std::string_view)>& is_live) override;

 private:
  struct Queue;
  struct Parked;
  // A key of a parked client, and the client's place in the key's queue, which exists as long as the client is in it.
  struct ParkedKey : AwaitedKey {
    Queue* queue;
    std::list<Parked*>::iterator place;
  };
  struct Parked {
    Session* session;
    uint64_t arrival = 0;
    bool woken = false;
    bool awaits_turn = false;  // it was woken, but an earlier client had yet to run
    bool unblock_on_nokey = false;
    std::vector<ParkedKey> keys;
  };
  // A watched key, by database and name: its row changes when the database gets another keyspace.
  struct Watched {
    Session* session;
    int db;
    std::string row;
    uint32_t stripe;
    bool existed;
  };
  struct Queue {
    std::list<Parked*> parked;
    size_t awaiting_turn = 0;  // of the parked clients
    std::vector<Watched*> watching;
    bool empty() const { return parked.empty() && watching.empty(); }
  };

  // Wakes the client at this place of the queue. No-op at the end, or if the client was woken already.
  static void WakeAt(const Queue& queue, std::list<Parked*>::const_iterator place);
  static void SetAwaitsTurn(Parked& parked, bool awaits);
  // The client was woken without being served. Wakes the next client of each key that exists, or that was deleted since
  // the client parked, because that client may be able to use it. Stores which keys exist.
  void PassOn(Parked& parked, const std::vector<AwaitedKey>& keys) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RemoveParked(Parked& parked) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Wakes the clients that waited for the turn of `done`, which has run.
  void WakeThoseInTurn(const Parked& done) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EraseIfEmpty(const std::string& row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The key's database has got another keyspace.
  void MoveWatched(Watched& watched, std::string row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  uint64_t arrivals_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Queue, std::less<>> queues_ ABSL_GUARDED_BY(mutex_);  // by key row
  std::unordered_map<const Session*, std::unique_ptr<Parked>> parked_ ABSL_GUARDED_BY(mutex_);
  std::unordered_map<const Session*, std::vector<std::unique_ptr<Watched>>> watched_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<std::atomic<uint32_t>[]> interest_ = std::make_unique<std::atomic<uint32_t>[]>(kStripeCount);
};

}  // namespace cairn
