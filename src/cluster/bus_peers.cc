// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/bus_peers.h"

#include <utility>

namespace cairn {

BusLinkId BusPeers::AddOutgoing(const NodeId& node, int64_t now_ms) {
  const BusLinkId id = ++last_link_;
  links_[id] = {.node = node, .created_ms = now_ms};
  peers_[node].outgoing = id;
  return id;
}

BusLinkId BusPeers::AddIncoming(std::string peer_ip, std::string own_ip, int64_t now_ms) {
  const BusLinkId id = ++last_link_;
  links_[id] = {.is_incoming = true,
                .is_open = true,
                .peer_ip = std::move(peer_ip),
                .own_ip = std::move(own_ip),
                .created_ms = now_ms};
  return id;
}

void BusPeers::Attach(BusLinkId id, const NodeId& node) {
  links_[id].node = node;
  peers_[node].incoming = id;
}

void BusPeers::RemoveLink(BusLinkId id) {
  links_.erase(id);
  for (auto& [node, peer] : peers_) {
    if (peer.outgoing == id) peer.outgoing = 0;
    if (peer.incoming == id) peer.incoming = 0;
  }
}

void BusPeers::Rename(const NodeId& old_id, const NodeId& new_id) {
  const auto found = peers_.find(old_id);
  if (found == peers_.end()) return;
  BusPeer peer = std::move(found->second);
  peers_.erase(found);
  for (auto& [id, link] : links_) {
    if (link.node == old_id) link.node = new_id;
  }
  peers_[new_id] = std::move(peer);
}

}  // namespace cairn
