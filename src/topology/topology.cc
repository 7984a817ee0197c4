// SPDX-License-Identifier: BSD-3-Clause
#include "topology/topology.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/assert.h"

namespace cairn {

Topology::Topology(Node myself) : owners_(kSlotCount, kNoHandle) {
  ASSERT(myself.slots().empty() && !myself.master(), "a new node has slots or a master");
  myself.flags.Add(NodeFlags::kMyself);
  handles_[myself.id()] = kMyHandle;
  nodes_.emplace_back(std::move(myself));
}

Topology::Handle Topology::HandleOf(const NodeId& id) const {
  const auto found = handles_.find(id);
  ASSERT(found != handles_.end(), "the node is not in the topology");
  return found->second;
}

const Node* Topology::Find(const NodeId& id) const {
  const auto found = handles_.find(id);
  return found == handles_.end() ? nullptr : &*nodes_[found->second];
}

Node* Topology::Find(const NodeId& id) { return const_cast<Node*>(std::as_const(*this).Find(id)); }

std::vector<const Node*> Topology::Nodes() const {
  std::vector<const Node*> nodes;
  nodes.reserve(handles_.size());
  for (const auto& [id, handle] : handles_) nodes.push_back(&*nodes_[handle]);
  return nodes;
}

Node& Topology::AddNode(Node node) {
  ASSERT(node.slots().empty() && !node.master() && !node.is_myself(), "a new node has slots, a master or my flag");
  const auto free = std::find(nodes_.begin(), nodes_.end(), std::nullopt);
  const Handle handle = static_cast<Handle>(free - nodes_.begin());
  ASSERT(handles_.emplace(node.id(), handle).second, "the node is in the topology already");
  if (free == nodes_.end()) return *nodes_.emplace_back(std::move(node));
  return free->emplace(std::move(node));
}

void Topology::RemoveNode(const NodeId& id) {
  const NodeId removed = id;  // `id` may be a field of a node that changes
  const Handle handle = HandleOf(removed);
  ASSERT(handle != kMyHandle, "a node cannot remove itself");
  UnassignSlots(removed);
  CloseSlotsWith(handle);
  for (std::optional<Node>& node : nodes_) {
    if (node && node->master_ == removed) node->master_.reset();
  }
  handles_.erase(removed);
  nodes_[handle].reset();
}

void Topology::RenameNode(const NodeId& id, const NodeId& new_id) {
  const NodeId old_id = id;  // `id` may be a field of a node that changes
  const Handle handle = HandleOf(old_id);
  ASSERT(handles_.emplace(new_id, handle).second, "the new id is in the topology already");
  handles_.erase(old_id);
  nodes_[handle]->id_ = new_id;
  for (std::optional<Node>& node : nodes_) {
    if (node && node->master_ == old_id) node->master_ = new_id;
  }
}

void Topology::MakeMaster(const NodeId& id) {
  Node& node = *nodes_[HandleOf(id)];
  node.flags.Remove(NodeFlags::kSlave);
  node.flags.Add(NodeFlags::kMaster);
  node.master_.reset();
}

void Topology::MakeReplica(const NodeId& id, const std::optional<NodeId>& master) {
  const Handle handle = HandleOf(id);
  ASSERT(!master || HandleOf(*master) != handle, "a node cannot replicate itself");
  Node& node = *nodes_[handle];
  UnassignSlots(id);
  if (handle == kMyHandle) CloseSlots();
  node.flags.Remove(NodeFlags::kMaster | NodeFlags::kMigrateTo);
  node.flags.Add(NodeFlags::kSlave);
  node.master_ = master;
}

const Node* Topology::MasterOf(const Node& node) const { return node.master_ ? Find(*node.master_) : nullptr; }

std::vector<const Node*> Topology::ReplicasOf(const NodeId& id) const {
  std::vector<const Node*> replicas;
  for (const Node* node : Nodes()) {
    if (node->master_ == id) replicas.push_back(node);
  }
  return replicas;
}

std::vector<Shard> Topology::Shards() const {
  std::vector<Shard> shards;
  std::map<NodeId, size_t> places;  // by shard id, or the id of the master
  for (const Node* node : Nodes()) {
    const Node* master = MasterOf(*node);
    const Node& named = master != nullptr ? *master : *node;
    const auto [place, is_new] = places.emplace(named.shard_id.value_or(named.id()), shards.size());
    if (is_new) shards.emplace_back();
    Shard& shard = shards[place->second];
    shard.nodes.push_back(node);
    // A master that lost a failover may still be listed as one: the owner of the slots counts.
    if (node->is_master() && (shard.master == nullptr || shard.master->slots().empty())) shard.master = node;
  }
  return shards;
}

const Node* Topology::SlotOwner(int slot) const {
  ASSERT(IsSlot(slot), "no slot");
  return owners_[slot] == kNoHandle ? nullptr : &*nodes_[owners_[slot]];
}

bool Topology::AssignSlot(int slot, const NodeId& id) {
  ASSERT(IsSlot(slot), "no slot");
  const Handle handle = HandleOf(id);
  if (owners_[slot] != kNoHandle) return false;
  owners_[slot] = handle;
  nodes_[handle]->slots_.Add(slot);
  return true;
}

bool Topology::UnassignSlot(int slot) {
  ASSERT(IsSlot(slot), "no slot");
  if (owners_[slot] == kNoHandle) return false;
  nodes_[owners_[slot]]->slots_.Remove(slot);
  owners_[slot] = kNoHandle;
  unclaimed.Remove(slot);
  return true;
}

void Topology::UnassignSlots(const NodeId& id) {
  Node& node = *nodes_[HandleOf(id)];
  for (const auto [first, last] : node.slots_.Ranges()) {
    std::fill(owners_.begin() + first, owners_.begin() + last + 1, kNoHandle);
    for (int slot = first; slot <= last; ++slot) unclaimed.Remove(slot);
  }
  node.slots_ = SlotSet();
}

void Topology::SetMigrating(int slot, const std::optional<NodeId>& to) {
  ASSERT(IsSlot(slot), "no slot");
  if (to) migrating_[slot] = HandleOf(*to);
  else migrating_.erase(slot);
}

void Topology::SetImporting(int slot, const std::optional<NodeId>& from) {
  ASSERT(IsSlot(slot), "no slot");
  if (from) importing_[slot] = HandleOf(*from);
  else importing_.erase(slot);
}

const Node* Topology::MigratingTo(int slot) const {
  const auto found = migrating_.find(slot);
  return found == migrating_.end() ? nullptr : &*nodes_[found->second];
}

const Node* Topology::ImportingFrom(int slot) const {
  const auto found = importing_.find(slot);
  return found == importing_.end() ? nullptr : &*nodes_[found->second];
}

std::vector<int> Topology::OpenSlots() const {
  std::set<int> slots;
  for (const auto& [slot, handle] : migrating_) slots.insert(slot);
  for (const auto& [slot, handle] : importing_) slots.insert(slot);
  return {slots.begin(), slots.end()};
}

void Topology::CloseSlots() {
  migrating_.clear();
  importing_.clear();
}

void Topology::CloseSlotsWith(Handle handle) {
  const auto is_with = [handle](const auto& open) { return open.second == handle; };
  std::erase_if(migrating_, is_with);
  std::erase_if(importing_, is_with);
}

int Topology::Size() const {
  return static_cast<int>(std::count_if(nodes_.begin(), nodes_.end(), [](const std::optional<Node>& node) {
    return node && node->is_master() && !node->slots_.empty();
  }));
}

bool Topology::CoversAllSlots() const { return CountSlots().assigned == kSlotCount; }

SlotCounts Topology::CountSlots() const {
  SlotCounts counts;
  for (const std::optional<Node>& node : nodes_) {
    if (!node) continue;
    const int slots = node->slots_.count();
    counts.assigned += slots;
    if (node->flags.Has(NodeFlags::kFailed)) counts.fail += slots;
    else if (node->flags.Has(NodeFlags::kPossiblyFailing)) counts.pfail += slots;
    else counts.ok += slots;
  }
  return counts;
}

ClusterState Topology::ComputeState(bool requires_full_coverage) const {
  if (requires_full_coverage) {
    const SlotCounts counts = CountSlots();
    if (counts.assigned < kSlotCount || counts.fail > 0) return ClusterState::kFail;
  }
  const auto reachable = std::count_if(nodes_.begin(), nodes_.end(), [](const std::optional<Node>& node) {
    return node && node->is_master() && !node->slots_.empty() &&
           !node->flags.Has(NodeFlags::kFailed | NodeFlags::kPossiblyFailing);
  });
  return reachable > Size() / 2 ? ClusterState::kOk : ClusterState::kFail;
}

uint64_t Topology::ConfigEpoch(const Node& node) const {
  const Node* master = node.is_replica() ? MasterOf(node) : nullptr;
  return master != nullptr ? master->config_epoch : node.config_epoch;
}

uint64_t Topology::MaxEpoch() const {
  uint64_t max = current_epoch;
  for (const std::optional<Node>& node : nodes_) {
    if (node) max = std::max(max, node->config_epoch);
  }
  return max;
}

void Topology::ResetLinks(int64_t now_ms) {
  for (std::optional<Node>& node : nodes_) {
    if (!node) continue;
    node->is_connected = false;
    if (node->ping_sent_ms != 0) node->ping_sent_ms = now_ms;
    if (node->pong_received_ms != 0) node->pong_received_ms = now_ms;
    if (node->flags.Has(NodeFlags::kFailed)) node->fail_time_ms = now_ms;
  }
}

}  // namespace cairn
