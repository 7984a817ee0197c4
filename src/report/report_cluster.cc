// SPDX-License-Identifier: BSD-3-Clause
//
// INFO cluster, and the metrics of a node of a Redis Cluster: the state of the cluster as this node sees it, and its
// links to other nodes.
#include <fmt/format.h>

#include "cluster/cluster.h"
#include "config/settings.h"
#include "report/report.h"

namespace cairn {
namespace {

void WriteState(const Cluster& cluster, SectionWriter& text) {
  text.Gauge("", "cluster_up", "1 while this node serves requests, 0 while it refuses them (CLUSTERDOWN).",
             cluster.state() == ClusterState::kOk);
  cluster.With([&text](const Topology& topology) {
    text.Gauge("", "cluster_known_nodes", "Nodes that this node knows, with itself.",
               static_cast<uint64_t>(topology.node_count()));
    text.Gauge("", "cluster_masters", "Masters that own slots.", topology.Size());
    text.Gauge("", "cluster_current_epoch", "The largest epoch that this node has seen.", topology.current_epoch);
    const SlotCounts slots = topology.CountSlots();
    const auto add = [&text](std::string_view state, int count) {
      text.Gauge("", "cluster_slots", "Slots that have an owner, by the owner's state.", count,
                 MetricsText::Label("state", state));
    };
    add("ok", slots.ok);
    add("pfail", slots.pfail);
    add("fail", slots.fail);
    return 0;
  });
}

void WriteMessages(const ClusterBus::Counts& counts, SectionWriter& text) {
  const auto add = [&text](std::string_view direction, const std::array<uint64_t, kMessageTypeCount>& by_type) {
    for (size_t type = 0; type < by_type.size(); ++type) {
      if (by_type[type] == 0) continue;
      const std::string_view name = MessageTypeName(static_cast<MessageType>(type));
      text.Counter("", "cluster_messages_total", "Messages of the cluster bus, by their type.", by_type[type],
                   MetricsText::Label("direction", direction) + "," + MetricsText::Label("type", name));
    }
  };
  add("sent", counts.messages.sent);
  add("received", counts.messages.received);
  text.Counter("", "cluster_links_above_limit_total", "Links that were closed for cluster-link-sendbuf-limit.",
               counts.links_above_limit);
}

void WriteLinks(const std::vector<ClusterBus::LinkRow>& rows, SectionWriter& text) {
  uint64_t counts[] = {0, 0};
  for (const auto& [link, buffer] : rows) {
    ++counts[link.is_incoming];
    const std::string label = MetricsText::Label("direction", link.is_incoming ? "from" : "to") + "," +
                              MetricsText::Label("node", link.node.text());
    text.Gauge("", "cluster_link_buffer_allocated_bytes", "Memory for messages that wait to be sent.",
               static_cast<uint64_t>(buffer.allocated), label);
    text.Gauge("", "cluster_link_buffer_used_bytes", "Bytes that wait to be sent.", static_cast<uint64_t>(buffer.used),
               label);
    text.Gauge("", "cluster_link_create_timestamp_seconds", "Unix time at which the link was made.",
               static_cast<double>(link.created_ms) / 1000, label);
  }
  constexpr std::string_view kHelp = "Links of the cluster bus: to other nodes, and from them.";
  text.Gauge("", "cluster_links", kHelp, counts[0], MetricsText::Label("direction", "to"));
  text.Gauge("", "cluster_links", kHelp, counts[1], MetricsText::Label("direction", "from"));
}

void WriteCluster(const ReportParts& parts, SectionWriter& text) {
  text.Field("cluster_enabled", parts.settings.cluster_enabled ? 1 : 0);
  if (text.page() == nullptr || parts.cluster == nullptr) return;
  WriteState(*parts.cluster, text);
  WriteMessages(parts.cluster->bus().counts(), text);
  WriteLinks(parts.cluster->bus().Links(), text);
}

constexpr ReportSection kSections[] = {
    {"cluster", "Cluster", true, WriteCluster},
};

}  // namespace

std::span<const ReportSection> ClusterSections() { return kSections; }

}  // namespace cairn
