// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/bus_election.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "cluster/bus_gossip.h"

namespace cairn {
namespace {

constexpr int64_t kLeastTimeoutMs = 2000;
constexpr int64_t kFixedDelayMs = 500;  // lets the FAIL message arrive everywhere
constexpr int64_t kRandomDelayMs = 500;
constexpr int64_t kDelayPerRankMs = 1000;
constexpr int64_t kVotePause = 2;  // in node timeouts: between two votes for replicas of one master

int64_t TimeoutOf(const BusSettings& settings) { return std::max(2 * settings.node_timeout_ms, kLeastTimeoutMs); }

// The number of other replicas of the master with more data.
int RankOf(const BusStep& step) {
  const Node& myself = step.topology.myself();
  int rank = 0;
  for (const Node* replica : step.topology.ReplicasOf(*myself.master())) {
    const bool competes = !replica->is_myself() && !replica->flags.Has(NodeFlags::kNoFailover | NodeFlags::kFailed);
    if (competes && replica->replication_offset > step.self.offset) ++rank;
  }
  return rank;
}

bool HasReason(const BusStep& step, bool is_manual) {
  const Node& myself = step.topology.myself();
  const Node* const master = myself.is_replica() ? step.topology.MasterOf(myself) : nullptr;
  if (master == nullptr || master->slots().empty()) return false;
  return is_manual || (master->flags.Has(NodeFlags::kFailed) && !step.settings.never_fails_over);
}

// Whether the data is recent enough (directive cluster-replica-validity-factor).
bool IsRecent(const BusStep& step) {
  const BusSettings& settings = step.settings;
  if (settings.replica_validity_factor == 0) return true;
  int64_t age = step.self.data_age_ms;
  if (age > settings.node_timeout_ms) age -= settings.node_timeout_ms;
  return age <= settings.replication_ping_ms + settings.node_timeout_ms * settings.replica_validity_factor;
}

// The reason against a vote; empty if there is none.
std::string ReasonAgainst(const BusStep& step, const NodeId& replica, const MessageHeader& request) {
  const Topology& topology = step.topology;
  if (request.current_epoch < topology.current_epoch) return "its epoch is old";
  if (topology.last_vote_epoch == topology.current_epoch) return "already voted in this epoch";
  const Node& node = *topology.Find(replica);
  const Node* const master = topology.MasterOf(node);
  if (node.is_master()) return "it is a master";
  if (master == nullptr) return "its master is not known";
  if (!master->flags.Has(NodeFlags::kFailed) && !request.forces_ack) return "its master is up";
  const int64_t since_vote = step.self.now_ms - step.peers.Of(master->id()).voted_ms;
  if (since_vote < kVotePause * step.settings.node_timeout_ms) return "voted for a replica of this master before";
  for (const SlotRange& range : request.slots.Ranges()) {
    for (int slot = range.first; slot <= range.last; ++slot) {
      const Node* const owner = topology.SlotOwner(slot);
      if (owner == nullptr || topology.unclaimed.Has(slot) || owner->config_epoch <= request.config_epoch) continue;
      return fmt::format("slot {} has a newer owner", slot);
    }
  }
  return {};
}

bool IsWorking(const Node& node) { return !node.flags.Has(NodeFlags::kFailed | NodeFlags::kPossiblyFailing); }

int WorkingReplicas(const Topology& topology, const NodeId& master) {
  return static_cast<int>(
      std::ranges::count_if(topology.ReplicasOf(master), [](const Node* replica) { return IsWorking(*replica); }));
}

// Whether this node has the smallest id of all working replicas of the masters with `most` of them: all nodes agree on
// the one that migrates.
bool IsFirstCandidate(const Topology& topology, int most) {
  for (const Node* node : topology.Nodes()) {
    if (!node->is_replica() || !node->master() || !IsWorking(*node)) continue;
    if (WorkingReplicas(topology, *node->master()) == most) return node->is_myself();
  }
  return false;
}

}  // namespace

void BusElection::BeginManual() {
  Reset();
  forces_ = true;
}

void BusElection::Schedule(BusStep& step, bool is_manual) {
  rank_ = is_manual ? 0 : RankOf(step);
  const int64_t delay =
      kFixedDelayMs + static_cast<int64_t>(step.random.Below(kRandomDelayMs)) + rank_ * kDelayPerRankMs;
  start_ms_ = step.self.now_ms + (is_manual ? 0 : delay);
  votes_ = 0;
  has_asked_ = false;
  Log(LogSeverity::kNotice, "Start of election delayed for {} milliseconds (rank #{}, offset {}).",
      start_ms_ - step.self.now_ms, rank_, step.self.offset);
  // The other replicas learn the offset, so that they know their ranks.
  for (const Node* replica : step.topology.ReplicasOf(*step.topology.myself().master())) {
    if (replica->is_connected && !replica->is_myself())
      SendGossip(step, step.peers.Of(replica->id()).outgoing, MessageType::kPong);
  }
}

void BusElection::AskForVotes(BusStep& step) {
  epoch_ = ++step.topology.current_epoch;
  has_asked_ = true;
  step.effects.saves = true;
  Log(LogSeverity::kNotice, "Starting a failover election for epoch {}.", epoch_);
  for (const Node* node : step.topology.Nodes()) {
    const BusLinkId id = step.peers.Of(node->id()).outgoing;
    const BusLink* const link = step.peers.FindLink(id);
    if (link == nullptr || !link->is_open || node->flags.Has(NodeFlags::kHandshake)) continue;
    Message message{MessageType::kFailoverAuthRequest, step.MakeHeader(), {}};
    message.header.forces_ack = forces_;
    step.effects.actions.emplace_back(BusSend{id, std::move(message)});
  }
}

void BusElection::Tick(BusStep& step, bool is_manual, bool& ends_manual) {
  if (!HasReason(step, is_manual)) return;
  if (!is_manual && !IsRecent(step)) return;
  const int64_t timeout = TimeoutOf(step.settings);
  const int64_t age = step.self.now_ms - start_ms_;
  if (age > 2 * timeout) {
    Schedule(step, is_manual);
    if (!is_manual) return;
  }
  if (!has_asked_ && !is_manual) {
    const int rank = RankOf(step);
    if (rank > rank_) start_ms_ += (rank - rank_) * kDelayPerRankMs;
    rank_ = std::max(rank, rank_);
  }
  if (step.self.now_ms < start_ms_ || step.self.now_ms - start_ms_ > timeout) return;
  if (!has_asked_) {
    AskForVotes(step);
    return;
  }
  if (votes_ < MajorityOf(step.topology)) return;
  Log(LogSeverity::kNotice, "Failover election won: I'm the new master.");
  ReplaceMaster(step, epoch_);
  Reset();
  ends_manual = true;
}

void BusElection::NoteVote(BusStep& step, const Node& voter, uint64_t epoch) {
  if (!has_asked_ || !voter.is_master() || voter.slots().empty() || epoch < epoch_) return;
  ++votes_;
  Log(LogSeverity::kVerbose, "Node {} voted for this node in epoch {}; {} of {} votes.", voter.id().text(), epoch_,
      votes_, MajorityOf(step.topology));
}

void AnswerVoteRequest(BusStep& step, const NodeId& replica, const MessageHeader& request) {
  Topology& topology = step.topology;
  if (!topology.myself().is_master() || topology.myself().slots().empty()) return;
  const std::string reason = ReasonAgainst(step, replica, request);
  if (!reason.empty()) {
    Log(LogSeverity::kNotice, "Failover auth denied to {}: {}", replica.text(), reason);
    return;
  }
  topology.last_vote_epoch = topology.current_epoch;
  step.peers.Of(*topology.Find(replica)->master()).voted_ms = step.self.now_ms;
  step.effects.saves = true;
  step.SendTo(replica, MessageType::kFailoverAuthAck);
  Log(LogSeverity::kNotice, "Failover auth granted to {} for epoch {}", replica.text(), topology.current_epoch);
}

void ReplaceMaster(BusStep& step, uint64_t epoch) {
  Topology& topology = step.topology;
  const NodeId my_id = topology.myself().id();
  const Node* const master = topology.MasterOf(topology.myself());
  if (master == nullptr) return;
  topology.MakeMaster(my_id);
  Node& me = *topology.Find(my_id);
  me.config_epoch = std::max(me.config_epoch, epoch);
  const SlotSet slots = master->slots();
  for (const SlotRange& range : slots.Ranges()) {
    for (int slot = range.first; slot <= range.last; ++slot) {
      topology.UnassignSlot(slot);
      topology.AssignSlot(slot, my_id);
    }
  }
  step.effects.changes_role = true;
  step.NoteChange();
  BroadcastPong(step);
}

void ConsiderMigration(BusStep& step) {
  constexpr int64_t kDelayMs = 5000;
  Topology& topology = step.topology;
  const Node& myself = topology.myself();
  if (!step.settings.allows_replica_migration || !myself.is_replica() || !myself.master()) return;
  const NodeId my_master = *myself.master();
  const Node* orphan = nullptr;
  int most = 0;
  for (const Node* node : topology.Nodes()) {
    if (!node->is_master() || node->flags.Has(NodeFlags::kFailed | NodeFlags::kHandshake)) continue;
    const int working = WorkingReplicas(topology, node->id());
    most = std::max(most, working);
    int64_t& since_ms = step.peers.Of(node->id()).orphaned_ms;
    const bool is_orphaned = working == 0 && !node->slots().empty() && node->flags.Has(NodeFlags::kMigrateTo);
    if (!is_orphaned) since_ms = 0;
    else if (since_ms == 0) since_ms = step.self.now_ms;
    else if (orphan == nullptr && step.self.now_ms - since_ms > kDelayMs) orphan = node;
  }
  const int mine = WorkingReplicas(topology, my_master);
  if (orphan == nullptr || mine != most || mine <= step.settings.migration_barrier) return;
  if (mine < 2 || !IsFirstCandidate(topology, most)) return;
  Log(LogSeverity::kNotice, "Migrating to orphaned master {}", orphan->id().text());
  step.FollowMaster(orphan->id());
}

}  // namespace cairn
