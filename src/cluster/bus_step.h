// SPDX-License-Identifier: BSD-3-Clause
//
// BusStep: one step of the protocol of the cluster bus: an input, what it reads and changes, and the effects that its
// host has to carry out. The rules of the protocol are functions and small classes over a step, a file for each
// subject: bus_gossip.h, bus_failures.h, bus_slot_claims.h, bus_election.h, bus_manual_failover.h, bus_state.h.
//
// Nothing here has a socket, a thread or a clock, so tests run many nodes in one thread.
//
// Thread: that of the protocol.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/random.h"
#include "bus/message.h"
#include "cluster/bus_peers.h"
#include "topology/topology.h"

namespace cairn {

// Directives that the protocol reads.
struct BusSettings {
  int64_t node_timeout_ms = 15000;
  int64_t replica_validity_factor = 10;
  int64_t replication_ping_ms = 10000;  // repl-ping-replica-period
  int64_t migration_barrier = 1;
  bool allows_replica_migration = true;
  bool never_fails_over = false;
  bool requires_full_coverage = true;
  bool uses_tls = false;     // tls-cluster
  std::string announced_ip;  // empty: others see the address of the connection
};

// The state of this server at the moment of a step.
struct BusSelf {
  int64_t now_ms = 0;           // BusNowMs()
  uint64_t offset = 0;          // of the replication stream
  bool is_offset_exact = true;  // false: this master could not read its log to the end, so the offset may be too small
  int64_t data_age_ms = 0;      // of a replica: for how long it has heard nothing from its master; INT64_MAX: never
};

// Nodes that CLUSTER FORGET removed, here or at another node: gossip does not add them again until the time given, by
// BusNowMs(), and tells other nodes to forget them too.
using ForgottenNodes = std::map<NodeId, int64_t>;
inline constexpr int64_t kForgetMs = 60000;

struct BusSend {
  BusLinkId link;
  Message message;
};
// Connect to this address, and call OnOpened or OnClosed.
struct BusOpen {
  BusLinkId link;
  std::string ip;
  uint16_t port;
};
struct BusClose {
  BusLinkId link;
};

// What the host does after a step, in the order of the fields. If nodes.conf cannot be written, nothing is sent:
// others must not see a vote or an epoch that this node could forget.
struct BusEffects {
  bool saves = false;      // write and sync nodes.conf
  bool publishes = false;  // the routes of the slots have changed
  std::vector<std::variant<BusSend, BusOpen, BusClose>> actions;
  bool changes_role = false;
  std::vector<int> lost_slots;  // other masters took these slots from this one; their keys must be deleted
  int64_t pause_until_ms = 0;   // hold writes of clients back until then, and call OnPaused when none is running
  bool ends_pause = false;
  std::vector<PublishBody> messages;  // for the subscribers here
  std::vector<PublishBody> shard_messages;
};

struct BusStep {
  Topology& topology;
  const BusSettings& settings;
  const BusSelf& self;
  BusPeers& peers;
  Random& random;
  BusEffects& effects;
  ClusterState state;  // as it was before the step
  bool is_paused;      // this master holds writes back for a manual failover
  ForgottenNodes& forgotten;

  Node& me() { return *topology.Find(topology.myself().id()); }
  // The master whose slots this node serves or copies: itself or its master; null if that is not known.
  const Node* MyMaster() const;
  // The node of a change that is saved and published.
  void NoteChange() {
    effects.saves = true;
    effects.publishes = true;
  }

  // The ports of a node for clients as messages have them: of those with TLS first if the bus uses TLS, else of those
  // without. A node that has only the other one announces that.
  struct Ports {
    uint16_t port;
    uint16_t pport;
    bool operator==(const Ports&) const = default;
  };
  Ports PortsOf(const Node& node) const;
  void SetPorts(Node& node, const Ports& ports) const;

  // What this node says of itself.
  MessageHeader MakeHeader() const;
  void Send(BusLinkId link, MessageType type, MessageBody body = {});
  // By the outgoing link of a node, if it is open.
  void SendTo(const NodeId& node, MessageType type, MessageBody body = {});
  // To all nodes to which a link is open.
  void Broadcast(MessageType type, const MessageBody& body);
  void CloseLink(BusLinkId link);
  // The links of a node that gets another address or is removed.
  void CloseLinksOf(const NodeId& node);
  // Removes the node, its links and its reports.
  void RemoveNode(const NodeId& node);
  // Makes this node a replica.
  void FollowMaster(const NodeId& master);
};

// A random id.
NodeId DrawNodeId(Random& random);

// The number of masters that is a majority.
inline int MajorityOf(const Topology& topology) { return topology.Size() / 2 + 1; }

}  // namespace cairn
