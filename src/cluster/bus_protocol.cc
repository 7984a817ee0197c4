// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/bus_protocol.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "cluster/bus_failures.h"
#include "cluster/bus_slot_claims.h"

namespace cairn {
namespace {

constexpr int64_t kLeastHandshakeMs = 1000;
constexpr uint64_t kTicksPerPing = 10;
constexpr int kPingCandidates = 5;

}  // namespace

BusStep BusProtocol::Begin(const Input& input, BusEffects& effects) {
  return {.topology = input.topology,
          .settings = input.settings,
          .self = input.self,
          .peers = peers_,
          .random = random_,
          .effects = effects,
          .state = state_.state(),
          .is_paused = manual_.is_paused(),
          .forgotten = forgotten_};
}

void BusProtocol::End(BusStep& step) {
  // The state follows from the slots and the nodes' flags, so most messages do not change it; ticks see to its delays.
  const bool may_change = step.effects.publishes || step.effects.saves || checks_state_;
  checks_state_ = false;
  if (may_change && state_.Update(step)) step.effects.publishes = true;
  for (const auto& action : step.effects.actions) {
    if (const auto* send = std::get_if<BusSend>(&action)) ++counts_.sent[static_cast<size_t>(send->message.type)];
  }
}

BusEffects BusProtocol::Tick(const Input& input) {
  BusEffects effects;
  BusStep step = Begin(input, effects);
  ++ticks_;
  checks_state_ = true;
  Node& me = step.me();
  if (step.settings.never_fails_over) me.flags.Add(NodeFlags::kNoFailover);
  else me.flags.Remove(NodeFlags::kNoFailover);
  std::erase_if(forgotten_, [&](const auto& entry) { return entry.second <= step.self.now_ms; });
  Announce(step);
  Reconnect(step);
  if (ticks_ % kTicksPerPing == 0) PingOne(step);
  TickFailures(step, manual_.is_paused() ? manual_.replica() : std::nullopt);
  manual_.Tick(step, election_);
  if (step.me().is_replica()) {
    bool ends_manual = false;
    election_.Tick(step, manual_.may_elect(), ends_manual);
    if (ends_manual) manual_.Reset(step);
    ConsiderMigration(step);
  }
  End(step);
  return effects;
}

void BusProtocol::DropUnknownPeers(BusStep& step) {
  std::vector<NodeId> gone;
  for (const auto& [id, peer] : peers_.peers()) {
    if (step.topology.Find(id) == nullptr) gone.push_back(id);
  }
  for (const NodeId& id : gone) {
    step.CloseLinksOf(id);
    peers_.RemovePeer(id);
    for (auto& [node, peer] : peers_.peers()) peer.reports.erase(id);
  }
}

void BusProtocol::Announce(BusStep& step) {
  const Node& myself = step.topology.myself();
  Announced now{myself.id(), myself.master(), step.topology.ConfigEpoch(myself), myself.slots()};
  if (now == announced_) return;
  const bool has_new_role = now.master != announced_.master;
  const bool has_handed_over = has_new_role && now.master && !announced_.slots.empty();
  announced_ = std::move(now);
  if (has_new_role) {
    election_.Reset();
    manual_.Reset(step);
  }
  // The new owner of the slots announces that. A redis-server that hears of this node's new role before that finds the
  // slots without an owner, and refuses commands (CLUSTERDOWN) until then.
  if (!has_handed_over) BroadcastPong(step);
}

void BusProtocol::Reconnect(BusStep& step) {
  const int64_t handshake_ms = std::max(step.settings.node_timeout_ms, kLeastHandshakeMs);
  for (const Node* node : step.topology.Nodes()) {
    if (node->flags.Has(NodeFlags::kMyself | NodeFlags::kNoAddress) || node->ip.empty()) continue;
    if (node->is_connected && !node->flags.Has(NodeFlags::kHandshake)) continue;
    const NodeId id = node->id();
    BusPeer& peer = peers_.Of(id);
    if (peer.added_ms == 0) peer.added_ms = step.self.now_ms;
    if (node->flags.Has(NodeFlags::kHandshake) && step.self.now_ms - peer.added_ms > handshake_ms) {
      step.RemoveNode(id);
      continue;
    }
    if (peer.outgoing != 0) continue;
    step.effects.actions.emplace_back(BusOpen{peers_.AddOutgoing(id, step.self.now_ms), node->ip, node->cport});
  }
}

void BusProtocol::PingOne(BusStep& step) {
  const std::vector<const Node*> nodes = step.topology.Nodes();
  const Node* oldest = nullptr;
  for (int i = 0; i < kPingCandidates; ++i) {
    const Node* const node = nodes[random_.Below(nodes.size())];
    if (!node->is_connected || node->ping_sent_ms != 0) continue;
    if (node->flags.Has(NodeFlags::kMyself | NodeFlags::kHandshake)) continue;
    if (oldest == nullptr || node->pong_received_ms < oldest->pong_received_ms) oldest = node;
  }
  if (oldest != nullptr) SendGossip(step, peers_.Of(oldest->id()).outgoing, MessageType::kPing);
}

BusLinkId BusProtocol::OnAccepted(std::string peer_ip, std::string own_ip, int64_t now_ms) {
  return peers_.AddIncoming(std::move(peer_ip), std::move(own_ip), now_ms);
}

BusEffects BusProtocol::OnOpened(const Input& input, BusLinkId id) {
  BusEffects effects;
  BusStep step = Begin(input, effects);
  BusLink* const link = peers_.FindLink(id);
  Node* const node = link == nullptr ? nullptr : step.topology.Find(*link->node);
  if (node != nullptr) {
    link->is_open = true;
    node->is_connected = true;
    // An old PING without an answer still counts: else a node that accepts and breaks links would never fail.
    const int64_t ping_sent_ms = node->ping_sent_ms;
    SendGossip(step, id, node->flags.Has(NodeFlags::kMeet) ? MessageType::kMeet : MessageType::kPing);
    if (ping_sent_ms != 0) node->ping_sent_ms = ping_sent_ms;
    node->flags.Remove(NodeFlags::kMeet);
  }
  End(step);
  return effects;
}

BusEffects BusProtocol::OnClosed(const Input& input, BusLinkId id) {
  BusEffects effects;
  BusStep step = Begin(input, effects);
  const BusLink* const link = peers_.FindLink(id);
  if (link == nullptr) return effects;
  Node* const node = link->is_incoming || !link->node ? nullptr : step.topology.Find(*link->node);
  if (node != nullptr) {
    node->is_connected = false;
    // From now on the node has to show that it is alive.
    if (node->ping_sent_ms == 0) node->ping_sent_ms = step.self.now_ms;
  }
  peers_.RemoveLink(id);
  End(step);
  return effects;
}

BusEffects BusProtocol::OnChanged(const Input& input) {
  BusEffects effects;
  BusStep step = Begin(input, effects);
  DropUnknownPeers(step);
  checks_state_ = true;
  Announce(step);
  End(step);
  return effects;
}

BusEffects BusProtocol::OnPaused(const Input& input) {
  BusEffects effects;
  BusStep step = Begin(input, effects);
  manual_.OnPaused(step);
  End(step);
  return effects;
}

BusEffects BusProtocol::Meet(const Input& input, const std::string& ip, uint16_t port, uint16_t cport) {
  BusEffects effects;
  BusStep step = Begin(input, effects);
  for (const Node* known : step.topology.Nodes()) {
    const bool is_same = known->ip == ip && step.PortsOf(*known).port == port && known->cport == cport;
    if (known->flags.Has(NodeFlags::kHandshake) && is_same) return effects;
  }
  Node node(DrawNodeId(random_));
  node.ip = ip;
  step.SetPorts(node, {port, 0});
  node.cport = cport;
  node.flags.Add(NodeFlags::kHandshake | NodeFlags::kMeet);
  peers_.Of(node.id()).added_ms = step.self.now_ms;
  step.topology.AddNode(std::move(node));
  Reconnect(step);
  End(step);
  return effects;
}

bool BusProtocol::HasForgotten(const NodeId& node, int64_t now_ms) const {
  const auto found = forgotten_.find(node);
  return found != forgotten_.end() && found->second > now_ms;
}

void BusProtocol::Forget(const NodeId& node, int64_t now_ms) { forgotten_[node] = now_ms + kForgetMs; }

BusEffects BusProtocol::Failover(const Input& input, FailoverKind kind) {
  BusEffects effects;
  BusStep step = Begin(input, effects);
  if (kind == FailoverKind::kTakeover) {
    Log(LogSeverity::kNotice, "Taking over the master (user request).");
    step.topology.current_epoch = step.topology.MaxEpoch() + 1;
    ReplaceMaster(step, step.topology.current_epoch);
    Announce(step);
  } else {
    manual_.Begin(step, kind == FailoverKind::kForce);
    if (kind == FailoverKind::kForce) election_.BeginManual();
    else election_.Reset();
  }
  End(step);
  return effects;
}

BusEffects BusProtocol::Publish(const Input& input, PublishBody body, bool is_sharded) {
  BusEffects effects;
  BusStep step = Begin(input, effects);
  if (!is_sharded) {
    step.Broadcast(MessageType::kPublish, std::move(body));
  } else if (const Node* const master = step.MyMaster(); master != nullptr) {
    step.SendTo(master->id(), MessageType::kPublishShard, body);
    for (const Node* replica : step.topology.ReplicasOf(master->id())) {
      step.SendTo(replica->id(), MessageType::kPublishShard, body);
    }
  }
  End(step);
  return effects;
}

BusEffects BusProtocol::CloseLinks(const Input& input, const NodeId& node, LinkEnds ends) {
  BusEffects effects;
  BusStep step = Begin(input, effects);
  const BusPeer peer = peers_.Of(node);
  if (ends != LinkEnds::kIncoming) step.CloseLink(peer.outgoing);
  if (ends != LinkEnds::kOutgoing) step.CloseLink(peer.incoming);
  End(step);
  return effects;
}

int BusProtocol::CountFailureReports(const NodeId& node, int64_t now_ms, int64_t validity_ms) const {
  const auto found = peers_.peers().find(node);
  if (found == peers_.peers().end()) return 0;
  return static_cast<int>(std::ranges::count_if(
      found->second.reports, [&](const auto& report) { return now_ms - report.second <= validity_ms; }));
}

std::vector<BusLinkRow> BusProtocol::Links() const {
  std::vector<BusLinkRow> rows;
  for (const auto& [id, link] : peers_.links()) {
    if (link.node && link.is_open) rows.push_back({id, link.is_incoming, *link.node, link.created_ms});
  }
  return rows;
}

}  // namespace cairn
