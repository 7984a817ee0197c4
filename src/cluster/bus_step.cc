// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/bus_step.h"

#include <utility>

namespace cairn {

NodeId DrawNodeId(Random& random) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(NodeId::kSize, '0');
  for (char& digit : text) digit = kDigits[random.Below(kDigits.size())];
  return *NodeId::Parse(text);
}

const Node* BusStep::MyMaster() const {
  const Node& myself = topology.myself();
  return myself.is_replica() ? topology.MasterOf(myself) : &myself;
}

BusStep::Ports BusStep::PortsOf(const Node& node) const {
  const Ports ports = settings.uses_tls ? Ports{node.tls_port, node.port} : Ports{node.port, node.tls_port};
  return ports.port != 0 ? ports : Ports{ports.pport, 0};
}

void BusStep::SetPorts(Node& node, const Ports& ports) const {
  node.port = settings.uses_tls ? ports.pport : ports.port;
  node.tls_port = settings.uses_tls ? ports.port : ports.pport;
}

MessageHeader BusStep::MakeHeader() const {
  const Node& myself = topology.myself();
  const Node* const master = MyMaster();
  MessageHeader header;
  const Ports ports = PortsOf(myself);
  header.port = ports.port;
  header.pport = ports.pport;
  header.cport = myself.cport;
  header.current_epoch = topology.current_epoch;
  header.config_epoch = topology.ConfigEpoch(myself);
  header.offset = self.offset;
  header.sender = myself.id();
  if (master != nullptr) header.slots = master->slots();
  header.master = myself.master();
  header.ip = settings.announced_ip;
  header.flags = myself.flags;
  header.state = state;
  // A replica waits for the offset of the first message with this flag.
  header.is_paused = is_paused && self.is_offset_exact;
  header.knows_extensions = true;
  return header;
}

void BusStep::Send(BusLinkId link, MessageType type, MessageBody body) {
  effects.actions.emplace_back(BusSend{link, {type, MakeHeader(), std::move(body)}});
}

void BusStep::SendTo(const NodeId& node, MessageType type, MessageBody body) {
  const BusLinkId id = peers.Of(node).outgoing;
  const BusLink* const link = peers.FindLink(id);
  if (link != nullptr && link->is_open) Send(id, type, std::move(body));
}

void BusStep::Broadcast(MessageType type, const MessageBody& body) {
  for (const Node* node : topology.Nodes()) {
    if (!node->flags.Has(NodeFlags::kMyself | NodeFlags::kHandshake)) SendTo(node->id(), type, body);
  }
}

void BusStep::CloseLink(BusLinkId id) {
  const BusLink* const link = peers.FindLink(id);
  if (link == nullptr) return;
  if (!link->is_incoming && link->node) {
    if (Node* const node = topology.Find(*link->node); node != nullptr) node->is_connected = false;
  }
  peers.RemoveLink(id);
  effects.actions.emplace_back(BusClose{id});
}

void BusStep::CloseLinksOf(const NodeId& node) {
  const BusPeer& peer = peers.Of(node);
  const BusLinkId incoming = peer.incoming;
  CloseLink(peer.outgoing);
  CloseLink(incoming);
}

void BusStep::RemoveNode(const NodeId& id) {
  const NodeId removed = id;  // `id` may be a field of the node
  CloseLinksOf(removed);
  peers.RemovePeer(removed);
  for (auto& [node, peer] : peers.peers()) peer.reports.erase(removed);
  topology.RemoveNode(removed);
  NoteChange();
}

void BusStep::FollowMaster(const NodeId& master) {
  const NodeId my_id = topology.myself().id();
  topology.MakeReplica(my_id, master);
  topology.Find(my_id)->shard_id = topology.Find(master)->shard_id;
  effects.changes_role = true;
  NoteChange();
}

}  // namespace cairn
