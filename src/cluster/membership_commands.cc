// SPDX-License-Identifier: BSD-3-Clause
//
// The subcommands of CLUSTER that change nodes and epochs.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <string>
#include <utility>

#include "base/number.h"
#include "cluster/node_commands.h"
#include "replication/replication.h"

namespace cairn {
namespace {

constexpr std::string_view kNotEmpty = "ERR To set a master the node must be empty and without assigned slots.";

// Ends the membership of this node: it forgets all others and all slots, and becomes a master. Hard: it also gets a new
// id and forgets the epochs.
void Reset(Topology& topology, bool is_hard) {
  const NodeId me = topology.myself().id();
  topology.MakeMaster(me);
  topology.CloseSlots();
  std::vector<NodeId> others;
  for (const Node* node : topology.Nodes()) {
    if (!node->is_myself()) others.push_back(node->id());
  }
  topology.UnassignSlots(me);
  topology.is_controlled = false;
  for (const NodeId& id : others) topology.RemoveNode(id);
  if (!is_hard) return;
  topology.current_epoch = 0;
  topology.last_vote_epoch = 0;
  Node& self = *topology.Find(me);
  self.config_epoch = 0;
  self.shard_id = DrawNodeId();
  topology.RenameNode(me, DrawNodeId());
}

}  // namespace

// CLUSTER BUMPEPOCH
Status ClusterBumpEpoch(const ClusterParts& parts, CommandContext& ctx, Args&, Reply& reply) {
  TRY(CheckMayChange(ctx));
  uint64_t bumped = 0;
  uint64_t epoch = 0;
  TRY(parts.cluster->Change([&](Topology& topology) {
    bumped = BumpEpoch(topology);
    epoch = topology.myself().config_epoch;
    return Ok();
  }));
  reply.Simple(fmt::format("{} {}", bumped != 0 ? "BUMPED" : "STILL", epoch));
  return Ok();
}

// CLUSTER FAILOVER [FORCE | TAKEOVER]
Status ClusterFailover(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  auto kind = BusProtocol::FailoverKind::kNormal;
  if (args.More()) {
    if (args.Keyword("force")) kind = BusProtocol::FailoverKind::kForce;
    else if (args.Keyword("takeover")) kind = BusProtocol::FailoverKind::kTakeover;
    else return Status::Reply(errors::kSyntax);
  }
  if (args.More()) return Status::Reply(errors::kSyntax);
  TRY(CheckMayChange(ctx));
  TRY(parts.cluster->bus().Failover(kind));
  reply.Ok();
  return Ok();
}

// CLUSTER MEET ip port [cluster-bus-port]
Status ClusterMeet(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  constexpr int64_t kLargestPort = 65535;
  const std::string ip(args.Bytes());
  const std::string port_text(args.Bytes());
  const auto port = ParseInt64(port_text);
  if (!port) return Status::Reply(fmt::format("ERR Invalid base port specified: {}", port_text));
  int64_t bus_port = *port + kBusPortOffset;
  if (args.More()) {
    const std::string text(args.Bytes());
    const auto number = ParseInt64(text);
    if (!number) return Status::Reply(fmt::format("ERR Invalid bus port specified: {}", text));
    bus_port = *number;
  }
  unsigned char address[sizeof(in6_addr)];
  const bool is_ip = inet_pton(AF_INET, ip.c_str(), address) == 1 || inet_pton(AF_INET6, ip.c_str(), address) == 1;
  if (!is_ip || *port <= 0 || *port > kLargestPort || bus_port <= 0 || bus_port > kLargestPort) {
    return Status::Reply(fmt::format("ERR Invalid node address specified: {}:{}", ip, port_text));
  }
  TRY(CheckMayChange(ctx));
  TRY(parts.cluster->bus().Meet(ip, static_cast<uint16_t>(*port), static_cast<uint16_t>(bus_port)));
  reply.Ok();
  return Ok();
}

// CLUSTER FORGET node-id
Status ClusterForget(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  TRY(CheckMayChange(ctx));
  const std::string_view text = args.Bytes();
  // Another node may have told this one to forget it: redis-cli del-node sends FORGET to all.
  if (const auto id = NodeId::Parse(text); id && parts.cluster->bus().HasForgotten(*id)) {
    reply.Ok();
    return Ok();
  }
  NodeId forgotten;
  const auto remove = [&](Topology& topology) -> Status {
    const NodeId id = TRY(KnownNode(topology, text));
    const Node& me = topology.myself();
    if (id == me.id()) return Status::Reply("ERR I tried hard but I can't forget myself...");
    if (me.is_replica() && topology.MasterOf(me) == topology.Find(id)) {
      return Status::Reply("ERR Can't forget my master!");
    }
    topology.RemoveNode(id);
    forgotten = id;
    return Ok();
  };
  // In one step with the removal: during the waits of Change, gossip would add the node again.
  TRY(parts.cluster->Change(remove, [&] { parts.cluster->bus().Forget(forgotten); }));
  reply.Ok();
  return Ok();
}

// CLUSTER REPLICATE node-id
Status ClusterReplicate(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  TRY(CheckMayChange(ctx));
  const std::string_view text = args.Bytes();
  const bool has_keys = parts.cluster->HasKeys();
  TRY(parts.cluster->Change([&](Topology& topology) -> Status {
    const NodeId id = TRY(KnownNode(topology, text));
    const Node& me = topology.myself();
    if (id == me.id()) return Status::Reply("ERR Can't replicate myself");
    if (topology.Find(id)->is_replica()) {
      return Status::Reply("ERR I can only replicate a master, not a replica.");
    }
    if (me.is_master() && (!me.slots().empty() || has_keys)) return Status::Reply(kNotEmpty);
    topology.MakeReplica(me.id(), id);
    topology.Find(me.id())->shard_id = topology.Find(id)->shard_id;
    return Ok();
  }));
  reply.Ok();
  return Ok();
}

// CLUSTER RESET [HARD | SOFT]
Status ClusterReset(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  bool is_hard = false;
  if (args.More()) {
    is_hard = args.Keyword("hard");
    if (!is_hard && !args.Keyword("soft")) return Status::Reply(errors::kSyntax);
  }
  TRY(CheckMayChange(ctx));
  const bool has_keys = parts.cluster->HasKeys();
  bool was_replica = false;
  TRY(parts.cluster->Change([&](Topology& topology) -> Status {
    was_replica = topology.myself().is_replica();
    if (!was_replica && has_keys) {
      return Status::Reply("ERR CLUSTER RESET can't be called with master nodes containing keys");
    }
    Reset(topology, is_hard);
    return Ok();
  }));
  // Its data were those of its master.
  if (was_replica) TRY(parts.cluster->DeleteAllKeys());
  reply.Ok();
  return Ok();
}

// CLUSTER SAVECONFIG
Status ClusterSaveConfig(const ClusterParts& parts, CommandContext& ctx, Args&, Reply& reply) {
  TRY(CheckMayChange(ctx));
  TRY(parts.cluster->Save());
  reply.Ok();
  return Ok();
}

// CLUSTER SET-CONFIG-EPOCH config-epoch
Status ClusterSetConfigEpoch(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  const int64_t epoch = args.Integer();
  TRY(args.Check());
  if (epoch < 0) return Status::Reply(fmt::format("ERR Invalid config epoch specified: {}", epoch));
  TRY(CheckMayChange(ctx));
  TRY(parts.cluster->Change([&](Topology& topology) -> Status {
    Node& me = *topology.Find(topology.myself().id());
    if (topology.node_count() > 1) {
      return Status::Reply("ERR The user can assign a config epoch only when the node does not know any other node.");
    }
    if (me.config_epoch != 0) return Status::Reply("ERR Node config epoch is already non-zero");
    me.config_epoch = static_cast<uint64_t>(epoch);
    topology.current_epoch = std::max(topology.current_epoch, me.config_epoch);
    return Ok();
  }));
  reply.Ok();
  return Ok();
}

}  // namespace cairn
