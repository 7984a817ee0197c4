// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/bus_slot_claims.h"

#include "base/log.h"

namespace cairn {
namespace {

// What a claim took from this node or its master.
struct Outcome {
  int taken = 0;          // slots of this node or of its master
  std::vector<int> mine;  // those of this node
};

bool Yields(const BusStep& step, const Node* owner, int slot, uint64_t epoch) {
  return owner == nullptr || step.topology.unclaimed.Has(slot) || owner->config_epoch < epoch;
}

Outcome TakeSlots(BusStep& step, const NodeId& claimant, uint64_t epoch, const SlotSet& slots) {
  Outcome outcome;
  const Node* const sender = step.topology.Find(claimant);
  const Node* const my_master = step.MyMaster();
  for (int slot = 0; slot < kSlotCount; ++slot) {
    const Node* const owner = step.topology.SlotOwner(slot);
    if (!slots.Has(slot)) {
      // The slot stays with the sender until another node claims it: a redirection is better than an error.
      if (owner == sender) step.topology.unclaimed.Add(slot);
      continue;
    }
    if (owner == sender) {
      step.topology.unclaimed.Remove(slot);
      continue;
    }
    // The operator ends an import.
    if (step.topology.ImportingFrom(slot) != nullptr || !Yields(step, owner, slot, epoch)) continue;
    if (owner != nullptr && owner->is_myself()) outcome.mine.push_back(slot);
    if (owner != nullptr && owner == my_master) ++outcome.taken;
    step.topology.UnassignSlot(slot);
    step.topology.AssignSlot(slot, claimant);
    step.topology.SetMigrating(slot, std::nullopt);
    step.NoteChange();
  }
  return outcome;
}

}  // namespace

void ReadClaims(BusStep& step, const NodeId& claimant, uint64_t epoch, const SlotSet& slots) {
  Topology& topology = step.topology;
  if (claimant == topology.myself().id()) return;
  const Node* const my_master = step.MyMaster();
  const Outcome outcome = TakeSlots(step, claimant, epoch, slots);
  const bool has_lost_all = outcome.taken > 0 && my_master != nullptr && my_master->slots().empty();
  if (has_lost_all && (step.settings.allows_replica_migration || slots.count() == outcome.taken)) {
    Log(LogSeverity::kNotice, "Configuration change detected. Reconfiguring myself as a replica of {}",
        claimant.text());
    step.FollowMaster(claimant);
    return;
  }
  const Node* const above = my_master == nullptr ? nullptr : topology.MasterOf(*my_master);
  if (topology.myself().is_replica() && above != nullptr && !above->is_myself()) {
    Log(LogSeverity::kNotice, "My master is a replica. Reconfiguring myself as a replica of its master {}",
        above->id().text());
    step.FollowMaster(above->id());
    return;
  }
  step.effects.lost_slots.insert(step.effects.lost_slots.end(), outcome.mine.begin(), outcome.mine.end());
}

void NoteClaimed(BusStep& step, const SlotSet& slots) {
  SlotSet& unclaimed = step.topology.unclaimed;
  if (unclaimed.empty()) return;
  for (const SlotRange& range : slots.Ranges()) {
    for (int slot = range.first; slot <= range.last; ++slot) unclaimed.Remove(slot);
  }
}

void CorrectClaims(BusStep& step, const NodeId& sender, uint64_t epoch, const SlotSet& slots) {
  const Topology& topology = step.topology;
  for (const SlotRange& range : slots.Ranges()) {
    for (int slot = range.first; slot <= range.last; ++slot) {
      const Node* const owner = topology.SlotOwner(slot);
      if (owner == nullptr || owner->id() == sender || topology.unclaimed.Has(slot) || owner->config_epoch <= epoch) {
        continue;
      }
      step.SendTo(sender, MessageType::kUpdate, UpdateBody{owner->config_epoch, owner->id(), owner->slots()});
      return;
    }
  }
}

void ResolveCollision(BusStep& step, const Node& sender, uint64_t epoch) {
  Node& me = step.me();
  if (!me.is_master() || !sender.is_master() || epoch != me.config_epoch || sender.id() <= me.id()) return;
  me.config_epoch = ++step.topology.current_epoch;
  step.effects.saves = true;
  Log(LogSeverity::kVerbose, "configEpoch collision with node {}. configEpoch set to {}", sender.id().text(),
      me.config_epoch);
}

void ReadUpdate(BusStep& step, const UpdateBody& body) {
  Node* const node = step.topology.Find(body.node);
  if (node == nullptr || node->is_myself() || step.topology.ConfigEpoch(*node) >= body.config_epoch) return;
  NoteMaster(step, body.node);
  node->config_epoch = body.config_epoch;
  step.NoteChange();
  ReadClaims(step, body.node, body.config_epoch, body.slots);
}

void NoteMaster(BusStep& step, const NodeId& id) {
  Node& node = *step.topology.Find(id);
  if (node.is_master()) return;
  const bool had_master = node.master().has_value();
  step.topology.MakeMaster(id);
  if (had_master) node.flags.Add(NodeFlags::kMigrateTo);
  step.NoteChange();
}

}  // namespace cairn
