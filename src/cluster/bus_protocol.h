// SPDX-License-Identifier: BSD-3-Clause
//
// BusProtocol: a node of Redis Cluster's bus, without sockets, threads and a clock. Its inputs are messages, links that
// open and break, ticks, and commands; each changes the topology that it gets, and returns effects for the host to
// carry out (cluster/bus_step.h).
//
// Source: the Redis Cluster specification. Facts that it leaves open (delays, the order of checks) are those of Redis
// 7.0, which may be on the other side.
//
// Thread: that of its host; one input at a time.
#pragma once

#include <array>
#include <string>

#include "cluster/bus_election.h"
#include "cluster/bus_gossip.h"
#include "cluster/bus_manual_failover.h"
#include "cluster/bus_state.h"
#include "cluster/bus_step.h"

namespace cairn {

// Messages by type, for CLUSTER INFO.
struct BusMessageCounts {
  std::array<uint64_t, kMessageTypeCount> sent{};
  std::array<uint64_t, kMessageTypeCount> received{};
};

// The links to a node, those from it, or both.
enum class LinkEnds : unsigned char { kOutgoing, kIncoming, kBoth };

// A row of CLUSTER LINKS.
struct BusLinkRow {
  BusLinkId id;
  bool is_incoming;
  NodeId node;
  int64_t created_ms;
};

class BusProtocol {
 public:
  explicit BusProtocol(uint64_t seed) : random_(seed) {}

  // What every input needs.
  struct Input {
    Topology& topology;
    const BusSettings& settings;
    const BusSelf& self;
  };

  // Ten times a second.
  BusEffects Tick(const Input& input);
  // Another node has connected: the number of the link.
  BusLinkId OnAccepted(std::string peer_ip, std::string own_ip, int64_t now_ms);
  // An outgoing link is connected.
  BusEffects OnOpened(const Input& input, BusLinkId link);
  // A link broke, or the connection failed.
  BusEffects OnClosed(const Input& input, BusLinkId link);
  BusEffects OnMessage(const Input& input, BusLinkId link, const Message& message);
  // A command has changed the topology.
  BusEffects OnChanged(const Input& input);
  // Writes are held back, and none is running; the offset of `input` was read after that.
  BusEffects OnPaused(const Input& input);

  // CLUSTER MEET. REQUIRES: the address is valid.
  BusEffects Meet(const Input& input, const std::string& ip, uint16_t port, uint16_t cport);
  // CLUSTER FORGET: gossip does not bring the node back for a minute.
  void Forget(const NodeId& node, int64_t now_ms);
  bool HasForgotten(const NodeId& node, int64_t now_ms) const;
  // CLUSTER FAILOVER. REQUIRES: this node is a replica with a known master.
  enum class FailoverKind : unsigned char { kNormal, kForce, kTakeover };
  BusEffects Failover(const Input& input, FailoverKind kind);
  // PUBLISH and SPUBLISH of a client here: to all nodes, or to those of the shard.
  BusEffects Publish(const Input& input, PublishBody body, bool is_sharded);
  // DEBUG CLUSTERLINK KILL.
  BusEffects CloseLinks(const Input& input, const NodeId& node, LinkEnds ends);

  // The masters that lately reported the node, at most `validity_ms` ago.
  int CountFailureReports(const NodeId& node, int64_t now_ms, int64_t validity_ms) const;
  ClusterState state() const { return state_.state(); }
  const BusMessageCounts& counts() const { return counts_; }
  std::vector<BusLinkRow> Links() const;

 private:
  BusStep Begin(const Input& input, BusEffects& effects);
  // Updates the state, and counts what is sent.
  void End(BusStep& step);
  // The node that sent a message; null if it is not known.
  Node* SenderOf(BusStep& step, BusLinkId link, const Message& message);
  void ReadHeader(BusStep& step, Node& sender, const MessageHeader& header);
  // PING, PONG and MEET. The functions return false when the link is closed and the message is done.
  void ReadGossipMessage(BusStep& step, BusLinkId link, const Message& message, Node* sender);
  bool FinishHandshake(BusStep& step, BusLinkId link, const Message& message, Node*& sender);
  void ReadRole(BusStep& step, Node& sender, const MessageHeader& header);
  void ReadSlots(BusStep& step, const NodeId& sender, const MessageHeader& header);
  void ReadOther(BusStep& step, const Message& message, Node& sender);
  // Connects to nodes without a link; drops handshakes that take too long.
  void Reconnect(BusStep& step);
  // One PING a second to a node that was not heard for long.
  void PingOne(BusStep& step);
  // Drops the peers that a command has removed from the topology.
  void DropUnknownPeers(BusStep& step);
  // Tells others when this node has changed.
  void Announce(BusStep& step);

  // What others were told about this node.
  struct Announced {
    NodeId id;
    std::optional<NodeId> master;
    uint64_t config_epoch = 0;
    SlotSet slots;
    bool operator==(const Announced&) const = default;
  };

  Random random_;
  BusPeers peers_;
  BusState state_;
  BusElection election_;
  BusManualFailover manual_;
  ForgottenNodes forgotten_;
  Announced announced_;
  BusMessageCounts counts_;
  uint64_t ticks_ = 0;
  bool checks_state_ = false;  // the present step is a tick, or a command has changed the topology
};

}  // namespace cairn
