// SPDX-License-Identifier: BSD-3-Clause
//
// CLUSTERX: the commands by which a controller that keeps the topology outside of the nodes (kvrocks-controller keeps
// it in etcd) sets it. The version of the topology is the current epoch, so nodes.conf keeps it.
//
// Source: kvrocks' documentation of its cluster commands. Thread: the slow lane.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/number.h"
#include "base/words.h"
#include "bus/node_text.h"
#include "cluster/node_commands.h"
#include "cluster/slot_move.h"
#include "command/parts.h"

namespace cairn {
namespace {

// A line of SETNODES: "id host port master|slave master-id|- [slot | first-last ...]".
struct NodeEntry {
  NodeId id;
  std::string host;
  uint16_t port = 0;
  std::optional<NodeId> master;  // of a replica
  std::vector<SlotRange> slots;
};

Result<NodeId> ReadId(std::string_view word) {
  if (const auto id = NodeId::Parse(word)) return *id;
  return Status::Reply("ERR Invalid cluster node id");
}

Result<SlotRange> ReadRange(std::string_view word) {
  const size_t dash = word.find('-');
  const auto first = ParseInt64(word.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : ParseInt64(word.substr(dash + 1));
  if (!first || !last || !IsSlot(*first) || !IsSlot(*last) || *first > *last) {
    return Status::Reply("ERR Invalid slot range");
  }
  return SlotRange{static_cast<int>(*first), static_cast<int>(*last)};
}

Result<NodeEntry> ReadEntry(std::string_view line) {
  constexpr size_t kLeastWords = 5;
  const auto words = SplitWords(line);
  if (!words || words->size() < kLeastWords) return Status::Reply("ERR Invalid cluster nodes info");
  NodeEntry entry;
  entry.id = TRY(ReadId((*words)[0]));
  entry.host = (*words)[1];
  if (!IsHost(entry.host)) return Status::Reply("ERR Invalid cluster node host");
  const auto port = ParseInt64((*words)[2]);
  if (!port || *port <= 0 || *port >= 65535) return Status::Reply("ERR Invalid cluster node port");
  entry.port = static_cast<uint16_t>(*port);
  const std::string& role = (*words)[3];
  if (EqualsIgnoreCase(role, "slave") || EqualsIgnoreCase(role, "replica")) {
    entry.master = TRY(ReadId((*words)[4]));
    if (words->size() > kLeastWords) return Status::Reply("ERR Invalid cluster nodes info: a replica has no slots");
  } else if (!EqualsIgnoreCase(role, "master")) {
    return Status::Reply("ERR Invalid cluster node role");
  }
  for (size_t i = kLeastWords; i < words->size(); ++i) entry.slots.push_back(TRY(ReadRange((*words)[i])));
  return entry;
}

Result<std::vector<NodeEntry>> ReadEntries(std::string_view text) {
  std::vector<NodeEntry> entries;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \r") != std::string_view::npos) entries.push_back(TRY(ReadEntry(line)));
  }
  if (entries.empty()) return Status::Reply("ERR Invalid cluster nodes info");
  return entries;
}

// Replaces the nodes and slots by those of the controller. This node keeps its open slots.
Status Replace(Topology& topology, const std::vector<NodeEntry>& entries) {
  const NodeId me = topology.myself().id();
  const auto is_me = [&me](const NodeEntry& entry) { return entry.id == me; };
  if (std::ranges::none_of(entries, is_me)) return Status::Reply("ERR this node is not in the cluster nodes info");
  std::vector<NodeId> known;
  for (const Node* node : topology.Nodes()) known.push_back(node->id());
  for (const NodeId& id : known) {
    topology.UnassignSlots(id);
    const auto is_it = [&id](const NodeEntry& entry) { return entry.id == id; };
    if (id != me && std::ranges::none_of(entries, is_it)) topology.RemoveNode(id);
  }
  for (const NodeEntry& entry : entries) {
    if (topology.Find(entry.id) == nullptr) topology.AddNode(Node(entry.id));
    Node& node = *topology.Find(entry.id);
    node.ip = entry.host;
    node.port = entry.port;
    node.cport = static_cast<uint16_t>(std::min(entry.port + kBusPortOffset, 65535));
    node.is_connected = true;
    node.shard_id = entry.master.value_or(entry.id);
    topology.MakeMaster(entry.id);
  }
  for (const NodeEntry& entry : entries) {
    if (!entry.master) continue;
    if (topology.Find(*entry.master) == nullptr || *entry.master == entry.id) {
      return Status::Reply("ERR Invalid cluster nodes info: the master of a replica is missing");
    }
    topology.MakeReplica(entry.id, *entry.master);
  }
  for (const NodeEntry& entry : entries) {
    for (const SlotRange& range : entry.slots) {
      for (int slot = range.first; slot <= range.last; ++slot) {
        if (!topology.AssignSlot(slot, entry.id))
          return Status::Reply("ERR Slot distribution error: a slot is there twice");
      }
    }
  }
  return Ok();
}

// An older version is refused, unless it is forced.
Status CheckVersion(const Topology& topology, int64_t version) {
  if (version < 0) return Status::Reply("ERR Invalid cluster version");
  const auto current = static_cast<int64_t>(topology.current_epoch);
  return version < current ? Status::Reply("ERR Invalid cluster version") : Ok();
}

// The version is also the epoch of each node, as in kvrocks: controllers read it there (CLUSTER INFO's
// cluster_my_epoch, CLUSTER NODES).
void SetVersion(Topology& topology, int64_t version) {
  topology.is_controlled = true;
  topology.current_epoch = static_cast<uint64_t>(version);
  std::vector<NodeId> ids;
  for (const Node* node : topology.Nodes()) ids.push_back(node->id());
  for (const NodeId& id : ids) topology.Find(id)->config_epoch = topology.current_epoch;
}

// CLUSTERX SETNODEID node-id
Status SetNodeId(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  const NodeId id = TRY(ReadId(args.Bytes()));
  TRY(CheckMayChange(ctx));
  TRY(parts.cluster->Change([&](Topology& topology) -> Status {
    if (topology.myself().id() == id) return Ok();
    if (topology.Find(id) != nullptr) return Status::Reply("ERR another node has this id");
    topology.RenameNode(topology.myself().id(), id);
    return Ok();
  }));
  reply.Ok();
  return Ok();
}

// CLUSTERX SETNODES nodes version [FORCE]
Status SetNodes(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  const std::vector<NodeEntry> entries = TRY(ReadEntries(args.Bytes()));
  const int64_t version = args.Integer();
  TRY(args.Check());
  // Kvrocks takes 0 and 1 here too.
  const bool is_forced = args.More() && (args.Keyword("force") || args.Keyword("1"));
  if (args.More() && !args.Keyword("0")) return Status::Reply(errors::kSyntax);
  TRY(CheckMayChange(ctx));
  TRY(parts.cluster->Change([&](Topology& topology) -> Status {
    if (!is_forced) TRY(CheckVersion(topology, version));
    TRY(Replace(topology, entries));
    SetVersion(topology, version);
    return Ok();
  }));
  reply.Ok();
  return Ok();
}

// CLUSTERX SETSLOT slots NODE node-id version: the next version of the topology, in which the slots have this owner.
Status SetSlot(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  std::vector<SlotRange> ranges;
  for (std::string_view left = args.Bytes(); !left.empty();) {
    const size_t end = std::min(left.find_first_of(" ,"), left.size());
    if (end > 0) ranges.push_back(TRY(ReadRange(left.substr(0, end))));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  if (!args.Keyword("node")) return Status::Reply("ERR Invalid setslot options");
  const std::string_view id = args.Bytes();
  const int64_t version = args.Integer();
  TRY(args.Check());
  TRY(CheckMayChange(ctx));
  TRY(parts.cluster->Change([&](Topology& topology) -> Status {
    const auto current = static_cast<int64_t>(topology.current_epoch);
    if (version == current) return Ok();  // it was applied before
    if (version != current + 1) return Status::Reply("ERR Invalid version of cluster");
    const NodeId owner = TRY(KnownNode(topology, id));
    if (topology.Find(owner)->is_replica()) return Status::Reply("ERR The node isn't the master");
    for (const SlotRange& range : ranges) {
      for (int slot = range.first; slot <= range.last; ++slot) {
        topology.SetMigrating(slot, std::nullopt);
        topology.SetImporting(slot, std::nullopt);
        topology.UnassignSlot(slot);
        topology.AssignSlot(slot, owner);
      }
    }
    SetVersion(topology, version);
    return Ok();
  }));
  reply.Ok();
  return Ok();
}

// CLUSTERX MIGRATE slots node-id [ASYNC]: the keys of a slot, or a range, move to the node in the background.
Status Migrate(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  const SlotRange slots = TRY(ReadRange(args.Bytes()));
  const NodeId target = TRY(ReadId(args.Bytes()));
  if (args.More() && !args.Keyword("async")) return Status::Reply("ERR Invalid sync flag");
  TRY(args.Done());
  TRY(CheckMayChange(ctx));
  TRY(parts.slot_move->Start(slots, target));
  reply.Ok();
  return Ok();
}

// CLUSTERX VERSION
Status Version(const ClusterParts& parts, CommandContext&, Args&, Reply& reply) {
  reply.Integer(
      parts.cluster->With([](const Topology& topology) { return static_cast<int64_t>(topology.current_epoch); }));
  return Ok();
}

constexpr auto kGroup = Group::kCluster;
constexpr uint32_t kRules = kAdmin | kStale | kNoAsyncLoading | kSlowLane;

// clang-format off
constexpr CommandRow kSubcommandRows[] = {
    {.name = "migrate", .arity = -4, .flags = kRules, .run = With<IfEnabled<Migrate>>, .group = kGroup,
     .since = "1.0.0",
     .summary = "Moves the keys of slots to another node in the background.", .complexity = "O(1)",
     .syntax = "slots node-id [ASYNC]"},
    {.name = "myid", .arity = 2, .flags = kStale, .run = With<IfEnabled<ClusterMyId>>, .group = kGroup,
     .since = "1.0.0",
     .summary = "Id of this node.", .complexity = "O(1)"},
    {.name = "setnodeid", .arity = 3, .flags = kRules, .run = With<IfEnabled<SetNodeId>>, .group = kGroup,
     .since = "1.0.0",
     .summary = "Sets the id of this node.", .complexity = "O(1)", .syntax = "node-id"},
    {.name = "setnodes", .arity = -4, .flags = kRules, .run = With<IfEnabled<SetNodes>>, .group = kGroup,
     .since = "1.0.0",
     .summary = "Sets all nodes, their roles and their slots.", .complexity = "O(N) for N slots",
     .syntax = "nodes version [FORCE]"},
    {.name = "setslot", .arity = 6, .flags = kRules, .run = With<IfEnabled<SetSlot>>, .group = kGroup, .since = "1.0.0",
     .summary = "Gives slots to a node, in the next version of the topology.", .complexity = "O(N) for N slots",
     .syntax = "slots NODE node-id version"},
    {.name = "version", .arity = 2, .flags = kStale, .run = With<IfEnabled<Version>>, .group = kGroup, .since = "1.0.0",
     .summary = "Version of the topology.", .complexity = "O(1)"},
};

constexpr CommandRow kRows[] = {
    {.name = "clusterx", .arity = -2, .flags = kSubcommands, .group = kGroup, .since = "1.0.0",
     .summary = "Commands of a controller of clusters.", .complexity = "Depends on the subcommand.",
     .subcommands = kSubcommandRows},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ClusterxCommands() { return kRows; }

}  // namespace cairn
