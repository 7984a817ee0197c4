// SPDX-License-Identifier: BSD-3-Clause
//
// BusManualFailover: CLUSTER FAILOVER, at both of its nodes. The replica asks its master to hold writes back (MFSTART);
// the master announces its offset; when the replica has everything, it begins an election at once, in which masters
// vote although the master has not failed. With FORCE the replica begins without its master. After five seconds the
// failover is given up.
//
// Thread: that of the protocol.
#pragma once

#include <optional>

#include "cluster/bus_election.h"

namespace cairn {

class BusManualFailover {
 public:
  // CLUSTER FAILOVER at the replica.
  void Begin(BusStep& step, bool forces);
  // MFSTART at the master.
  void NoteRequest(BusStep& step, const NodeId& replica);
  // No write is running any more at the master.
  void OnPaused(BusStep& step);
  // A message of the master of this replica.
  void NoteMaster(const MessageHeader& header);
  void Tick(BusStep& step, BusElection& election);
  void Reset(BusStep& step);

  // At the replica: the election may begin.
  bool may_elect() const { return may_elect_; }
  // At the master: writes are held back, and the offset does not grow.
  bool is_paused() const { return is_paused_; }
  // At the master.
  const std::optional<NodeId>& replica() const { return replica_; }

 private:
  int64_t end_ms_ = 0;                     // 0: there is no failover
  std::optional<NodeId> replica_;          // at the master
  bool is_paused_ = false;                 // at the master
  std::optional<uint64_t> wanted_offset_;  // at the replica: the offset of the paused master
  bool may_elect_ = false;                 // at the replica
};

}  // namespace cairn
