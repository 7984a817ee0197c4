// SPDX-License-Identifier: BSD-3-Clause
//
// A topology of two masters without slots: this node "a" at 10.0.0.1:1, and "b" at 10.0.0.1:2.
#pragma once

#include <cstdint>
#include <string>

#include "topology/topology.h"

namespace cairn {

inline NodeId Id(char c) { return *NodeId::Parse(std::string(NodeId::kSize, c)); }

inline Node Master(char id, uint16_t port) {
  Node node(Id(id));
  node.flags.Add(NodeFlags::kMaster);
  node.ip = "10.0.0.1";
  node.port = port;
  return node;
}

inline Topology TwoNodes() {
  Topology topology(Master('a', 1));
  topology.AddNode(Master('b', 2));
  return topology;
}

}  // namespace cairn
