// SPDX-License-Identifier: BSD-3-Clause
//
// Gossip: PING, PONG and MEET with entries about some other nodes, by which nodes find each other and spread reports of
// failures.
//
// Thread: that of the protocol.
#pragma once

#include "cluster/bus_step.h"

namespace cairn {

// Sends a PING, PONG or MEET on a link, with entries about a tenth of the nodes, at least three, and about all nodes
// that this one does not reach.
void SendGossip(BusStep& step, BusLinkId link, MessageType type);
// Sends a PONG to all nodes: this node has changed.
void BroadcastPong(BusStep& step);
// Applies a PING, PONG or MEET's entries and extensions to the topology. `sender` is known.
void ReadGossip(BusStep& step, const NodeId& sender, const GossipBody& body);
// The entries of a MEET whose sender is not known yet: only unknown nodes are added.
void ReadGossipOfStranger(BusStep& step, const GossipBody& body);

}  // namespace cairn
