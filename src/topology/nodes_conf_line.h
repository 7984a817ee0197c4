// SPDX-License-Identifier: BSD-3-Clause
//
// The lines of nodes.conf (topology/nodes_conf.h), each parsed alone: what they say of other nodes is not checked here.
// An error is kCorruption with the reason and without the line's number.
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bus/node_id.h"
#include "bus/slot_set.h"
#include "topology/node.h"
#include "topology/nodes_conf.h"

namespace cairn {

// [slot->-peer] or [slot-<-peer].
struct OpenSlot {
  int slot = 0;
  bool is_migrating = false;  // else it is importing
  NodeId peer;
};

// The line of a node.
struct NodeFields {
  explicit NodeFields(const NodeId& id) : node(id) {}

  Node node;  // without its master and its slots
  std::optional<NodeId> master;
  std::vector<SlotRange> slots;
  std::vector<OpenSlot> open_slots;
  int line = 0;  // its number, for errors
};

// The line of vars.
struct EpochFields {
  uint64_t current = 0;
  uint64_t last_vote = 0;
  bool is_controlled = false;
};

bool IsEpochLine(std::string_view line);

// Variables with another name are skipped, as Redis does.
Result<EpochFields> ParseEpochLine(std::string_view line);

Result<NodeFields> ParseNodeLine(std::string_view line, NodesConfPort old_port);

}  // namespace cairn
