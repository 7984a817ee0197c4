// SPDX-License-Identifier: BSD-3-Clause
//
// SlotRoutes: where the requests for each slot are served, in the form that every command of a client checks
// (command/slot_gate.h). The owner of the topology publishes it after each change.
//
// A command reads the route of its slot without a lock, and again after it has locked its keys. So a publisher that
// then waits for the holders of locks knows that no later write follows the old routes.
//
// Thread: any.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "bus/node_flags.h"
#include "bus/slot_set.h"
#include "topology/topology.h"

namespace cairn {

enum class SlotRoute : uint8_t {
  kUnassigned,  // the slot has no owner
  kServed,      // this node owns it
  kMigrating,   // this node owns it; some of its keys may be at another node
  kElsewhere,   // another node owns it
  kImporting,   // another node owns it; some of its keys may be here
  kOfMaster,    // the master of this node owns it
};

// The address that redirections and CLUSTER SLOTS give (directive cluster-preferred-endpoint-type).
enum class EndpointType : uint8_t { kIp, kHostname, kUnknown };

// The address of a node for clients; "?" for an unknown hostname, and empty for kUnknown: the client keeps its address.
std::string PreferredEndpoint(const Node& node, EndpointType type);
// The port of a node for clients, with or without TLS; the other one if it has only that.
uint16_t ClientPort(const Node& node, bool with_tls);

class SlotRoutes {
 public:
  SlotRoutes();

  SlotRoute Of(int slot) const { return routes_[static_cast<size_t>(slot)].load(std::memory_order_relaxed); }
  // Whether this node or its master owns the slot, so that its shard channels are served here.
  bool ServesChannelsOf(int slot) const {
    const SlotRoute route = Of(slot);
    return route == SlotRoute::kServed || route == SlotRoute::kMigrating || route == SlotRoute::kOfMaster;
  }
  // Whether clients may find keys of the slot here: this node or its master owns it, or it is open for a manual import.
  bool HasKeysOf(int slot) const {
    const SlotRoute route = Of(slot);
    return route != SlotRoute::kElsewhere && route != SlotRoute::kUnassigned;
  }
  // Whether the cluster serves requests (cluster_state of CLUSTER INFO).
  bool is_up() const { return is_up_.load(std::memory_order_relaxed); }
  // Holds the writes of clients to these slots back until Release. Commands that have begun may still write, until the
  // caller has waited for all holders of locks.
  void Hold(const SlotSet& slots);
  void Release(const SlotSet& slots);
  bool holds_any() const { return held_count_.load(std::memory_order_acquire) != 0; }
  bool IsHeld(int slot) const { return held_[static_cast<size_t>(slot)].load(std::memory_order_relaxed); }
  // Grows with every change.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }

  // "host:port" of the owner of a slot, and of the target of its migration; empty if there is none.
  std::string OwnerAddress(int slot, bool with_tls) const;
  std::string TargetAddress(int slot, bool with_tls) const;

  void Publish(const Topology& topology, ClusterState state, EndpointType endpoint);

 private:
  struct Address {
    std::string host;
    uint16_t port = 0;
    uint16_t tls_port = 0;
  };
  static constexpr uint16_t kNobody = 0xffff;

  std::string Text(uint16_t node, bool with_tls) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::array<std::atomic<SlotRoute>, kSlotCount> routes_;
  std::array<std::atomic<bool>, kSlotCount> held_{};
  std::atomic<int> held_count_{0};
  std::atomic<bool> is_up_{false};
  std::atomic<uint64_t> version_{0};
  mutable Mutex mutex_;
  std::vector<Address> nodes_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint16_t> owners_ ABSL_GUARDED_BY(mutex_);   // by slot: a position in nodes_, or kNobody
  std::vector<uint16_t> targets_ ABSL_GUARDED_BY(mutex_);  // likewise
};

}  // namespace cairn
