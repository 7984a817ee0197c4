// SPDX-License-Identifier: BSD-3-Clause
#include "topology/slot_routes.h"

#include <map>

namespace cairn {
namespace {

SlotRoute RouteOf(const Topology& topology, int slot, const Node* owner) {
  const Node& myself = topology.myself();
  if (owner == &myself) return topology.MigratingTo(slot) != nullptr ? SlotRoute::kMigrating : SlotRoute::kServed;
  if (topology.ImportingFrom(slot) != nullptr) return SlotRoute::kImporting;
  if (owner == nullptr) return SlotRoute::kUnassigned;
  return owner == topology.MasterOf(myself) ? SlotRoute::kOfMaster : SlotRoute::kElsewhere;
}

}  // namespace

std::string PreferredEndpoint(const Node& node, EndpointType type) {
  switch (type) {
    case EndpointType::kIp: return node.ip;
    case EndpointType::kHostname: return node.hostname.empty() ? "?" : node.hostname;
    case EndpointType::kUnknown: break;
  }
  return {};
}

uint16_t ClientPort(const Node& node, bool with_tls) {
  const uint16_t preferred = with_tls ? node.tls_port : node.port;
  if (preferred != 0) return preferred;
  return with_tls ? node.port : node.tls_port;
}

SlotRoutes::SlotRoutes() : owners_(kSlotCount, kNobody), targets_(kSlotCount, kNobody) {
  for (std::atomic<SlotRoute>& route : routes_) route = SlotRoute::kUnassigned;
}

void SlotRoutes::Publish(const Topology& topology, ClusterState state, EndpointType endpoint) {
  const MutexLock lock(mutex_);
  nodes_.clear();
  std::map<const Node*, uint16_t> positions = {{nullptr, kNobody}};
  for (const Node* node : topology.Nodes()) {
    positions[node] = static_cast<uint16_t>(nodes_.size());
    nodes_.push_back({PreferredEndpoint(*node, endpoint), ClientPort(*node, false), ClientPort(*node, true)});
  }
  for (int slot = 0; slot < kSlotCount; ++slot) {
    const Node* const owner = topology.SlotOwner(slot);
    owners_[static_cast<size_t>(slot)] = positions[owner];
    targets_[static_cast<size_t>(slot)] = positions[topology.MigratingTo(slot)];
    routes_[static_cast<size_t>(slot)].store(RouteOf(topology, slot, owner), std::memory_order_relaxed);
  }
  is_up_ = state == ClusterState::kOk;
  version_.fetch_add(1, std::memory_order_release);
}

void SlotRoutes::Hold(const SlotSet& slots) {
  for (int slot = 0; slot < kSlotCount; ++slot) {
    if (slots.Has(slot) && !held_[static_cast<size_t>(slot)].exchange(true)) ++held_count_;
  }
}

void SlotRoutes::Release(const SlotSet& slots) {
  for (int slot = 0; slot < kSlotCount; ++slot) {
    if (slots.Has(slot) && held_[static_cast<size_t>(slot)].exchange(false)) --held_count_;
  }
}

std::string SlotRoutes::Text(uint16_t node, bool with_tls) const {
  if (node == kNobody) return {};
  const Address& address = nodes_[node];
  return address.host + ":" + std::to_string(with_tls ? address.tls_port : address.port);
}

std::string SlotRoutes::OwnerAddress(int slot, bool with_tls) const {
  const MutexLock lock(mutex_);
  return Text(owners_[static_cast<size_t>(slot)], with_tls);
}

std::string SlotRoutes::TargetAddress(int slot, bool with_tls) const {
  const MutexLock lock(mutex_);
  return Text(targets_[static_cast<size_t>(slot)], with_tls);
}

}  // namespace cairn
