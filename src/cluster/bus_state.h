// SPDX-License-Identifier: BSD-3-Clause
//
// BusState: whether this node serves requests, with the delays of a cluster. A master that starts waits two seconds,
// and one that was in a minority waits up to five, before it serves again: others may have replaced it meanwhile, and
// it has to learn that first. A node that is alone in its cluster does not wait.
//
// Thread: that of the protocol.
#pragma once

#include <cstdint>

#include "cluster/bus_step.h"

namespace cairn {

class BusState {
 public:
  // Computes the state; returns whether it has changed.
  bool Update(const BusStep& step);
  ClusterState state() const { return state_; }

 private:
  ClusterState state_ = ClusterState::kFail;
  int64_t first_ms_ = 0;     // of the first call
  int64_t minority_ms_ = 0;  // of the last call in a minority
};

}  // namespace cairn
