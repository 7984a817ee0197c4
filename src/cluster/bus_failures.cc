// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/bus_failures.h"

#include <algorithm>

#include "base/log.h"
#include "cluster/bus_gossip.h"

namespace cairn {
namespace {

constexpr int kUndoAfter = 2;  // in node timeouts

// Masters with slots form the majority, so only they count.
bool IsVoter(const Node& node) { return node.is_master() && !node.slots().empty(); }

// Marks the node as failed if most masters agree.
void MarkIfAgreed(BusStep& step, Node& node) {
  if (!node.flags.Has(NodeFlags::kPossiblyFailing) || node.flags.Has(NodeFlags::kFailed)) return;
  const int reports = CountReports(step, node) + (IsVoter(step.topology.myself()) ? 1 : 0);
  if (reports < MajorityOf(step.topology)) return;
  Log(LogSeverity::kNotice, "Marking node {} as failing (quorum reached).", node.id().text());
  node.flags.Remove(NodeFlags::kPossiblyFailing);
  node.flags.Add(NodeFlags::kFailed);
  node.fail_time_ms = step.self.now_ms;
  step.NoteChange();
  step.Broadcast(MessageType::kFail, FailBody{node.id()});
}

// Whether the PING of a node is due: none is open, and the last answer is old.
bool IsPingDue(const BusStep& step, const Node& node) {
  return node.ping_sent_ms == 0 && step.self.now_ms - node.pong_received_ms > step.settings.node_timeout_ms / 2;
}

// Whether nothing is to be done for the node: it has answered lately. That is the case of most nodes in most ticks, so
// nothing but the node is looked at.
bool IsWell(const BusStep& step, const Node& node, const std::optional<NodeId>& chases) {
  return node.ping_sent_ms == 0 && !IsPingDue(step, node) && chases != node.id();
}

void TickNode(BusStep& step, Node& node, const std::optional<NodeId>& chases) {
  const int64_t now = step.self.now_ms;
  const int64_t timeout = step.settings.node_timeout_ms;
  const BusPeer& peer = step.peers.Of(node.id());
  const int64_t ping_delay = now - node.ping_sent_ms;
  const int64_t silence = now - peer.received_ms;
  const BusLink* link = step.peers.FindLink(peer.outgoing);
  const bool is_stuck = node.ping_sent_ms != 0 && ping_delay > timeout / 2 && silence > timeout / 2;
  if (link != nullptr && is_stuck && now - link->created_ms > timeout) {
    // The node may be alive and only the connection dead. The next tick connects again.
    step.CloseLink(peer.outgoing);
    link = nullptr;
  }
  if (link != nullptr && link->is_open && (IsPingDue(step, node) || chases == node.id())) {
    SendGossip(step, peer.outgoing, MessageType::kPing);
    return;
  }
  if (node.ping_sent_ms == 0 || std::min(ping_delay, silence) <= timeout) return;
  if (node.flags.Has(NodeFlags::kPossiblyFailing | NodeFlags::kFailed)) return;
  Log(LogSeverity::kVerbose, "Node {} does not answer.", node.id().text());
  node.flags.Add(NodeFlags::kPossiblyFailing);
  step.effects.publishes = true;
  // A cluster with one master has nobody to report it.
  MarkIfAgreed(step, node);
}

}  // namespace

void NoteReport(BusStep& step, const NodeId& reporter, Node& node, bool is_failing) {
  std::map<NodeId, int64_t>& reports = step.peers.Of(node.id()).reports;
  if (!is_failing || !IsVoter(*step.topology.Find(reporter))) {
    reports.erase(reporter);
    return;
  }
  reports[reporter] = step.self.now_ms;
  MarkIfAgreed(step, node);
}

int CountReports(BusStep& step, const Node& node) {
  std::map<NodeId, int64_t>& reports = step.peers.Of(node.id()).reports;
  const int64_t oldest = step.self.now_ms - step.settings.node_timeout_ms * kReportValidity;
  std::erase_if(reports, [oldest](const auto& report) { return report.second < oldest; });
  return static_cast<int>(reports.size());
}

void NoteFailed(BusStep& step, const NodeId& sender, const NodeId& failed) {
  Node* const node = step.topology.Find(failed);
  if (node == nullptr || node->flags.Has(NodeFlags::kFailed | NodeFlags::kMyself)) return;
  Log(LogSeverity::kNotice, "FAIL message received from {} about {}", sender.text(), failed.text());
  node->flags.Add(NodeFlags::kFailed);
  node->flags.Remove(NodeFlags::kPossiblyFailing);
  node->fail_time_ms = step.self.now_ms;
  step.NoteChange();
}

void NoteAnswer(BusStep& step, Node& node) {
  node.pong_received_ms = step.self.now_ms;
  node.ping_sent_ms = 0;
  if (node.flags.Has(NodeFlags::kPossiblyFailing)) {
    node.flags.Remove(NodeFlags::kPossiblyFailing);
    step.effects.publishes = true;
    return;
  }
  if (!node.flags.Has(NodeFlags::kFailed)) return;
  // A failed master with slots gets time to be replaced first.
  const bool is_in_charge = node.is_master() && !node.slots().empty();
  if (is_in_charge && step.self.now_ms - node.fail_time_ms <= step.settings.node_timeout_ms * kUndoAfter) return;
  Log(LogSeverity::kNotice, "Clear FAIL state for node {}: it is reachable again.", node.id().text());
  node.flags.Remove(NodeFlags::kFailed);
  step.NoteChange();
}

void TickFailures(BusStep& step, const std::optional<NodeId>& chases) {
  for (const Node* node : step.topology.Nodes()) {
    if (node->flags.Has(NodeFlags::kMyself | NodeFlags::kNoAddress | NodeFlags::kHandshake)) continue;
    if (!IsWell(step, *node, chases)) TickNode(step, *step.topology.Find(node->id()), chases);
  }
}

}  // namespace cairn
