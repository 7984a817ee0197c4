// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/bus_state.h"

#include <algorithm>

#include "base/log.h"

namespace cairn {
namespace {

constexpr int64_t kStartDelayMs = 2000;
constexpr int64_t kLeastRejoinDelayMs = 500;
constexpr int64_t kMostRejoinDelayMs = 5000;

}  // namespace

bool BusState::Update(const BusStep& step) {
  const Topology& topology = step.topology;
  const int64_t now = step.self.now_ms;
  if (first_ms_ == 0) first_ms_ = now;
  // Without coverage, the majority alone decides.
  const bool has_majority = topology.ComputeState(false) == ClusterState::kOk;
  if (!has_majority && topology.Size() > 0) minority_ms_ = now;
  const ClusterState state = topology.ComputeState(step.settings.requires_full_coverage);
  if (state == state_) return false;
  const bool may_be_replaced = topology.myself().is_master() && topology.node_count() > 1;
  if (state == ClusterState::kOk && may_be_replaced) {
    const int64_t rejoin_delay = std::clamp(step.settings.node_timeout_ms, kLeastRejoinDelayMs, kMostRejoinDelayMs);
    if (now - first_ms_ < kStartDelayMs || now - minority_ms_ < rejoin_delay) return false;
  }
  state_ = state;
  Log(LogSeverity::kNotice, "Cluster state changed: {}", state == ClusterState::kOk ? "ok" : "fail");
  return true;
}

}  // namespace cairn
