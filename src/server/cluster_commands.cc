// SPDX-License-Identifier: BSD-3-Clause
//
// CLUSTER and its companions: Cairn has no cluster mode, so they answer like a Redis with `cluster-enabled no`. Client
// libraries probe with them, and ACL rules name them.
#include "command/context.h"
#include "command/fixed.h"
#include "server/families.h"

namespace cairn {
namespace {

// CLUSTER ..., ASKING
Status RefuseCluster(CommandContext&, Args&, Reply&) {
  return Status::Reply("ERR This instance has cluster support disabled");
}

// READONLY, READWRITE: whether a replica serves the reads of a client that it would refer to its primary.
Status SetReadsReplica(CommandContext& ctx, Args& args, Reply& reply, bool reads_replica) {
  if (!ctx.session().redirection.is_followed) return RefuseCluster(ctx, args, reply);
  ctx.session().redirection.reads_replica = reads_replica;
  reply.Ok();
  return Ok();
}

constexpr auto kGroup = Group::kCluster;
constexpr uint32_t kRules = kAdmin | kStale | kNoAsyncLoading;
constexpr std::string_view kSummary = "Refused: Cairn has no cluster mode.";

// clang-format off
constexpr CommandRow kSubcommandRows[] = {
    {.name = "addslots", .arity = -3, .flags = kRules, .run = RefuseCluster, .group = kGroup, .since = "3.0.0",
     .summary = kSummary, .complexity = "O(1)", .syntax = "slot [slot ...]"},
    {.name = "addslotsrange", .arity = -4, .flags = kRules, .run = RefuseCluster, .group = kGroup, .since = "7.0.0",
     .summary = kSummary, .complexity = "O(1)", .syntax = "start-slot end-slot [start-slot end-slot ...]"},
    {.name = "bumpepoch", .arity = 2, .flags = kRules, .run = RefuseCluster, .group = kGroup, .since = "3.0.0",
     .summary = kSummary, .complexity = "O(1)", .tips = "nondeterministic_output"},
    {.name = "count-failure-reports", .arity = 3, .flags = kAdmin | kStale, .run = RefuseCluster, .group = kGroup,
     .since = "3.0.0", .summary = kSummary, .complexity = "O(1)", .syntax = "node-id",
     .tips = "nondeterministic_output"},
    {.name = "countkeysinslot", .arity = 3, .flags = kStale, .run = RefuseCluster, .group = kGroup, .since = "3.0.0",
     .summary = kSummary, .complexity = "O(1)", .syntax = "slot"},
    {.name = "delslots", .arity = -3, .flags = kRules, .run = RefuseCluster, .group = kGroup, .since = "3.0.0",
     .summary = kSummary, .complexity = "O(1)", .syntax = "slot [slot ...]"},
    {.name = "delslotsrange", .arity = -4, .flags = kRules, .run = RefuseCluster, .group = kGroup, .since = "7.0.0",
     .summary = kSummary, .complexity = "O(1)", .syntax = "start-slot end-slot [start-slot end-slot ...]"},
    {.name = "failover", .arity = -2, .flags = kRules, .run = RefuseCluster, .group = kGroup, .since = "3.0.0",
     .summary = kSummary, .complexity = "O(1)", .syntax = "[FORCE | TAKEOVER]"},
    {.name = "flushslots", .arity = 2, .flags = kRules, .run = RefuseCluster, .group = kGroup, .since = "3.0.0",
     .summary = kSummary, .complexity = "O(1)"},
    {.name = "forget", .arity = 3, .flags = kRules, .run = RefuseCluster, .group = kGroup, .since = "3.0.0",
     .summary = kSummary, .complexity = "O(1)", .syntax = "node-id"},
    {.name = "getkeysinslot", .arity = 4, .flags = kStale, .run = RefuseCluster, .group = kGroup, .since = "3.0.0",
     .summary = kSummary, .complexity = "O(1)", .syntax = "slot count", .tips = "nondeterministic_output"},
    {.name = "help", .arity = 2, .flags = kLoading | kStale, .run = RefuseCluster, .group = kGroup, .since = "5.0.0",
     .summary = kSummary, .complexity = "O(1)"},
    {.name = "info", .arity = 2, .flags = kStale, .run = RefuseCluster, .group = kGroup, .since = "3.0.0",
     .summary = kSummary, .complexity = "O(1)", .tips = "nondeterministic_output"},
    {.name = "keyslot", .arity = 3, .flags = kStale, .run = RefuseCluster, .group = kGroup, .since = "3.0.0",
     .summary = kSummary, .complexity = "O(1)", .syntax = "name"},
    {.name = "links", .arity = 2, .flags = kStale, .run = RefuseCluster, .group = kGroup, .since = "7.0.0",
     .summary = kSummary, .complexity = "O(1)", .tips = "nondeterministic_output"},
    {.name = "meet", .arity = -4, .flags = kRules, .run = RefuseCluster, .group = kGroup, .since = "3.0.0",
     .summary = kSummary, .complexity = "O(1)", .syntax = "ip port [cluster-bus-port]"},
    {.name = "myid", .arity = 2, .flags = kStale, .run = RefuseCluster, .group = kGroup, .since = "3.0.0",
     .summary = kSummary, .complexity = "O(1)"},
    {.name = "myshardid", .arity = 2, .flags = kStale, .run = RefuseCluster, .group = kGroup, .since = "7.2.0",
     .summary = kSummary, .complexity = "O(1)", .tips = "nondeterministic_output"},
    {.name = "nodes", .arity = 2, .flags = kStale, .run = RefuseCluster, .group = kGroup, .since = "3.0.0",
     .summary = kSummary, .complexity = "O(1)", .tips = "nondeterministic_output"},
    {.name = "replicas", .arity = 3, .flags = kAdmin | kStale, .run = RefuseCluster, .group = kGroup, .since = "5.0.0",
     .summary = kSummary, .complexity = "O(1)", .syntax = "node-id", .tips = "nondeterministic_output"},
    {.name = "replicate", .arity = 3, .flags = kRules, .run = RefuseCluster, .group = kGroup, .since = "3.0.0",
     .summary = kSummary, .complexity = "O(1)", .syntax = "node-id"},
    {.name = "reset", .arity = -2, .flags = kAdmin | kNoScript | kStale, .run = RefuseCluster, .group = kGroup,
     .since = "3.0.0", .summary = kSummary, .complexity = "O(1)", .syntax = "[HARD | SOFT]"},
    {.name = "saveconfig", .arity = 2, .flags = kRules, .run = RefuseCluster, .group = kGroup, .since = "3.0.0",
     .summary = kSummary, .complexity = "O(1)"},
    {.name = "set-config-epoch", .arity = 3, .flags = kRules, .run = RefuseCluster, .group = kGroup, .since = "3.0.0",
     .summary = kSummary, .complexity = "O(1)", .syntax = "config-epoch"},
    {.name = "setslot", .arity = -4, .flags = kRules, .run = RefuseCluster, .group = kGroup, .since = "3.0.0",
     .summary = kSummary, .complexity = "O(1)",
     .syntax = "slot <IMPORTING node-id | MIGRATING node-id | NODE node-id | STABLE>"},
    {.name = "shards", .arity = 2, .flags = kLoading | kStale, .run = RefuseCluster, .group = kGroup, .since = "7.0.0",
     .summary = kSummary, .complexity = "O(1)", .tips = "nondeterministic_output"},
    {.name = "slaves", .arity = 3, .flags = kAdmin | kStale, .run = RefuseCluster, .group = kGroup, .since = "3.0.0",
     .summary = kSummary, .complexity = "O(1)", .syntax = "node-id", .tips = "nondeterministic_output",
     .deprecated_since = "5.0.0", .replaced_by = "`CLUSTER REPLICAS`"},
    {.name = "slots", .arity = 2, .flags = kLoading | kStale, .run = RefuseCluster, .group = kGroup, .since = "3.0.0",
     .summary = kSummary, .complexity = "O(1)", .tips = "nondeterministic_output", .deprecated_since = "7.0.0",
     .replaced_by = "`CLUSTER SHARDS`"},
};
// clang-format on

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "asking", .arity = 1, .flags = kFast, .run = RefuseCluster, .group = kGroup, .since = "3.0.0",
     .summary = kSummary, .complexity = "O(1)", .acl = "connection"},
    {.name = "readonly", .arity = 1, .flags = kFast | kLoading | kStale, .run = Fixed<SetReadsReplica, true>,
     .group = kGroup, .since = "3.0.0", .summary = "Lets a replica serve the reads of a client with CAPA REDIRECT.",
     .complexity = "O(1)", .acl = "connection"},
    {.name = "readwrite", .arity = 1, .flags = kFast | kLoading | kStale, .run = Fixed<SetReadsReplica, false>,
     .group = kGroup, .since = "3.0.0", .summary = "Ends READONLY.", .complexity = "O(1)", .acl = "connection"},
    {.name = "cluster", .arity = -2, .flags = kSubcommands, .group = kGroup, .since = "3.0.0",
     .summary = "Commands about clusters.", .complexity = "Depends on the subcommand.", .subcommands = kSubcommandRows},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ClusterCommands() { return kRows; }

}  // namespace cairn
