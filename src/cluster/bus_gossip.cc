// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/bus_gossip.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "cluster/bus_failures.h"

namespace cairn {
namespace {

constexpr size_t kLeastEntries = 3;
constexpr size_t kNodesPerEntry = 10;
constexpr int64_t kClockToleranceMs = 500;
constexpr int64_t kMsPerSecond = 1000;
constexpr uint16_t kFailing = NodeFlags::kFailed | NodeFlags::kPossiblyFailing;

GossipEntry EntryOf(const BusStep& step, const Node& node) {
  const BusStep::Ports ports = step.PortsOf(node);
  return {.node = node.id(),
          .ping_sent_s = static_cast<uint32_t>(node.ping_sent_ms / kMsPerSecond),
          .pong_received_s = static_cast<uint32_t>(node.pong_received_ms / kMsPerSecond),
          .ip = node.ip,
          .port = ports.port,
          .pport = ports.pport,
          .cport = node.cport,
          .flags = node.flags};
}

std::vector<GossipEntry> DrawEntries(BusStep& step, const std::optional<NodeId>& receiver) {
  std::vector<const Node*> nodes;
  std::vector<GossipEntry> entries;
  for (const Node* node : step.topology.Nodes()) {
    if (node->flags.Has(NodeFlags::kMyself | NodeFlags::kHandshake | NodeFlags::kNoAddress)) continue;
    if (node->flags.Has(NodeFlags::kPossiblyFailing)) entries.push_back(EntryOf(step, *node));
    else if ((node->is_connected || !node->slots().empty()) && node->id() != receiver) nodes.push_back(node);
  }
  const size_t wanted = std::max(kLeastEntries, step.topology.node_count() / kNodesPerEntry);
  for (size_t i = 0; i < std::min(wanted, nodes.size()); ++i) {
    std::swap(nodes[i], nodes[i + step.random.Below(nodes.size() - i)]);
    entries.push_back(EntryOf(step, *nodes[i]));
  }
  return entries;
}

void AddNode(BusStep& step, const GossipEntry& entry) {
  Node node(entry.node);
  node.ip = entry.ip;
  step.SetPorts(node, {entry.port, entry.pport});
  node.cport = entry.cport;
  if (!entry.flags.Has(NodeFlags::kSlave)) node.flags.Add(NodeFlags::kMaster);
  step.topology.AddNode(std::move(node));
  if (entry.flags.Has(NodeFlags::kSlave)) step.topology.MakeReplica(entry.node, std::nullopt);
  step.peers.Of(entry.node).added_ms = step.self.now_ms;
  step.NoteChange();
}

bool MayAdd(const BusStep& step, const GossipEntry& entry) {
  if (entry.ip.empty() || entry.cport == 0 || entry.flags.Has(NodeFlags::kNoAddress | NodeFlags::kHandshake)) {
    return false;
  }
  const auto found = step.forgotten.find(entry.node);
  return found == step.forgotten.end() || found->second <= step.self.now_ms;
}

// Takes the news of an entry about a known node other than this one.
void ReadEntry(BusStep& step, const NodeId& sender, Node& node, const GossipEntry& entry) {
  const bool is_failing = entry.flags.Has(kFailing);
  NoteReport(step, sender, node, is_failing);
  if (is_failing) return;
  const int64_t pong_ms = int64_t{entry.pong_received_s} * kMsPerSecond;
  if (node.ping_sent_ms == 0 && CountReports(step, node) == 0 && pong_ms <= step.self.now_ms + kClockToleranceMs) {
    node.pong_received_ms = std::max(node.pong_received_ms, pong_ms);
  }
  // The sender reaches a node that this one does not reach: the address is new.
  const bool has_moved = entry.ip != node.ip || entry.port != step.PortsOf(node).port || entry.cport != node.cport;
  if (!node.flags.Has(kFailing) || entry.flags.Has(NodeFlags::kNoAddress) || !has_moved || entry.ip.empty()) return;
  step.CloseLinksOf(node.id());
  node.ip = entry.ip;
  step.SetPorts(node, {entry.port, entry.pport});
  node.cport = entry.cport;
  node.flags.Remove(NodeFlags::kNoAddress);
  step.NoteChange();
}

void ReadExtensions(BusStep& step, const NodeId& sender, const GossipBody& body) {
  Node& node = *step.topology.Find(sender);
  const bool has_shard = body.shard_id && body.shard_id != node.shard_id;
  if (body.hostname == node.hostname && body.human_name == node.human_name && !has_shard) return;
  node.hostname = body.hostname;
  node.human_name = body.human_name;
  if (has_shard) node.shard_id = body.shard_id;
  step.NoteChange();
}

// Another node has been told to forget this one.
void ForgetToo(BusStep& step, const NodeId& sender, const ForgottenNode& forgotten) {
  const Node* const node = step.topology.Find(forgotten.node);
  if (node == nullptr || node->is_myself() || node->id() == sender || node == step.MyMaster()) return;
  Log(LogSeverity::kNotice, "Node {} is forgotten, as node {} was told.", forgotten.node.text(), sender.text());
  const auto most_s = static_cast<uint64_t>(kForgetMs / kMsPerSecond);
  step.forgotten[forgotten.node] =
      step.self.now_ms + static_cast<int64_t>(std::min(forgotten.ttl_s, most_s)) * kMsPerSecond;
  step.RemoveNode(forgotten.node);
}

}  // namespace

void SendGossip(BusStep& step, BusLinkId link_id, MessageType type) {
  const BusLink& link = *step.peers.FindLink(link_id);
  GossipBody body;
  body.gossip = DrawEntries(step, link.node);
  const Node& myself = step.topology.myself();
  body.hostname = myself.hostname;
  if (link.node) {
    if (step.peers.Of(*link.node).knows_extensions) {
      body.human_name = myself.human_name;
      body.shard_id = myself.shard_id;
      for (const auto& [node, until_ms] : step.forgotten) {
        const int64_t left_s = (until_ms - step.self.now_ms + kMsPerSecond - 1) / kMsPerSecond;
        if (left_s > 0) body.forgotten.push_back({node, static_cast<uint64_t>(left_s)});
      }
    }
    Node* const node = step.topology.Find(*link.node);
    if (node != nullptr && !link.is_incoming && type == MessageType::kPing) node->ping_sent_ms = step.self.now_ms;
  }
  step.Send(link_id, type, std::move(body));
}

void BroadcastPong(BusStep& step) {
  for (const Node* node : step.topology.Nodes()) {
    if (node->flags.Has(NodeFlags::kMyself | NodeFlags::kHandshake) || !node->is_connected) continue;
    SendGossip(step, step.peers.Of(node->id()).outgoing, MessageType::kPong);
  }
}

void ReadGossip(BusStep& step, const NodeId& sender, const GossipBody& body) {
  ReadExtensions(step, sender, body);
  for (const ForgottenNode& forgotten : body.forgotten) ForgetToo(step, sender, forgotten);
  for (const GossipEntry& entry : body.gossip) {
    Node* const node = step.topology.Find(entry.node);
    if (node == nullptr) {
      if (MayAdd(step, entry)) AddNode(step, entry);
    } else if (!node->is_myself()) {
      ReadEntry(step, sender, *node, entry);
    }
  }
}

void ReadGossipOfStranger(BusStep& step, const GossipBody& body) {
  for (const GossipEntry& entry : body.gossip) {
    if (step.topology.Find(entry.node) == nullptr && MayAdd(step, entry)) AddNode(step, entry);
  }
}

}  // namespace cairn
