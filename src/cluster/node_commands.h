// SPDX-License-Identifier: BSD-3-Clause
//
// The subcommands of CLUSTER: those that show the nodes (node_commands.cc), those that change them
// (membership_commands.cc), those about slots (slot_commands.cc, slot_stats_command.cc), and those about their
// migration (migration_commands.cc). Their rows are in cluster_commands.cc.
//
// Thread: a worker's. Those that change something run on the slow lane, and may wait for the disk. The others wait at
// most for the copy of a topology.
#pragma once

#include <string_view>

#include "cluster/cluster.h"
#include "cluster/families.h"
#include "command/context.h"
#include "resp/reply.h"

namespace cairn {

// ---- what the node knows
Status ClusterCountFailureReports(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterInfo(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterLinks(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterMyId(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterMyShardId(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterNodes(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterReplicas(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterShards(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterSlots(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);

// ---- changes of nodes and epochs
Status ClusterBumpEpoch(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterFailover(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterForget(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterMeet(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterReplicate(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterReset(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterSaveConfig(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterSetConfigEpoch(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);

// ---- slots
Status ClusterAddSlots(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterAddSlotsRange(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterDelSlots(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterDelSlotsRange(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterFlushSlots(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterCountKeysInSlot(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterGetKeysInSlot(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterSlotStats(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterSetSlot(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);

// ---- atomic migrations of slots (migration_commands.cc)
Status ClusterMigrateSlots(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterGetSlotMigrations(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterCancelSlotMigrations(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterSyncSlots(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClusterImportKeys(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);

// ---- shared
// The function of a row: kFunction, with the arguments after the subcommand; an error without cluster-enabled.
using ClusterFunction = Status (*)(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply);

inline Status RefuseWithoutCluster() { return Status::Reply("ERR This instance has cluster support disabled"); }

template <ClusterFunction kFunction>
Status IfEnabled(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  if (parts.cluster == nullptr) return RefuseWithoutCluster();
  if (ctx.command().parent() != nullptr) args.Skip(1);  // the subcommand
  return kFunction(parts, ctx, args, reply);
}

// A change waits for all users of keys, so it is refused within a transaction that holds some.
Status CheckMayChange(CommandContext& ctx);
// The number of a slot.
Result<int> ReadSlot(std::string_view word);
// The id of a known node; the error "<unknown> <text>" otherwise.
Result<NodeId> KnownNode(const Topology& topology, std::string_view text,
                         std::string_view unknown = "ERR Unknown node");

}  // namespace cairn
