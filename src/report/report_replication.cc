// SPDX-License-Identifier: BSD-3-Clause
//
// INFO replication, as Sentinel and clients read it.
#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "config/settings.h"
#include "replication/replication.h"
#include "report/report.h"

namespace cairn {
namespace {

void WriteLink(const ReportParts& parts, const PrimaryAddress& primary, SectionWriter& text) {
  Replication& replication = parts.replication;
  const PrimaryLink& link = replication.primary_link();
  const PrimaryLink::State state = link.state();
  const bool up = state == PrimaryLink::State::kConnected;
  const int64_t now_ms = MonotonicMs();
  const auto offset = static_cast<int64_t>(replication.log().offset());
  text.Field("master_host", std::string_view(primary.host));
  text.Field("master_port", primary.port);
  text.Field("master_link_status", up ? "up" : "down");
  text.Gauge("", "primary_link_up", "1 while the link to the primary is up.", up);
  text.Gauge("master_last_io_seconds_ago", "primary_last_io_seconds",
             "Time since the primary sent something; -1: no link.", up ? (now_ms - link.last_io_ms()) / 1000 : -1);
  text.Gauge("master_sync_in_progress", "primary_sync_in_progress", "1 during a first transfer from the primary.",
             state == PrimaryLink::State::kSync);
  text.Gauge("slave_read_repl_offset", "primary_received_offset", "Offset up to which the stream was received.",
             up ? static_cast<int64_t>(link.received_offset()) : offset);
  text.Field("slave_repl_offset", offset);
  if (state == PrimaryLink::State::kSync) {
    const uint64_t size = link.transfer().size;
    const uint64_t received = link.transfer().received;
    text.Field("master_sync_total_bytes", size);
    text.Field("master_sync_read_bytes", received);
    text.Field("master_sync_left_bytes", size > received ? size - received : 0);
    text.Field("master_sync_perc", size > 0 ? 100.0 * static_cast<double>(received) / static_cast<double>(size) : 0, 2);
    text.Field("master_sync_last_io_seconds_ago", (now_ms - link.last_io_ms()) / 1000);
  }
  if (!up) {
    text.Gauge("master_link_down_since_seconds", "primary_link_down_seconds", "Time since the link went down.",
               link.down_since_ms() == PrimaryLink::kNever ? -1 : (now_ms - link.down_since_ms()) / 1000);
  }
  text.Field("slave_priority", parts.settings.replica_priority.load());
  text.Field("slave_read_only", parts.settings.replica_read_only.load());
  text.Field("replica_announced", parts.settings.replica_announced.load());
}

std::string_view StateName(const Replica& replica) {
  if (replica.is_written) return "wait_bgsave";
  switch (replica.state) {
    case Replica::State::kWaiting: return "wait_bgsave";
    case Replica::State::kSending: return "send_bulk";
    case Replica::State::kOnline: return "online";
  }
  return "unknown";
}

void WriteReplication(const ReportParts& parts, SectionWriter& text) {
  Replication& replication = parts.replication;
  const auto primary = replication.primary();
  text.Field("role", primary ? "slave" : "master");
  text.Gauge("", "is_replica", "1 on a replica, 0 on a primary.", primary.has_value());
  if (primary) WriteLink(parts, *primary, text);
  const auto replicas = replication.replicas().All();
  text.Gauge("connected_slaves", "connected_replicas", "Replicas that are connected.",
             static_cast<uint64_t>(replicas.size()));
  if (parts.settings.min_replicas_to_write > 0 && parts.settings.min_replicas_max_lag_s > 0) {
    text.Field("min_slaves_good_slaves", static_cast<int64_t>(replication.replicas().CountGood()));
  }
  for (size_t i = 0; i < replicas.size(); ++i) {
    const Replica& replica = *replicas[i];
    const bool online = replica.state == Replica::State::kOnline;
    const int64_t lag_s = online ? (MonotonicMs() - replica.acked_ms) / 1000 : 0;
    const int port = replica.port;
    const uint64_t acked = replica.acked;
    text.Field(fmt::format("slave{}", i), fmt::format("ip={},port={},state={},offset={},lag={}", replica.ip, port,
                                                      StateName(replica), acked, lag_s));
    if (port == 0) continue;  // redis-cli --replica: two of them on one host would be the same series
    const std::string label = MetricsText::Label("replica", fmt::format("{}:{}", replica.ip, port));
    text.Gauge("", "replica_online", "1 while the replica gets the stream, 0 before.", online, label);
    text.Gauge("", "replica_offset", "Offset that the replica has acknowledged.", acked, label);
    text.Gauge("", "replica_lag_bytes", "Bytes that the replica has not acknowledged.",
               std::max(acked, replication.log().OffsetNow()) - acked, label);
    text.Gauge("", "replica_lag_seconds", "Time since the replica's last acknowledgement.", lag_s, label);
  }
  const History history = replication.log().history();
  const uint64_t offset = replication.log().OffsetNow();
  const uint64_t first = replication.log().FirstByte();
  const bool logs = replication.log().logs();
  text.Field("master_failover_state", replication.failover_state());
  text.Field("master_replid", std::string_view(history.id));
  const auto* const former = history.former.empty() ? nullptr : &history.former.front();
  text.Field("master_replid2", former == nullptr ? kNoReplicationId : std::string_view(former->id));
  text.Gauge("master_repl_offset", "replication_offset", "Offset of the stream: the end of the data here.", offset);
  text.Field("second_repl_offset", former == nullptr ? -1 : static_cast<int64_t>(former->end));
  text.Field("repl_backlog_active", logs);
  text.Field("repl_backlog_size", parts.settings.repl_backlog_size.load());
  text.Field("repl_backlog_first_byte_offset", logs ? first : 0);
  text.Gauge("repl_backlog_histlen", "replication_backlog_bytes", "Bytes of the stream that a replica can resume from.",
             logs && offset + 1 > first ? offset + 1 - first : 0);
}

constexpr ReportSection kSections[] = {
    {"replication", "Replication", true, WriteReplication},
};

}  // namespace

std::span<const ReportSection> ReplicationSections() { return kSections; }

}  // namespace cairn
