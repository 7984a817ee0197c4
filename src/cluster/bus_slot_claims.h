// SPDX-License-Identifier: BSD-3-Clause
//
// Claims of slots: each master announces its slots with its config epoch, and the claim with the larger epoch wins.
//
// Thread: that of the protocol.
#pragma once

#include "cluster/bus_step.h"

namespace cairn {

// A master claims exactly these slots. This node follows a master that took the last slot of it or of its master.
void ReadClaims(BusStep& step, const NodeId& claimant, uint64_t epoch, const SlotSet& slots);
// The owner of these slots claims them.
void NoteClaimed(BusStep& step, const SlotSet& slots);
// Sends an UPDATE to a sender that claims slots of a master with a larger epoch.
void CorrectClaims(BusStep& step, const NodeId& sender, uint64_t epoch, const SlotSet& slots);
// Two masters with one config epoch: the one with the smaller id takes a new one.
void ResolveCollision(BusStep& step, const Node& sender, uint64_t epoch);
// An UPDATE: the slots of a node, as another node knows them.
void ReadUpdate(BusStep& step, const UpdateBody& body);
// Makes the node a master in this view, if it is not.
void NoteMaster(BusStep& step, const NodeId& node);

}  // namespace cairn
