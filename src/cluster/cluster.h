// SPDX-License-Identifier: BSD-3-Clause
//
// Cluster: this server as a node of a Redis Cluster. It owns the topology: everything that changes it goes through
// Change, which writes nodes.conf, publishes the routes of the slots to the commands, and makes the server follow the
// role that the topology gives it.
//
// A change is in nodes.conf, synced, before it has an effect; if the file cannot be written, nothing changes. When
// Change returns, no command that was checked by older routes is still writing: a slot that was given away gets no
// more keys here.
//
// The cluster bus (cluster/cluster_bus.h) changes the topology too. Its steps and the changes of commands exclude each
// other (write_mutex_); a change that waits for holders of keys or for the role does not hold that mutex.
//
// Thread: any. One change of a command, or of the role, at a time (change_mutex_); readers take mutex_ only.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "cluster/cluster_bus.h"
#include "cluster/unserved_slots.h"
#include "config/config.h"
#include "topology/slot_routes.h"
#include "topology/topology.h"

namespace cairn {

class ClientPause;
class ClientRegistry;
class CommandTable;
class Notifier;
class PubSub;
class Replication;
class SlotMigrations;
class SlotStats;
class Store;
class Tls;

class Cluster {
 public:
  struct Parts {
    Store& store;
    Config& config;
    ClientRegistry& clients;
    Replication& replication;
    ClientPause& pause;
    PubSub& pubsub;
    const Notifier& notifier;
    SlotStats& slot_stats;
    Tls& tls;
    const CommandTable& table;
  };

  explicit Cluster(const Parts& parts);
  ~Cluster();

  // Reads nodes.conf, or makes this server the only node of a new cluster, and takes on its role. The error is for the
  // operator. REQUIRES: no client is served yet.
  Status Start();
  // Starts the cluster bus. REQUIRES: Start.
  Status StartBus();
  void StopBus();

  const SlotRoutes& routes() const { return routes_; }
  // Returns read(topology).
  template <typename Read>
  auto With(const Read& read) const {
    const MutexLock lock(mutex_);
    return read(static_cast<const Topology&>(*topology_));
  }
  ClusterState state() const;
  // cluster-allow-replica-migration
  bool AllowsReplicaMigration() const;
  ClusterBus& bus() { return bus_; }
  UnservedSlots& unserved() { return unserved_; }
  SlotMigrations& migrations() { return *migrations_; }

  // Holds the writes of clients to these slots back. Commands that have begun go on.
  void HoldWrites(const SlotSet& slots) { routes_.Hold(slots); }
  void ReleaseWrites(const SlotSet& slots);
  EndpointType endpoint_type() const;

  // Applies `change` to the topology, as above. An error of `change` is returned, and nothing changes. `changed` (may
  // be empty) is called after the change and before any step of the bus. May wait. REQUIRES: the caller holds no
  // stripe.
  Status Change(const std::function<Status(Topology& topology)>& change,
                const std::function<void()>& changed = nullptr);
  // Writes nodes.conf again.
  Status Save() const;
  // Must be called when a directive changes that this class reads. An error refuses the new value. Does not wait for
  // holders of stripes, except for a second: the caller may be one (CONFIG SET in EXEC).
  Status FollowSettings();

  // Whether this node has keys. A command that changes the cluster must not look through its own transaction: it would
  // run again when a new role replaces the data.
  bool HasKeys() const;
  // The number of keys in each slot from `first` to `last`; reads all of these keys. May wait for the disk.
  Result<std::vector<int64_t>> CountKeys(int first, int last) const;
  // The number of keys in a slot. May wait for the disk.
  Result<int64_t> CountKeys(int slot) const;
  // Calls visit(key) for the keys of a slot until it returns false. May wait for the disk.
  Status ForEachKey(int slot, const std::function<bool(std::string_view)>& visit) const;
  // Some keys of a slot, at most `most` of them. May wait for the disk. REQUIRES: most > 0
  Result<std::vector<std::string>> Keys(int slot, size_t most) const;
  // Deletes all data. REQUIRES: this node owns no slot; the caller holds no stripe.
  Status DeleteAllKeys();

 private:
  friend class ClusterBus;

  // The part of Change until the new topology is published.
  Status SaveAndPublish(const std::function<Status(Topology& topology)>& change, const std::function<void()>& changed);
  // Announces the present settings.
  Status ApplySettings();
  std::string Path() const;
  // Sets the names and addresses that this node announces.
  Status SetOwnAddress(Topology& topology) const;
  ClusterState StateOf(const Topology& topology) const;
  void Publish();
  // Runs a step of the bus on the topology. REQUIRES: the caller holds write_mutex_; the analysis cannot follow that
  // through the bus.
  BusEffects RunStep(const std::function<BusEffects(Topology& topology)>& step);
  // Makes the server follow the topology after a step of the bus.
  Status Follow();
  // Begins to delete the keys of slots that other masters have taken.
  Status DeleteKeys(const std::vector<int>& slots);
  // The same for all keys that are here in slots of others: a node that is killed after it has written nodes.conf has
  // not noted yet which slots it lost.
  Status DeleteLeftKeys();
  // Waits for the commands that hold keys, and makes clients leave slots that have left: it wakes the blocked ones,
  // which are redirected, and cancels subscriptions to shard channels.
  Status Settle();
  // Follows the master that the topology gives, or becomes a primary, and begins to delete keys of slots that were not
  // served until then.
  Status TakeRole();
  bool RequiresFullCoverage() const;

  const Parts parts_;
  SlotRoutes routes_;
  mutable Mutex change_mutex_;
  mutable Mutex write_mutex_ ABSL_ACQUIRED_AFTER(change_mutex_);
  mutable Mutex mutex_ ABSL_ACQUIRED_AFTER(write_mutex_);
  std::unique_ptr<Topology> topology_ ABSL_GUARDED_BY(mutex_);
  std::atomic<ClusterState> bus_state_{ClusterState::kFail};  // as the bus sees it
  mutable std::atomic<uint64_t> first_key_{0};                // for ForEachSlotKey
  UnservedSlots unserved_;
  const std::unique_ptr<SlotMigrations> migrations_;
  ClusterBus bus_;
};

// Whether this node, or the master that it copies, owns the slot.
bool IsOfMyShard(const Topology& topology, int slot);

// A random id for a node or a shard.
NodeId DrawNodeId();

// Gives this node an epoch above all others, without a vote, and returns it; 0, and no change, if it has one.
uint64_t BumpEpoch(Topology& topology);

}  // namespace cairn
