// SPDX-License-Identifier: BSD-3-Clause
//
// The failure detector. A node that does not answer for cluster-node-timeout is possibly failing ("fail?") in the view
// of this node. If most masters report that, it has failed ("fail"), and this node tells all others.
//
// Thread: that of the protocol.
#pragma once

#include "cluster/bus_step.h"

namespace cairn {

inline constexpr int kReportValidity = 2;  // of reports, in node timeouts

// A master said that it reaches the node, or that it does not.
void NoteReport(BusStep& step, const NodeId& reporter, Node& node, bool is_failing);
// The number of masters that lately said that the node fails.
int CountReports(BusStep& step, const Node& node);
// A FAIL message.
void NoteFailed(BusStep& step, const NodeId& sender, const NodeId& failed);
// A PONG of the node itself.
void NoteAnswer(BusStep& step, Node& node);
// Sends the PINGs that are due, breaks silent links, and marks nodes that do not answer. `chases`: the replica that
// gets a PING in any case, because it asked for a manual failover.
void TickFailures(BusStep& step, const std::optional<NodeId>& chases);

}  // namespace cairn
