// SPDX-License-Identifier: BSD-3-Clause
//
// The subcommands of CLUSTER that show what this node knows of the cluster.
#include "cluster/node_commands.h"

#include <fmt/format.h>

#include "cluster/slot_move.h"
#include "replication/replication.h"
#include "topology/node_line.h"

namespace cairn {
namespace {

NodeLineReader ReaderOf(const Session& session) {
  return session.socket.tls ? NodeLineReader::kTlsClient : NodeLineReader::kPlainClient;
}

bool IsKnownToClients(const Node& node) { return !node.flags.Has(NodeFlags::kHandshake | NodeFlags::kNoAddress); }

// The replication offset of a node; others' are those that they announced. The own one may lack the writes of the last
// milliseconds: the exact one may wait for the disk, and the caller holds the lock of the topology.
uint64_t OffsetOf(const Node& node, const ClusterParts& parts) {
  return node.is_myself() ? parts.replication.log().offset() : node.replication_offset;
}

// A replica without data. With a controller, no bus announces the offsets of others.
bool IsLoading(const Topology& topology, const Node& node, const ClusterParts& parts) {
  return node.is_replica() && (node.is_myself() || !topology.is_controlled) && OffsetOf(node, parts) == 0;
}

// A replica that CLUSTER SLOTS shows among those that serve a slot.
bool Serves(const Topology& topology, const Node& replica, const ClusterParts& parts) {
  return IsKnownToClients(replica) && !replica.flags.Has(NodeFlags::kFailed) && !IsLoading(topology, replica, parts);
}

// [endpoint, port, id, [other endpoints]] of CLUSTER SLOTS.
void ReplyEndpoint(const Node& node, EndpointType type, bool tls, Reply& reply) {
  reply.Array(4);
  if (type == EndpointType::kUnknown || (type == EndpointType::kIp && node.ip.empty())) {
    node.ip.empty() && type == EndpointType::kIp ? reply.Bulk("") : reply.Null();
  } else {
    reply.Bulk(PreferredEndpoint(node, type));
  }
  reply.Integer(ClientPort(node, tls));
  reply.Bulk(node.id().text());
  const bool shows_ip = type != EndpointType::kIp;
  const bool shows_hostname = type != EndpointType::kHostname && !node.hostname.empty();
  reply.Map((shows_ip ? 1 : 0) + (shows_hostname ? 1 : 0));
  if (shows_ip) {
    reply.Bulk("ip");
    reply.Bulk(node.ip);
  }
  if (shows_hostname) {
    reply.Bulk("hostname");
    reply.Bulk(node.hostname);
  }
}

void ReplyField(Reply& reply, std::string_view name, std::string_view value) {
  reply.Bulk(name);
  reply.Bulk(value);
}

void ReplyField(Reply& reply, std::string_view name, int64_t value) {
  reply.Bulk(name);
  reply.Integer(value);
}

std::string_view HealthOf(const Node& node, bool is_loading) {
  if (node.flags.Has(NodeFlags::kFailed | NodeFlags::kPossiblyFailing)) return "fail";
  return is_loading ? "loading" : "online";
}

// A node of CLUSTER SHARDS.
void ReplyShardNode(const Topology& topology, const Node& node, const ClusterParts& parts, Reply& reply) {
  const EndpointType type = parts.cluster->endpoint_type();
  const size_t fields = 6 + (node.port != 0 ? 1 : 0) + (node.tls_port != 0 ? 1 : 0) + (node.hostname.empty() ? 0 : 1);
  reply.Map(fields);
  ReplyField(reply, "id", node.id().text());
  if (node.port != 0) ReplyField(reply, "port", node.port);
  if (node.tls_port != 0) ReplyField(reply, "tls-port", node.tls_port);
  ReplyField(reply, "ip", node.ip);
  ReplyField(reply, "endpoint", PreferredEndpoint(node, type));
  if (!node.hostname.empty()) ReplyField(reply, "hostname", node.hostname);
  ReplyField(reply, "role", node.is_replica() ? "replica" : "master");
  ReplyField(reply, "replication-offset", static_cast<int64_t>(OffsetOf(node, parts)));
  ReplyField(reply, "health", HealthOf(node, IsLoading(topology, node, parts)));
}

void ReplyShard(const Topology& topology, const Shard& shard, const ClusterParts& parts, Reply& reply) {
  reply.Map(2);
  reply.Bulk("slots");
  const std::vector<SlotRange> ranges =
      shard.master == nullptr ? std::vector<SlotRange>() : shard.master->slots().Ranges();
  reply.Array(2 * ranges.size());
  for (const SlotRange& range : ranges) {
    reply.Integer(range.first);
    reply.Integer(range.last);
  }
  reply.Bulk("nodes");
  reply.Array(shard.nodes.size());
  for (const Node* node : shard.nodes) ReplyShardNode(topology, *node, parts, reply);
}

std::string InfoText(const Topology& topology, ClusterState state) {
  const SlotCounts slots = topology.CountSlots();
  std::string text;
  const auto add = [&text](std::string_view name, auto value) { text += fmt::format("{}:{}\r\n", name, value); };
  add("cluster_state", state == ClusterState::kOk ? "ok" : "fail");
  add("cluster_slots_assigned", slots.assigned);
  add("cluster_slots_ok", slots.ok);
  add("cluster_slots_pfail", slots.pfail);
  add("cluster_slots_fail", slots.fail);
  add("cluster_known_nodes", topology.node_count());
  add("cluster_size", topology.Size());
  add("cluster_current_epoch", topology.current_epoch);
  add("cluster_my_epoch", topology.ConfigEpoch(topology.myself()));
  return text;
}

// The messages of each type that were sent or received at least once, and their sums.
void AppendCounts(std::string& text, const ClusterBus::Counts& counts) {
  const auto add = [&text](std::string_view what, const std::array<uint64_t, kMessageTypeCount>& by_type) {
    uint64_t sum = 0;
    for (size_t type = 0; type < by_type.size(); ++type) {
      if (by_type[type] == 0) continue;
      sum += by_type[type];
      text += fmt::format("cluster_stats_messages_{}_{}:{}\r\n", MessageTypeName(static_cast<MessageType>(type)), what,
                          by_type[type]);
    }
    text += fmt::format("cluster_stats_messages_{}:{}\r\n", what, sum);
  };
  add("sent", counts.messages.sent);
  add("received", counts.messages.received);
  text += fmt::format("total_cluster_links_buffer_limit_exceeded:{}\r\n", counts.links_above_limit);
}

// The last CLUSTERX MIGRATE, with the names of kvrocks, whose controllers read either of the first two.
void AppendMove(std::string& text, const SlotMove::Job& job) {
  constexpr std::string_view kStates[] = {"start", "success", "fail"};
  const SlotRange& slots = job.slots;
  const std::string range =
      slots.first == slots.last ? std::to_string(slots.first) : fmt::format("{}-{}", slots.first, slots.last);
  text += fmt::format("migrating_slot:{}\r\nmigrating_slot(s):{}\r\n", range, range);
  text += fmt::format("destination_node:{}\r\nmigrating_state:{}\r\n", job.target.text(),
                      kStates[static_cast<size_t>(job.state)]);
}

}  // namespace

Status CheckMayChange(CommandContext& ctx) {
  if (ctx.txn().stripes().empty()) return Ok();
  return Status::Reply("ERR a transaction that uses keys can't change the cluster");
}

Result<NodeId> KnownNode(const Topology& topology, std::string_view text, std::string_view unknown) {
  const std::optional<NodeId> id = NodeId::Parse(text);
  if (id && topology.Find(*id) != nullptr) return *id;
  return Status::Reply(fmt::format("{} {}", unknown, text));
}

// CLUSTER COUNT-FAILURE-REPORTS node-id
Status ClusterCountFailureReports(const ClusterParts& parts, CommandContext&, Args& args, Reply& reply) {
  const std::string_view text = args.Bytes();
  const NodeId id = TRY(parts.cluster->With([&](const Topology& topology) { return KnownNode(topology, text); }));
  reply.Integer(parts.cluster->bus().CountFailureReports(id));
  return Ok();
}

std::string DescribeCluster(const ClusterParts& parts) {
  const ClusterState state = parts.cluster->state();
  std::string text = parts.cluster->With([&](const Topology& topology) { return InfoText(topology, state); });
  AppendCounts(text, parts.cluster->bus().counts());
  if (const auto job = parts.slot_move->job(); job) AppendMove(text, *job);
  return text;
}

// CLUSTER INFO
Status ClusterInfo(const ClusterParts& parts, CommandContext&, Args&, Reply& reply) {
  reply.Verbatim("txt", DescribeCluster(parts));
  return Ok();
}

// CLUSTER LINKS
Status ClusterLinks(const ClusterParts& parts, CommandContext&, Args&, Reply& reply) {
  const std::vector<ClusterBus::LinkRow> rows = parts.cluster->bus().Links();
  reply.Array(rows.size());
  for (const auto& [link, buffer] : rows) {
    reply.Map(6);
    ReplyField(reply, "direction", link.is_incoming ? "from" : "to");
    ReplyField(reply, "node", link.node.text());
    ReplyField(reply, "create-time", link.created_ms);
    ReplyField(reply, "events", buffer.is_writing ? "rw" : "r");
    ReplyField(reply, "send-buffer-allocated", static_cast<int64_t>(buffer.allocated));
    ReplyField(reply, "send-buffer-used", static_cast<int64_t>(buffer.used));
  }
  return Ok();
}

// CLUSTER MYID
Status ClusterMyId(const ClusterParts& parts, CommandContext&, Args&, Reply& reply) {
  reply.Bulk(parts.cluster->With([](const Topology& topology) { return std::string(topology.myself().id().text()); }));
  return Ok();
}

// CLUSTER MYSHARDID
Status ClusterMyShardId(const ClusterParts& parts, CommandContext&, Args&, Reply& reply) {
  reply.Bulk(parts.cluster->With([](const Topology& topology) {
    const Node& me = topology.myself();
    return std::string(me.shard_id ? me.shard_id->text() : me.id().text());
  }));
  return Ok();
}

// CLUSTER NODES
Status ClusterNodes(const ClusterParts& parts, CommandContext& ctx, Args&, Reply& reply) {
  const NodeLineReader reader = ReaderOf(ctx.session());
  reply.Verbatim("txt", parts.cluster->With([&](const Topology& topology) { return NodeLines(topology, reader); }));
  return Ok();
}

// CLUSTER REPLICAS node-id
Status ClusterReplicas(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view text = args.Bytes();
  return parts.cluster->With([&](const Topology& topology) -> Status {
    const NodeId id = TRY(KnownNode(topology, text));
    if (topology.Find(id)->is_replica()) return Status::Reply("ERR The specified node is not a master");
    const std::vector<const Node*> replicas = topology.ReplicasOf(id);
    reply.Array(replicas.size());
    for (const Node* replica : replicas) {
      std::string line;
      AppendNodeLine(line, topology, *replica, ReaderOf(ctx.session()));
      reply.Bulk(line);
    }
    return Ok();
  });
}

// CLUSTER SHARDS
Status ClusterShards(const ClusterParts& parts, CommandContext&, Args&, Reply& reply) {
  parts.cluster->With([&](const Topology& topology) {
    const std::vector<Shard> shards = topology.Shards();
    reply.Array(shards.size());
    for (const Shard& shard : shards) ReplyShard(topology, shard, parts, reply);
    return 0;
  });
  return Ok();
}

// CLUSTER SLOTS
Status ClusterSlots(const ClusterParts& parts, CommandContext& ctx, Args&, Reply& reply) {
  const bool tls = ctx.session().socket.tls;
  const EndpointType type = parts.cluster->endpoint_type();
  parts.cluster->With([&](const Topology& topology) {
    const size_t mark = reply.Later();
    size_t count = 0;
    // In the order of the slots, as Redis.
    for (int slot = 0; slot < kSlotCount;) {
      const Node* const owner = topology.SlotOwner(slot);
      const int first = slot++;
      while (slot < kSlotCount && topology.SlotOwner(slot) == owner) ++slot;
      if (owner == nullptr) continue;
      std::vector<const Node*> nodes = {owner};
      for (const Node* replica : topology.ReplicasOf(owner->id())) {
        if (Serves(topology, *replica, parts)) nodes.push_back(replica);
      }
      reply.Array(2 + nodes.size());
      reply.Integer(first);
      reply.Integer(slot - 1);
      for (const Node* node : nodes) ReplyEndpoint(*node, type, tls, reply);
      ++count;
    }
    reply.FinishArray(mark, count);
    return 0;
  });
  return Ok();
}

}  // namespace cairn
