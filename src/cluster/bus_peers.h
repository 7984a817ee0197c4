// SPDX-License-Identifier: BSD-3-Clause
//
// BusPeers: the links of the cluster bus, and what this node remembers of other nodes besides the topology: their
// links, the reports about their failure, and the time of the last vote for one of their replicas. A node that was
// removed from the topology has no peer; DropUnknownPeers of the protocol takes care of that.
//
// Thread: that of its protocol (cluster/bus_protocol.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "bus/node_id.h"

namespace cairn {

// The number of a link; 0 is none. Numbers are not used twice.
using BusLinkId = uint64_t;

struct BusLink {
  bool is_incoming = false;
  bool is_open = false;        // an outgoing link is not until the connection is made
  std::optional<NodeId> node;  // of an incoming link none until its sender is known
  std::string peer_ip;         // of an incoming link: the addresses of the connection
  std::string own_ip;
  int64_t created_ms = 0;
};

struct BusPeer {
  BusLinkId outgoing = 0;
  BusLinkId incoming = 0;
  int64_t added_ms = 0;
  int64_t received_ms = 0;            // when the last message came
  uint64_t current_epoch = 0;         // the largest current epoch that the node has sent
  int64_t voted_ms = 0;               // of a master: when this node voted for one of its replicas
  int64_t orphaned_ms = 0;            // of a master: since when it has had no working replica; 0: it has one
  bool knows_extensions = false;      // of PING, PONG and MEET, as Redis 7.2 does
  std::map<NodeId, int64_t> reports;  // by master: when it last said that the node fails
};

class BusPeers {
 public:
  // The peer of a node, which is added if it is new.
  BusPeer& Of(const NodeId& node) { return peers_[node]; }
  // Null for an unknown link.
  BusLink* FindLink(BusLinkId id) {
    const auto found = links_.find(id);
    return found == links_.end() ? nullptr : &found->second;
  }

  BusLinkId AddOutgoing(const NodeId& node, int64_t now_ms);
  BusLinkId AddIncoming(std::string peer_ip, std::string own_ip, int64_t now_ms);
  // An incoming link belongs to this node; a previous one of the node stays open but is not used any more.
  void Attach(BusLinkId id, const NodeId& node);
  void RemoveLink(BusLinkId id);
  // After a handshake.
  void Rename(const NodeId& old_id, const NodeId& new_id);
  void RemovePeer(const NodeId& node) { peers_.erase(node); }

  std::map<NodeId, BusPeer>& peers() { return peers_; }
  const std::map<NodeId, BusPeer>& peers() const { return peers_; }
  const std::map<BusLinkId, BusLink>& links() const { return links_; }

 private:
  BusLinkId last_link_ = 0;
  std::map<BusLinkId, BusLink> links_;
  std::map<NodeId, BusPeer> peers_;
};

}  // namespace cairn
