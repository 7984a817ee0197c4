// SPDX-License-Identifier: BSD-3-Clause
//
// BusElection: the election of a replica of a failed master. The replica waits, the longer the less data it has, and
// asks all masters for a vote in a new epoch. With the votes of most masters it takes over the slots of its master,
// with that epoch. A manual failover (cluster/bus_manual_failover.h) begins an election without the wait.
//
// Thread: that of the protocol.
#pragma once

#include "cluster/bus_step.h"

namespace cairn {

class BusElection {
 public:
  // `is_manual`: a manual failover may begin. `ends_manual` is set when this node has become the master.
  void Tick(BusStep& step, bool is_manual, bool& ends_manual);
  // A master's vote.
  void NoteVote(BusStep& step, const Node& voter, uint64_t epoch);
  // A manual failover begins at the next tick: masters vote even if the master has not failed.
  void BeginManual();
  // An attempt in progress is given up.
  void Reset() { *this = BusElection(); }

 private:
  void Schedule(BusStep& step, bool is_manual);
  void AskForVotes(BusStep& step);

  int64_t start_ms_ = 0;  // when votes are asked for
  uint64_t epoch_ = 0;
  int votes_ = 0;
  int rank_ = 0;
  bool has_asked_ = false;
  bool forces_ = false;
};

// A master's answer to a replica that asks for its vote.
void AnswerVoteRequest(BusStep& step, const NodeId& replica, const MessageHeader& request);

// This replica takes over the slots of its master with `epoch`, and tells all nodes.
void ReplaceMaster(BusStep& step, uint64_t epoch);

// Moves this replica to a master that has lost all its replicas, if its own master has more than it needs (directive
// cluster-migration-barrier).
void ConsiderMigration(BusStep& step);

}  // namespace cairn
