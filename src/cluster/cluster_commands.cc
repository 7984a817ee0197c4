// SPDX-License-Identifier: BSD-3-Clause
//
// The rows of CLUSTER, ASKING, READONLY and READWRITE. Without `cluster-enabled` they reply like a Redis without it:
// client libraries probe with them, and ACL rules name them.
#include "base/hash.h"
#include "cluster/node_commands.h"
#include "command/fixed.h"
#include "command/help.h"
#include "command/parts.h"

namespace cairn {
namespace {

// CLUSTER KEYSLOT name
Status ClusterKeySlot(const ClusterParts&, CommandContext&, Args& args, Reply& reply) {
  reply.Integer(KeySlot(args.Bytes()));
  return Ok();
}

constexpr std::string_view kHelp[] = {
    "ADDSLOTS <slot> [<slot> ...]",
    "    Give slots without an owner to this node.",
    "ADDSLOTSRANGE <start slot> <end slot> [<start slot> <end slot> ...]",
    "    Give ranges of slots without an owner to this node.",
    "BUMPEPOCH",
    "    Give this node an epoch above all others.",
    "CANCELSLOTMIGRATIONS",
    "    End all migrations of slots from this node.",
    "COUNT-FAILURE-REPORTS <node-id>",
    "    Return the number of nodes that report <node-id> as failing.",
    "COUNTKEYSINSLOT <slot>",
    "    Return the number of keys in <slot>.",
    "DELSLOTS <slot> [<slot> ...]",
    "    Take slots from their owners.",
    "DELSLOTSRANGE <start slot> <end slot> [<start slot> <end slot> ...]",
    "    Take ranges of slots from their owners.",
    "FAILOVER [FORCE|TAKEOVER]",
    "    Make this replica the master of its shard.",
    "FLUSHSLOTS",
    "    Take all slots from this node.",
    "FORGET <node-id>",
    "    Remove a node.",
    "GETKEYSINSLOT <slot> <count>",
    "    Return names of keys in <slot>.",
    "GETSLOTMIGRATIONS",
    "    Return the migrations of slots from this node and to it.",
    "INFO",
    "    Return the state of the cluster.",
    "KEYSLOT <key>",
    "    Return the slot of <key>.",
    "LINKS",
    "    Return the links to other nodes.",
    "MEET <ip> <port> [<bus-port>]",
    "    Connect this node with the cluster of another node.",
    "MIGRATESLOTS SLOTSRANGE <start slot> <end slot> [<start slot> <end slot> ...] NODE <node-id> [SLOTSRANGE ...]",
    "    Move slots with their keys to another node.",
    "MYID",
    "    Return the id of this node.",
    "MYSHARDID",
    "    Return the id of the shard of this node.",
    "NODES",
    "    Return the nodes, a line for each.",
    "REPLICAS <node-id>",
    "    Return the replicas of <node-id>.",
    "REPLICATE <node-id>",
    "    Make this node a replica of <node-id>.",
    "RESET [HARD|SOFT]",
    "    Make this node forget the cluster.",
    "SAVECONFIG",
    "    Write nodes.conf.",
    "SET-CONFIG-EPOCH <epoch>",
    "    Set the epoch of a node that is alone.",
    "SETSLOT <slot> (IMPORTING <node-id>|MIGRATING <node-id>|STABLE|NODE <node-id>)",
    "    Begin or end the migration of a slot, or give it to a node.",
    "SHARDS",
    "    Return the slots and nodes of each shard.",
    "SLOT-STATS SLOTSRANGE <start-slot> <end-slot>",
    "SLOT-STATS ORDERBY <metric> [LIMIT <limit>] [ASC|DESC]",
    "    Return the number of keys, and the costs, of slots of this shard.",
    "SLOTS",
    "    Return the ranges of slots and the nodes that serve them.",
};
Status ClusterHelp(const ClusterParts&, CommandContext& ctx, Args& args, Reply& reply) {
  return Help<kHelp>(ctx, args, reply);
}

// ASKING: the next command is served in a slot that this node imports.
Status Asking(const ClusterParts&, CommandContext& ctx, Args&, Reply& reply) {
  ctx.session().redirection.asks = true;
  reply.Ok();
  return Ok();
}

// READONLY, READWRITE: whether a replica serves the reads of a client that it would refer to its primary.
template <bool kReadsReplica>
Status SetReadsReplica(const ClusterParts& parts, CommandContext& ctx, Args&, Reply& reply) {
  Redirection& redirection = ctx.session().redirection;
  if (parts.cluster == nullptr && !redirection.is_followed) return RefuseWithoutCluster();
  redirection.reads_replica = kReadsReplica;
  reply.Ok();
  return Ok();
}

constexpr auto kGroup = Group::kCluster;
constexpr uint32_t kRules = kAdmin | kStale | kNoAsyncLoading;

// clang-format off
constexpr CommandRow kSubcommandRows[] = {
    {.name = "addslots", .arity = -3, .flags = kRules | kSlowLane, .run = With<IfEnabled<ClusterAddSlots>>,
     .group = kGroup, .since = "3.0.0",
     .summary = "Gives slots without an owner to this node.", .complexity = "O(1)", .syntax = "slot [slot ...]"},
    {.name = "addslotsrange", .arity = -4, .flags = kRules | kSlowLane,
     .run = With<IfEnabled<ClusterAddSlotsRange>>, .group = kGroup, .since = "7.0.0",
     .summary = "Gives ranges of slots without an owner to this node.", .complexity = "O(1)",
     .syntax = "start-slot end-slot [start-slot end-slot ...]"},
    {.name = "bumpepoch", .arity = 2, .flags = kRules | kSlowLane, .run = With<IfEnabled<ClusterBumpEpoch>>,
     .group = kGroup, .since = "3.0.0",
     .summary = "Gives this node an epoch above all others, without a vote.", .complexity = "O(1)",
     .tips = "nondeterministic_output"},
    {.name = "cancelslotmigrations", .arity = 2, .flags = kRules | kSlowLane,
     .run = With<IfEnabled<ClusterCancelSlotMigrations>>, .group = kGroup, .since = "9.0.0",
     .summary = "Ends all migrations of slots from this node.",
     .complexity = "O(N) with N the migrations that run"},
    {.name = "count-failure-reports", .arity = 3, .flags = kAdmin | kStale,
     .run = With<IfEnabled<ClusterCountFailureReports>>, .group = kGroup,
     .since = "3.0.0", .summary = "Number of nodes that report a node as failing.", .complexity = "O(1)",
     .syntax = "node-id",
     .tips = "nondeterministic_output"},
    {.name = "countkeysinslot", .arity = 3, .flags = kStale | kSlowLane,
     .run = With<IfEnabled<ClusterCountKeysInSlot>>, .group = kGroup, .since = "3.0.0",
     .summary = "Number of keys in a slot.", .complexity = "O(1)", .syntax = "slot"},
    {.name = "delslots", .arity = -3, .flags = kRules | kSlowLane, .run = With<IfEnabled<ClusterDelSlots>>,
     .group = kGroup, .since = "3.0.0",
     .summary = "Takes slots from their owners, in the view of this node.", .complexity = "O(1)",
     .syntax = "slot [slot ...]"},
    {.name = "delslotsrange", .arity = -4, .flags = kRules | kSlowLane,
     .run = With<IfEnabled<ClusterDelSlotsRange>>, .group = kGroup, .since = "7.0.0",
     .summary = "Takes ranges of slots from their owners, in the view of this node.", .complexity = "O(1)",
     .syntax = "start-slot end-slot [start-slot end-slot ...]"},
    {.name = "failover", .arity = -2, .flags = kRules | kSlowLane, .run = With<IfEnabled<ClusterFailover>>,
     .group = kGroup, .since = "3.0.0",
     .summary = "Makes this replica the master of its shard.", .complexity = "O(1)", .syntax = "[FORCE | TAKEOVER]"},
    {.name = "flushslots", .arity = 2, .flags = kRules | kSlowLane, .run = With<IfEnabled<ClusterFlushSlots>>,
     .group = kGroup, .since = "3.0.0",
     .summary = "Takes all slots from this node, which must be empty.", .complexity = "O(1)"},
    {.name = "forget", .arity = 3, .flags = kRules | kSlowLane, .run = With<IfEnabled<ClusterForget>>,
     .group = kGroup, .since = "3.0.0",
     .summary = "Removes a node from the view of this node.", .complexity = "O(1)", .syntax = "node-id"},
    {.name = "getkeysinslot", .arity = 4, .flags = kStale | kSlowLane, .run = With<IfEnabled<ClusterGetKeysInSlot>>,
     .group = kGroup, .since = "3.0.0",
     .summary = "Names of keys in a slot.", .complexity = "O(1)", .syntax = "slot count",
     .tips = "nondeterministic_output"},
    {.name = "getslotmigrations", .arity = 2, .flags = kRules | kSlowLane,
     .run = With<IfEnabled<ClusterGetSlotMigrations>>, .group = kGroup, .since = "9.0.0",
     .summary = "The migrations of slots from this node and to it, that run or have ended lately.",
     .complexity = "O(N) with N the migrations"},
    {.name = "help", .arity = 2, .flags = kLoading | kStale, .run = With<IfEnabled<ClusterHelp>>, .group = kGroup,
     .since = "5.0.0",
     .summary = "The subcommands of CLUSTER.", .complexity = "O(1)"},
    {.name = "importkeys", .arity = -4, .flags = kWrite | kDenyOom | kAdmin | kNoScript | kNoMulti | kSlowLane,
     .keys = {KeysToEnd(kOW | kInsert, 2, 2)}, .run = With<IfEnabled<ClusterImportKeys>>, .group = kGroup,
     .since = "7.0.0", .summary = "Internal: keys of a slot that another Cairn sends.",
     .complexity = "O(N) with N the rows", .syntax = "key rows [key rows ...]"},
    {.name = "info", .arity = 2, .flags = kStale, .run = With<IfEnabled<ClusterInfo>>, .group = kGroup,
     .since = "3.0.0",
     .summary = "State of the cluster as this node sees it.", .complexity = "O(1)", .tips = "nondeterministic_output"},
    {.name = "keyslot", .arity = 3, .flags = kStale, .run = With<IfEnabled<ClusterKeySlot>>, .group = kGroup,
     .since = "3.0.0",
     .summary = "Slot of a key.", .complexity = "O(1)", .syntax = "name"},
    {.name = "links", .arity = 2, .flags = kStale, .run = With<IfEnabled<ClusterLinks>>, .group = kGroup,
     .since = "7.0.0",
     .summary = "Links to the other nodes.", .complexity = "O(1)", .tips = "nondeterministic_output"},
    {.name = "meet", .arity = -4, .flags = kRules | kSlowLane, .run = With<IfEnabled<ClusterMeet>>, .group = kGroup,
     .since = "3.0.0",
     .summary = "Connects this node with the cluster of another node.", .complexity = "O(1)",
     .syntax = "ip port [cluster-bus-port]"},
    {.name = "migrateslots", .arity = -4, .flags = kRules | kSlowLane, .run = With<IfEnabled<ClusterMigrateSlots>>,
     .group = kGroup, .since = "9.0.0", .summary = "Moves ranges of slots with their keys to other nodes.",
     .complexity = "O(N) with N the slots",
     .syntax = "<SLOTSRANGE <start-slot:integer end-slot:integer> [<start-slot:integer end-slot:integer> ...] "
               "NODE node-id> [<SLOTSRANGE <start-slot:integer end-slot:integer> "
               "[<start-slot:integer end-slot:integer> ...] NODE node-id> ...]"},
    {.name = "myid", .arity = 2, .flags = kStale, .run = With<IfEnabled<ClusterMyId>>, .group = kGroup,
     .since = "3.0.0",
     .summary = "Id of this node.", .complexity = "O(1)"},
    {.name = "myshardid", .arity = 2, .flags = kStale, .run = With<IfEnabled<ClusterMyShardId>>, .group = kGroup,
     .since = "7.2.0",
     .summary = "Id of the shard of this node.", .complexity = "O(1)", .tips = "nondeterministic_output"},
    {.name = "nodes", .arity = 2, .flags = kStale, .run = With<IfEnabled<ClusterNodes>>, .group = kGroup,
     .since = "3.0.0",
     .summary = "The nodes, in the format of nodes.conf.", .complexity = "O(1)", .tips = "nondeterministic_output"},
    {.name = "replicas", .arity = 3, .flags = kAdmin | kStale, .run = With<IfEnabled<ClusterReplicas>>,
     .group = kGroup, .since = "5.0.0",
     .summary = "The replicas of a node.", .complexity = "O(1)", .syntax = "node-id",
     .tips = "nondeterministic_output"},
    {.name = "replicate", .arity = 3, .flags = kRules | kSlowLane, .run = With<IfEnabled<ClusterReplicate>>,
     .group = kGroup, .since = "3.0.0",
     .summary = "Makes this node a replica of another.", .complexity = "O(1)", .syntax = "node-id"},
    {.name = "reset", .arity = -2, .flags = kAdmin | kNoScript | kStale | kSlowLane,
     .run = With<IfEnabled<ClusterReset>>, .group = kGroup,
     .since = "3.0.0", .summary = "Makes this node forget the cluster.", .complexity = "O(1)",
     .syntax = "[HARD | SOFT]"},
    {.name = "saveconfig", .arity = 2, .flags = kRules | kSlowLane, .run = With<IfEnabled<ClusterSaveConfig>>,
     .group = kGroup, .since = "3.0.0",
     .summary = "Writes nodes.conf.", .complexity = "O(1)"},
    {.name = "set-config-epoch", .arity = 3, .flags = kRules | kSlowLane,
     .run = With<IfEnabled<ClusterSetConfigEpoch>>, .group = kGroup, .since = "3.0.0",
     .summary = "Sets the epoch of a node that is alone.", .complexity = "O(1)", .syntax = "config-epoch"},
    {.name = "setslot", .arity = -4, .flags = kRules | kSlowLane, .run = With<IfEnabled<ClusterSetSlot>>,
     .group = kGroup, .since = "3.0.0",
     .summary = "Begins or ends the migration of a slot, or gives it to a node.", .complexity = "O(1)",
     .syntax = "slot <IMPORTING node-id | MIGRATING node-id | NODE node-id | STABLE>"},
    {.name = "shards", .arity = 2, .flags = kLoading | kStale, .run = With<IfEnabled<ClusterShards>>,
     .group = kGroup, .since = "7.0.0",
     .summary = "The shards: their slots and their nodes.", .complexity = "O(1)", .tips = "nondeterministic_output"},
    {.name = "slaves", .arity = 3, .flags = kAdmin | kStale, .run = With<IfEnabled<ClusterReplicas>>,
     .group = kGroup, .since = "3.0.0",
     .summary = "The replicas of a node.", .complexity = "O(1)", .syntax = "node-id", .tips = "nondeterministic_output",
     .deprecated_since = "5.0.0", .replaced_by = "`CLUSTER REPLICAS`"},
    {.name = "slot-stats", .arity = -4, .flags = kLoading | kStale | kSlowLane,
     .run = With<IfEnabled<ClusterSlotStats>>, .group = kGroup, .since = "8.2.0",
     .summary = "The number of keys and the costs of slots of this shard.",
     .complexity = "O(N) for N keys in the slots that are shown; ORDERBY key-count reads all keys.",
     .syntax = "<SLOTSRANGE start-slot:integer end-slot:integer | ORDERBY metric [LIMIT limit:integer] [ASC | DESC]>",
     .tips = "nondeterministic_output request_policy:all_shards"},
    {.name = "slots", .arity = 2, .flags = kLoading | kStale, .run = With<IfEnabled<ClusterSlots>>, .group = kGroup,
     .since = "3.0.0",
     .summary = "The slots and the nodes that serve them.", .complexity = "O(1)", .tips = "nondeterministic_output",
     .deprecated_since = "7.0.0",
     .replaced_by = "`CLUSTER SHARDS`"},
    {.name = "syncslots", .arity = -3, .flags = kRules | kMayReplicate,
     .run = With<IfEnabled<ClusterSyncSlots>>, .group = kGroup, .since = "9.0.0",
     .summary = "Internal: the steps of an atomic migration of slots.", .complexity = "Depends on the step.",
     .syntax = "step [argument ...]"},
};
// clang-format on

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "asking", .arity = 1, .flags = kFast, .run = With<IfEnabled<Asking>>, .group = kGroup, .since = "3.0.0",
     .summary = "Serves the next command in a slot that is being imported.", .complexity = "O(1)", .acl = "connection"},
    {.name = "readonly", .arity = 1, .flags = kFast | kLoading | kStale, .run = With<SetReadsReplica<true>>,
     .group = kGroup, .since = "3.0.0", .summary = "Lets a replica serve the reads of a client that it would redirect.",
     .complexity = "O(1)", .acl = "connection"},
    {.name = "readwrite", .arity = 1, .flags = kFast | kLoading | kStale, .run = With<SetReadsReplica<false>>,
     .group = kGroup, .since = "3.0.0", .summary = "Ends READONLY.", .complexity = "O(1)", .acl = "connection"},
    {.name = "cluster", .arity = -2, .flags = kSubcommands, .group = kGroup, .since = "3.0.0",
     .summary = "Commands about clusters.", .complexity = "Depends on the subcommand.", .subcommands = kSubcommandRows},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ClusterCommands() { return kRows; }

}  // namespace cairn
