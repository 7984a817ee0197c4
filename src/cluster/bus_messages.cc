// SPDX-License-Identifier: BSD-3-Clause
//
// The messages that BusProtocol receives.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "cluster/bus_failures.h"
#include "cluster/bus_protocol.h"
#include "cluster/bus_slot_claims.h"

namespace cairn {
namespace {

bool HasGossip(MessageType type) {
  return type == MessageType::kPing || type == MessageType::kPong || type == MessageType::kMeet;
}

// Takes over the address of a sender. A link to the old address is closed.
void ReadAddress(BusStep& step, const BusLink& link, Node& sender, const MessageHeader& header) {
  if (!link.is_incoming && link.node == sender.id()) return;  // the link itself shows that the address is right
  const std::string ip = header.ip.empty() ? link.peer_ip : header.ip;
  if (ip.empty()) return;
  const BusStep::Ports ports{header.port, header.pport};
  if (sender.ip == ip && step.PortsOf(sender).port == ports.port && sender.cport == header.cport) {
    // The other port of clients matters to redirections only.
    if (step.PortsOf(sender) == ports) return;
    step.SetPorts(sender, ports);
    step.NoteChange();
    return;
  }
  step.CloseLink(step.peers.Of(sender.id()).outgoing);
  sender.ip = ip;
  step.SetPorts(sender, ports);
  sender.cport = header.cport;
  sender.flags.Remove(NodeFlags::kNoAddress);
  if (step.topology.MasterOf(step.topology.myself()) == &sender) step.effects.changes_role = true;
  step.NoteChange();
  Log(LogSeverity::kNotice, "Address updated for node {}, now {}:{}", sender.id().text(), sender.ip, ports.port);
}

// A node that is met learns its own address from the connection.
void ReadOwnAddress(BusStep& step, const BusLink& link, MessageType type) {
  Node& me = step.me();
  if (!link.is_incoming || link.own_ip.empty() || !step.settings.announced_ip.empty() || me.ip == link.own_ip) return;
  if (type != MessageType::kMeet && !me.ip.empty()) return;
  me.ip = link.own_ip;
  Log(LogSeverity::kNotice, "IP address for this node updated to {}", me.ip);
  step.NoteChange();
}

// The sender of a MEET becomes a node, whose id a handshake on a link to it confirms.
void AddStranger(BusStep& step, const BusLink& link, const MessageHeader& header, const NodeId& temporary_id) {
  Node node(temporary_id);
  node.ip = header.ip.empty() ? link.peer_ip : header.ip;
  step.SetPorts(node, {header.port, header.pport});
  node.cport = header.cport;
  node.flags.Add(NodeFlags::kHandshake);
  step.peers.Of(temporary_id).added_ms = step.self.now_ms;
  step.topology.AddNode(std::move(node));
}

}  // namespace

BusEffects BusProtocol::OnMessage(const Input& input, BusLinkId link_id, const Message& message) {
  BusEffects effects;
  BusStep step = Begin(input, effects);
  if (peers_.FindLink(link_id) == nullptr) return effects;
  ++counts_.received[static_cast<size_t>(message.type)];
  Node* const sender = SenderOf(step, link_id, message);
  if (sender != nullptr) ReadHeader(step, *sender, message.header);
  if (HasGossip(message.type)) ReadGossipMessage(step, link_id, message, sender);
  else if (sender != nullptr) ReadOther(step, message, *sender);
  Announce(step);
  End(step);
  return effects;
}

Node* BusProtocol::SenderOf(BusStep& step, BusLinkId link_id, const Message& message) {
  BusLink& link = *peers_.FindLink(link_id);
  Node* const sender = step.topology.Find(message.header.sender);
  if (sender == nullptr || sender->is_myself() || sender->flags.Has(NodeFlags::kHandshake)) return nullptr;
  if (link.is_incoming && link.node != sender->id()) peers_.Attach(link_id, sender->id());
  BusPeer& peer = peers_.Of(sender->id());
  peer.received_ms = step.self.now_ms;
  peer.knows_extensions = message.header.knows_extensions;
  return sender;
}

void BusProtocol::ReadHeader(BusStep& step, Node& sender, const MessageHeader& header) {
  Topology& topology = step.topology;
  topology.current_epoch = std::max(topology.current_epoch, header.current_epoch);
  if (header.config_epoch > sender.config_epoch) {
    sender.config_epoch = header.config_epoch;
    step.effects.saves = true;
  }
  sender.replication_offset = header.offset;
  if (topology.MasterOf(topology.myself()) == &sender) manual_.NoteMaster(header);
}

void BusProtocol::ReadGossipMessage(BusStep& step, BusLinkId link_id, const Message& message, Node* sender) {
  const auto& body = std::get<GossipBody>(message.body);
  const MessageHeader& header = message.header;
  BusLink& link = *peers_.FindLink(link_id);
  if (message.type != MessageType::kPong) {
    ReadOwnAddress(step, link, message.type);
    const bool is_self = header.sender == step.topology.myself().id();
    if (sender == nullptr && !is_self && message.type == MessageType::kMeet) {
      AddStranger(step, link, header, DrawNodeId(random_));
      ReadGossipOfStranger(step, body);
    }
    SendGossip(step, link_id, MessageType::kPong);
  }
  if (!link.is_incoming && !FinishHandshake(step, link_id, message, sender)) return;
  if (sender == nullptr) return;
  const NodeId id = sender->id();
  sender->flags.Remove(NodeFlags::kNoFailover);
  if (header.flags.Has(NodeFlags::kNoFailover)) sender->flags.Add(NodeFlags::kNoFailover);
  if (message.type == MessageType::kPing) ReadAddress(step, link, *sender, header);
  if (!link.is_incoming && message.type == MessageType::kPong) NoteAnswer(step, *sender);
  // A connection that the sender has closed may deliver messages after those of the next connection. Their role, slots
  // and gossip are outdated. The current epoch of a node only grows, and each change of an owner makes it grow.
  BusPeer& peer = peers_.Of(id);
  if (header.current_epoch < peer.current_epoch) return;
  peer.current_epoch = header.current_epoch;
  ReadRole(step, *sender, header);
  ReadSlots(step, id, header);
  ResolveCollision(step, *sender, header.config_epoch);
  cairn::ReadGossip(step, id, body);
}

bool BusProtocol::FinishHandshake(BusStep& step, BusLinkId link_id, const Message& message, Node*& sender) {
  const MessageHeader& header = message.header;
  const BusLink link = *peers_.FindLink(link_id);
  Node* const node = step.topology.Find(*link.node);
  if (node == nullptr) return false;
  if (node->flags.Has(NodeFlags::kHandshake)) {
    if (step.topology.Find(header.sender) != nullptr) {
      // The address belongs to this node itself, or to a node that is known: it may have moved there.
      if (sender != nullptr) {
        BusLink seen = link;
        seen.node = node->id();
        seen.peer_ip = node->ip;
        ReadAddress(step, seen, *sender, header);
      }
      step.RemoveNode(NodeId(node->id()));
      return false;
    }
    step.topology.RenameNode(NodeId(node->id()), header.sender);
    peers_.Rename(*link.node, header.sender);
    node->flags.Remove(NodeFlags::kHandshake);
    node->flags.Add(header.master ? NodeFlags::kSlave : NodeFlags::kMaster);
    if (header.ip != node->ip && !header.ip.empty()) node->ip = header.ip;
    step.SetPorts(*node, {header.port, header.pport});
    node->cport = header.cport;
    peers_.Of(header.sender).received_ms = step.self.now_ms;
    peers_.Of(header.sender).knows_extensions = header.knows_extensions;
    sender = node;
    ReadHeader(step, *sender, header);
    step.NoteChange();
    return true;
  }
  if (node->id() == header.sender) return true;
  // Another node is at this address now.
  Log(LogSeverity::kNotice, "Node {} is not at {}:{} any more, {} is", node->id().text(), node->ip, node->cport,
      header.sender.text());
  node->flags.Add(NodeFlags::kNoAddress);
  node->ip.clear();
  step.SetPorts(*node, {0, 0});
  node->cport = 0;
  step.CloseLink(link_id);
  step.NoteChange();
  return false;
}

void BusProtocol::ReadRole(BusStep& step, Node& sender, const MessageHeader& header) {
  if (!header.master) {
    NoteMaster(step, sender.id());
    return;
  }
  const bool is_known = step.topology.Find(*header.master) != nullptr && *header.master != sender.id();
  const std::optional<NodeId> master = is_known ? header.master : sender.is_replica() ? sender.master() : std::nullopt;
  if (sender.is_replica() && sender.master() == master) return;
  // The slots and the epoch in a replica's message are its master's, which may not have announced them here yet.
  // Without them the slots of the sender would have no owner until then.
  if (sender.is_master() && master) ReadUpdate(step, {header.config_epoch, *master, header.slots});
  const std::optional<NodeId> old_master = sender.master();
  step.topology.MakeReplica(sender.id(), master);
  // Replicas migrate only to a master that has lost its replicas, not to one whose replicas were moved away.
  if (old_master && step.topology.ReplicasOf(*old_master).empty()) {
    step.topology.Find(*old_master)->flags.Remove(NodeFlags::kMigrateTo);
  }
  if (master) {
    if (const auto shard = step.topology.Find(*master)->shard_id) sender.shard_id = shard;
    step.topology.Find(*master)->flags.Add(NodeFlags::kMigrateTo);
  }
  step.NoteChange();
}

void BusProtocol::ReadSlots(BusStep& step, const NodeId& id, const MessageHeader& header) {
  const Node& sender = *step.topology.Find(id);
  const Node* const master = sender.is_replica() ? step.topology.MasterOf(sender) : &sender;
  if (master == nullptr) return;
  if (master->slots() == header.slots) {
    if (sender.is_master()) NoteClaimed(step, header.slots);
    return;
  }
  if (sender.is_master()) ReadClaims(step, id, header.config_epoch, header.slots);
  CorrectClaims(step, id, header.config_epoch, header.slots);
}

void BusProtocol::ReadOther(BusStep& step, const Message& message, Node& sender) {
  switch (message.type) {
    case MessageType::kFail: NoteFailed(step, sender.id(), std::get<FailBody>(message.body).node); return;
    case MessageType::kFailoverAuthRequest: AnswerVoteRequest(step, sender.id(), message.header); return;
    case MessageType::kFailoverAuthAck: {
      election_.NoteVote(step, sender, message.header.current_epoch);
      bool ends_manual = false;
      if (step.me().is_replica()) election_.Tick(step, manual_.may_elect(), ends_manual);
      if (ends_manual) manual_.Reset(step);
      return;
    }
    case MessageType::kUpdate: ReadUpdate(step, std::get<UpdateBody>(message.body)); return;
    case MessageType::kMfStart:
      if (sender.master() == step.topology.myself().id()) manual_.NoteRequest(step, sender.id());
      return;
    case MessageType::kPublish: step.effects.messages.push_back(std::get<PublishBody>(message.body)); return;
    case MessageType::kPublishShard: step.effects.shard_messages.push_back(std::get<PublishBody>(message.body)); return;
    case MessageType::kPing:
    case MessageType::kPong:
    case MessageType::kMeet:
    case MessageType::kModule: return;
  }
}

}  // namespace cairn
