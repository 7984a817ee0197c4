// SPDX-License-Identifier: BSD-3-Clause
//
// Topology: a cluster as one of its nodes sees it. It knows the nodes, the owner of each slot, the slots that this node
// is migrating or importing, and the epochs. It decides nothing: elections, failure detection and conflicts between
// claims of slots are its user's.
//
// Invariants: a slot has at most one owner, and each node's set of slots agrees with that. A node's master is a node of
// the topology. Exactly one node is this node, and it is never removed.
//
// It is a value, so one thread may change its own copy and publish copies for readers. A copy costs 64 KB, and 2.5 KB
// per node. Pointers and references to nodes are valid until the node is removed or the topology is destroyed.
// Thread: that of its user.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "bus/node_flags.h"
#include "bus/node_id.h"
#include "bus/slot_set.h"
#include "topology/node.h"

namespace cairn {

// Numbers of slots, as CLUSTER INFO shows them.
struct SlotCounts {
  int assigned = 0;
  int ok = 0;     // assigned to a node without a failure flag
  int pfail = 0;  // assigned to a node with "fail?"
  int fail = 0;   // assigned to a node with "fail"
};

// A master and its replicas: those with one shard id, or with the same master if they have none. The nodes are sorted
// by id. The master is null if it is not known.
struct Shard {
  const Node* master = nullptr;
  std::vector<const Node*> nodes;
};

// REQUIRES: each slot passed is one (IsSlot), and each id belongs to a node of the topology, unless it is said
// otherwise.
class Topology {
 public:
  // A cluster of this node alone; it gets the flag kMyself. REQUIRES: `myself` has no slots and no master.
  explicit Topology(Node myself);

  const Node& myself() const { return *nodes_[kMyHandle]; }
  // None for an unknown id.
  const Node* Find(const NodeId& id) const;
  Node* Find(const NodeId& id);
  // All nodes, sorted by id.
  std::vector<const Node*> Nodes() const;
  size_t node_count() const { return handles_.size(); }

  // Adds a node. REQUIRES: its id is new, it is not this node, it has no slots and no master.
  Node& AddNode(Node node);
  // Removes the node and everything that refers to it: its slots get no owner, its replicas no master, and the
  // migrations to it and imports from it end. REQUIRES: it is not this node.
  void RemoveNode(const NodeId& id);
  // Gives the node its real id after a handshake, or this node a new one. REQUIRES: `new_id` is new.
  void RenameNode(const NodeId& id, const NodeId& new_id);

  // Makes the node a master, with the flag kMaster and without a master. It keeps its replicas.
  void MakeMaster(const NodeId& id);
  // Makes the node a replica, with the flag kSlave. It loses its slots; this node also ends its migrations and imports.
  // `master` is none if the master is not known. REQUIRES: it is another node.
  void MakeReplica(const NodeId& id, const std::optional<NodeId>& master);
  // The master of a replica; null for a master, and if it is not known.
  const Node* MasterOf(const Node& node) const;
  // The replicas of a master, sorted by id.
  std::vector<const Node*> ReplicasOf(const NodeId& id) const;
  // All shards, sorted by the smallest id of their nodes.
  std::vector<Shard> Shards() const;

  // The owner of a slot; null if it has none.
  const Node* SlotOwner(int slot) const;
  // Gives a slot without an owner to a node; false, and no change, if it has one.
  bool AssignSlot(int slot, const NodeId& id);
  // Takes the slot from its owner; false if it has none.
  bool UnassignSlot(int slot);
  // Takes all slots from a node.
  void UnassignSlots(const NodeId& id);

  // Marks a slot as migrating from this node to another; none ends the migration. The slot's owner does not change.
  void SetMigrating(int slot, const std::optional<NodeId>& to);
  // Marks a slot as importing from another node to this one; none ends the import.
  void SetImporting(int slot, const std::optional<NodeId>& from);
  // The node that a slot migrates to, or is imported from; null if it does not.
  const Node* MigratingTo(int slot) const;
  const Node* ImportingFrom(int slot) const;
  // The slots that are migrating or importing, ascending.
  std::vector<int> OpenSlots() const;
  // Ends all migrations and imports.
  void CloseSlots();

  // The number of masters with slots.
  int Size() const;
  bool CoversAllSlots() const;
  SlotCounts CountSlots() const;
  // The state that follows from the nodes: kFail if this node is in a minority of the masters with slots or, with
  // `requires_full_coverage` (directive cluster-require-full-coverage), if a slot has no owner or a failed one. The
  // delays before a node that restarts or rejoins becomes kOk are the caller's.
  ClusterState ComputeState(bool requires_full_coverage) const;

  // The config epoch of a node; of a replica that of its master.
  uint64_t ConfigEpoch(const Node& node) const;
  // The largest of all config epochs and the current epoch.
  uint64_t MaxEpoch() const;

  // Prepares a topology that was read from a file for a new start: no node is connected, and the times of open pings
  // and of received pongs, if there are any, and of failures are `now_ms`, so that old times cause no failures.
  void ResetLinks(int64_t now_ms);

  uint64_t current_epoch = 0;    // the largest epoch seen in the cluster
  uint64_t last_vote_epoch = 0;  // of the last election in which this node voted
  bool is_controlled = false;    // a controller sets the topology (CLUSTERX), not the cluster bus
  // Slots that their present owner does not claim on the bus. A slot whose owner changes is removed.
  SlotSet unclaimed;

 private:
  // The position of a node in nodes_, kept while it is in the topology.
  using Handle = uint32_t;
  static constexpr Handle kNoHandle = 0xffffffff;
  static constexpr Handle kMyHandle = 0;

  Handle HandleOf(const NodeId& id) const;
  void CloseSlotsWith(Handle handle);

  std::deque<std::optional<Node>> nodes_;  // empty where a node was removed
  std::map<NodeId, Handle> handles_;
  std::vector<Handle> owners_;  // by slot
  std::map<int, Handle> migrating_;
  std::map<int, Handle> importing_;
};

}  // namespace cairn
