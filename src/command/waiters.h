// SPDX-License-Identifier: BSD-3-Clause
//
// Waiters: who wants to hear of a key. Two kinds stand in one table: clients parked by BLPOP and its family,
// and clients that WATCH.
//
// A parked client is not handed the element. When a commit touches one of its keys it is woken, and its command
// runs again from the start; it may lose the race and park again, and that is fine. A key's queue keeps the
// order of arrival, and a woken client keeps its place in it until it has been served: the head is woken by a
// commit, the next by the head's own commit, or, when the head could not be served by a key that is there or by its
// end, by the head parking again. A client woken while one before it is still to run waits for its turn.
//
// Invariants: (1) a client is registered before the stripes its command looked at are released, so no commit
// falls between the look and the registration; (2) a key's queue is in order of arrival; (3) the calls of
// CommitListener come while the committer holds the stripe.
//
// Thread: any; guarded by mutex_, which ranks after key stripes (docs/threading.md). Not here: timeouts, which
// belong to the connection's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "command/session.h"
#include "encoding/row_key.h"
#include "storage/store.h"

namespace cairn {

class Waiters : public CommitListener {
 public:
  struct AwaitedKey {
    std::string row;  // the key row
    uint32_t stripe;
    bool exists = false;  // as the command last saw it: then it may serve a waiter of another type
  };
  // The keys that clients wait for and watch, for INFO.
  struct Totals {
    uint64_t blocking_keys = 0;
    uint64_t blocking_keys_on_nokey = 0;  // of these, keys whose deletion unblocks a client
    uint64_t watched_keys = 0;
    uint64_t watching_clients = 0;
  };

  // Parks the session on its keys, or, when it is parked already and was woken in vain, keeps its place and
  // wakes the next client of each key that exists or was deleted. With `unblock_on_nokey` the deletion of a key also
  // unblocks the client. REQUIRES: the stripes are held.
  void Park(Session& session, const std::vector<AwaitedKey>& keys, bool unblock_on_nokey);
  // The session was served, gave up or is gone. No-op when it is not parked.
  void Leave(Session& session);
  // Whether no client that came earlier for one of the same keys has been woken and is still to run; else the session
  // is woken again when that one has. True for a session that is not parked. REQUIRES: the stripes are held.
  bool TakeTurn(const Session& session);
  size_t parked() const;
  Totals totals() const;

  // Sets session.watch.broken when the key changes. A key that did not exist, or whose time had passed, changes when
  // it exists after a commit: that it is deleted is no change. REQUIRES: the stripe is held.
  void Watch(Session& session, int db, const RowKey& row, bool existed);
  void Unwatch(Session& session);

  bool IsInterested(uint32_t stripe) const override { return interest_[stripe].load(std::memory_order_acquire) != 0; }
  void OnKeyChanged(uint32_t stripe, std::string_view key_row, bool exists) override;
  void OnKeyspacesChanged(std::span<const KeyspaceId> keyspaces,
                          const std::function<bool(std::string_view)>& is_live) override;

 private:
  struct Parked {
    Session* session;
    uint64_t arrival = 0;
    bool woken = false;
    bool awaits_turn = false;  // it was woken, and then found one before it that was still to run
    bool unblock_on_nokey = false;
    std::vector<AwaitedKey> keys;
  };
  // A key a client watches: by database and name, so its row changes when the database gets another keyspace.
  struct Watched {
    Session* session;
    int db;
    std::string row;
    uint32_t stripe;
    bool existed;
  };
  struct Queue {
    std::list<Parked*> parked;
    std::vector<Watched*> watching;
    bool empty() const { return parked.empty() && watching.empty(); }
  };

  static void WakeFirst(const std::list<Parked*>& queue, const Parked* after);
  // The client was woken in vain: wakes the next client of each key that exists, or was deleted since the client was
  // parked, which another client may wait for. Keeps which keys exist.
  void PassOn(Parked& parked, const std::vector<AwaitedKey>& keys);
  void RemoveParked(Parked& parked);
  // Wakes those that waited for their turn behind one that has had its own.
  void WakeThoseInTurn(const Parked& done);
  void EraseIfEmpty(const std::string& row);
  // The key's database has another keyspace.
  void MoveWatched(Watched& watched, std::string row);

  mutable std::mutex mutex_;
  uint64_t arrivals_ = 0;
  std::map<std::string, Queue, std::less<>> queues_;  // by key row
  std::unordered_map<const Session*, std::unique_ptr<Parked>> parked_;
  std::unordered_map<const Session*, std::vector<std::unique_ptr<Watched>>> watched_;
  std::unique_ptr<std::atomic<uint32_t>[]> interest_ = std::make_unique<std::atomic<uint32_t>[]>(kStripeCount);
};

}  // namespace cairn
