// SPDX-License-Identifier: BSD-3-Clause
//
// The families of commands of this folder, and the parts that they take.
#pragma once

#include <span>
#include <string>

#include "command/table.h"
#include "config/settings.h"

namespace cairn {

class Cluster;
class Replication;
class SlotMove;
class SlotStats;

struct ClusterParts {
  Cluster* cluster;  // null: cluster-enabled is no
  Replication& replication;
  const SlotStats& slot_stats;
  SlotMove* slot_move;  // null like the cluster
};

// The text of CLUSTER INFO. REQUIRES: `cluster` is not null.
std::string DescribeCluster(const ClusterParts& parts);

std::span<const CommandRow> ClusterCommands();
std::span<const CommandRow> ClusterxCommands();

}  // namespace cairn
