// SPDX-License-Identifier: BSD-3-Clause
//
// The replicas of a simulation.
#include <fmt/format.h>

#include "simulation/clock.h"
#include "simulation/simulation.h"

namespace cairn::simulation {
namespace {

constexpr uint64_t kLongestTransfer = 3000;  // bytes of a transfer that is cut

}  // namespace

void Simulation::AddReplicas() {
  for (size_t i = 0; i < setting_.replicas; ++i) {
    replicas_.push_back(std::make_unique<Replica>(setting_, folder_ + "/replica-" + std::to_string(i)));
  }
}

void Simulation::RunReplicaStep(const Step& step) {
  if (step.kind == StepKind::kCheckReplicas) return CheckReplicas();
  Replica& replica = *replicas_.at(step.replica);
  switch (step.kind) {
    case StepKind::kLink: {
      // One transfer in three is cut.
      const Transfer transfer{.by_row_files = step.seed / 3 % 2 == 0,
                              .bytes = step.seed % 3 == 0 ? step.seed / 6 % kLongestTransfer : kAllBytes};
      return static_cast<void>(Link(replica, transfer, step.amount).ok());  // a cut link is no difference
    }
    case StepKind::kCut: return Cut(replica);
    case StepKind::kReplicaSync: {
      if (setting_.appendfsync == AppendFsync::kNo) return;
      const Status synced = replica.Sync();
      if (!synced.ok() && !replica.has_failed())
        throw Mismatch{"a replica's sync failed: " + std::string(synced.text())};
      return;
    }
    case StepKind::kReplicaRestart:
      replica.disk()->EndFaults();
      RecoverReplica(replica);
      Cut(replica);
      return replica.Restart();
    case StepKind::kReplicaCrash: return replica.Crash(step.amount, step.seed);
    case StepKind::kReplicaFault: ++totals_.replica_faults; return replica.disk()->FailAfter(MakeFault(step));
    case StepKind::kReplicaReadFault: return FailReads(replica.node(), replica.disk(), step);
    default: throw Mismatch{"not a step of a replica"};
  }
}

Status Simulation::Link(Replica& replica, const Transfer& transfer, uint64_t most) {
  if (node_->TakeStreamChange()) CutLinks();
  Status linked = replica.is_linked() ? Ok() : replica.Connect(*node_, transfer);
  if (linked.ok()) linked = replica.Receive(*node_, most);
  if (!linked.ok()) {
    Cut(replica);
    return linked;
  }
  at_offset_[replica.sent()] = history_.newest();
  return Ok();
}

void Simulation::Cut(Replica& replica) {
  totals_.cuts += replica.is_linked() ? 1 : 0;
  replica.Cut();
}

void Simulation::CutLinks() {
  for (const auto& replica : replicas_) Cut(*replica);
}

// After a power loss or an error of its disk a replica has exactly what its offset says.
void Simulation::RecoverReplica(Replica& replica) {
  if (!replica.has_crashed() && !replica.has_failed()) return;
  Cut(replica);
  if (!replica.has_crashed() && !replica.EndFaults()) replica.Crash(0, totals_.commands);
  if (replica.has_crashed()) {
    ++totals_.replica_crashes;
    replica.Recover(CheckRows);
  }
  const auto found = at_offset_.find(replica.position());
  if (found != at_offset_.end()) CheckReplica(replica, found->second);
}

void Simulation::RecoverReplicas() {
  for (const auto& replica : replicas_) RecoverReplica(*replica);
}

bool Simulation::EndReplica() {
  for (const auto& replica : replicas_) {
    if (!replica->has_failed()) continue;
    replica->NoteEnd();
    RecoverReplica(*replica);
    return true;
  }
  return false;
}

void Simulation::CheckReplicas() {
  node_->CommitAll();
  if (disk_->failed_steps() != failed_before_) return;
  for (const auto& replica : replicas_) {
    replica->disk()->EndFaults();
    RecoverReplica(*replica);
    const Transfer transfer{.by_row_files = totals_.replica_checks % 2 == 0};
    Status linked = Link(*replica, transfer, kAllBytes);
    if (!linked.ok()) linked = Link(*replica, transfer, kAllBytes);  // the primary may have passed a hole of its log
    if (disk_->failed_steps() != failed_before_) return;
    if (!linked.ok()) throw Mismatch{"a replica cannot follow: " + std::string(linked.text())};
    CheckReplica(*replica, history_.newest());
  }
}

void Simulation::CheckReplica(Replica& replica, const Keys& expected) {
  ++totals_.replica_checks;
  Model model(expected);
  model.DropExpired(VirtualClock::NowMs());
  const auto [id, offset] = replica.position();
  const std::string difference = FindDifference(model.keys(), ReadState(replica.node()));
  if (!difference.empty()) throw Mismatch{fmt::format("a replica at offset {} differs: {}", offset, difference)};
}

}  // namespace cairn::simulation
