// SPDX-License-Identifier: BSD-3-Clause
//
// SlotMove: moves slots with their keys to another node in the background, for CLUSTERX MIGRATE.
//
// It does what redis-cli --cluster reshard does: the target imports a slot, this node migrates it, and MIGRATE moves
// its keys, a few at a time. Clients are served meanwhile: by this node for the keys that are still here, by the target
// (ASK) for the others. At the end the two nodes agree that the target owns the slot, so that clients never go in
// circles; the other nodes learn it from the controller's next list.
//
// A move that fails, or that a restart ends, leaves the slot open on both nodes, with each key on one of them; the same
// move again finishes it.
//
// Thread: any; the work runs on its own thread, "slot-move".
#pragma once

#include <optional>
#include <string_view>

#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "base/woken_thread.h"
#include "bus/node_id.h"
#include "bus/slot_set.h"

namespace cairn {

class ClientPause;
class Cluster;
class Config;
class Dispatcher;
class Notifier;
class Session;
class Store;
class Tls;
class Transaction;

class SlotMove {
 public:
  struct Parts {
    Cluster& cluster;
    Store& store;
    const Config& config;
    Dispatcher& dispatcher;
    const ClientPause& pause;
    const Notifier& notifier;
    const Tls& tls;
  };
  enum class State : unsigned char { kRunning, kDone, kFailed };
  struct Job {
    SlotRange slots;
    NodeId target;
    State state;
  };

  explicit SlotMove(const Parts& parts) : parts_(parts) {}

  // Begins to move the slots. The error is for the client.
  Status Start(const SlotRange& slots, const NodeId& target);
  // Ends the move that runs.
  void Stop() { thread_.Stop(); }
  // The move that runs or ran last; none since the start.
  std::optional<Job> job() const;

 private:
  struct Worker;

  void Run();
  Status Move(const Job& job);
  Status MoveSlot(Worker& worker, int slot);
  // One MIGRATE of some keys; the error is that of the target.
  Status MoveKeys(Worker& worker, const std::vector<std::string>& keys);
  // Sends CLUSTER SETSLOT slot IMPORTING or NODE.
  Status TellTarget(const Worker& worker, int slot, std::string_view action, const NodeId& node) const;
  void AwaitEndOfPause() const;

  const Parts parts_;
  mutable Mutex mutex_;  // a leaf
  std::optional<Job> job_ ABSL_GUARDED_BY(mutex_);
  WokenThread thread_{"slot-move", [this] { Run(); }};
};

}  // namespace cairn
