// SPDX-License-Identifier: BSD-3-Clause
//
// Node: what this node knows about a node of its cluster, itself included. Its id, its master and its slots are changed
// by the topology only (topology/topology.h), because they belong to several nodes; the other fields are free.
//
// Thread: that of its topology; a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bus/node_flags.h"
#include "bus/node_id.h"
#include "bus/slot_set.h"

namespace cairn {

// The port of the bus is that of clients plus this, unless it is configured or announced.
inline constexpr int kBusPortOffset = 10000;

class Node {
 public:
  explicit Node(const NodeId& id) : id_(id) {}

  const NodeId& id() const { return id_; }
  // None for a master, and for a replica whose master is not known.
  const std::optional<NodeId>& master() const { return master_; }
  // Empty for a replica.
  const SlotSet& slots() const { return slots_; }

  bool is_master() const { return flags.Has(NodeFlags::kMaster); }
  bool is_replica() const { return flags.Has(NodeFlags::kSlave); }
  bool is_myself() const { return flags.Has(NodeFlags::kMyself); }

  std::string ip;          // empty if it is not known
  std::string hostname;    // empty if none is announced
  std::string human_name;  // the same; for logs
  uint16_t port = 0;       // for clients without TLS; 0 if there is none
  uint16_t tls_port = 0;   // for clients with TLS; 0 if there is none
  uint16_t cport = 0;      // of the cluster bus
  NodeFlags flags;
  std::optional<NodeId> shard_id;  // the same for a master and its replicas; none before Redis 7.2 or before a PONG
  int64_t ping_sent_ms = 0;        // of the last PING without an answer; 0 if none is open
  int64_t pong_received_ms = 0;    // 0 before the first PONG
  int64_t fail_time_ms = 0;        // when the flag kFailed was set
  uint64_t config_epoch = 0;       // of a replica, its master's counts (Topology::ConfigEpoch)
  bool is_connected = false;       // the link to the node's bus port is up
  uint64_t replication_offset = 0;

 private:
  friend class Topology;

  NodeId id_;
  std::optional<NodeId> master_;
  SlotSet slots_;
};

}  // namespace cairn
