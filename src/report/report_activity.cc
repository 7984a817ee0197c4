// SPDX-License-Identifier: BSD-3-Clause
//
// INFO persistence, stats, cpu and modules.
#include <sys/resource.h>

#include "acl/access_log.h"
#include "base/clock.h"
#include "client/client_memory.h"
#include "client/pubsub.h"
#include "client/tracking.h"
#include "command/conditions.h"
#include "replication/rdb_saves.h"
#include "replication/replication.h"
#include "report/report.h"
#include "stats/server_state.h"
#include "stats/stats.h"
#include "storage/store.h"

namespace cairn {
namespace {

// Saves are SAVE, BGSAVE and BGREWRITEAOF (replication/saving.h); RocksDB's log is reported as Redis's AOF.
void WritePersistence(const ReportParts& parts, SectionWriter& text) {
  SaveState& saves = parts.saves;
  const bool saving = saves.running > 0;
  const std::string_view outcome = saves.last_ok ? "ok" : "err";
  const RdbSaves& files = parts.rdb_saves;
  const int64_t running_s = files.in_background() ? (MonotonicMs() - files.started_ms()) / 1000 : -1;
  text.Gauge("loading", "loading", "1 while an RDB file is loaded.", parts.conditions.Has(kLoadingData));
  text.Field("async_loading", parts.replication.primary_link().transfer().is_loading.load());
  text.Gauge("rdb_changes_since_last_save", "changes_since_save", "Changes since the last save by command.",
             parts.store.counters().changes.load() - saves.changes_before);
  const bool is_sending = parts.replication.replicas().IsWriting();
  text.Gauge("rdb_bgsave_in_progress", "save_in_progress", "1 while an RDB file or a first transfer is written.",
             files.in_background() || is_sending);
  text.Gauge("rdb_last_save_time", "last_save_timestamp_seconds",
             "Unix time of the last save by command that succeeded.", saves.last_unix_s.load());
  text.Field("rdb_last_bgsave_status", outcome);
  text.Field("rdb_last_bgsave_time_sec", files.last_duration_s());
  text.Field("rdb_current_bgsave_time_sec", running_s);
  text.Field("rdb_saves", saves.count.load());
  text.Gauge("memory_databases_last_save_time", "memory_databases_last_save_timestamp_seconds",
             "Unix time of the last save of the databases in memory (memory-databases-save); 0: none.",
             parts.memory_database_saves.last_unix_s.load());
  text.Field("memory_databases_last_save_status", parts.memory_database_saves.last_ok ? "ok" : "err");
  text.Field("aof_enabled", 1);
  text.Field("rdb_last_cow_size", 0);
  text.Field("aof_rewrite_in_progress", saving && !files.in_background());
  text.Field("aof_rewrite_scheduled", 0);
  text.Field("aof_last_bgrewrite_status", outcome);
  text.Field("aof_last_write_status", parts.store.recovery().writable() ? "ok" : "err");
}

void WriteStats(const ReportParts& parts, SectionWriter& text) {
  const StatsTotals totals = parts.stats.Totals();
  const Stats::Rates rates = parts.stats.rates();
  text.Counter("total_connections_received", "connections_received_total", "Connections accepted.",
               totals.connections_received);
  text.Field("total_commands_processed", totals.commands);
  text.Field("instantaneous_ops_per_sec", rates.commands_per_s);
  text.Counter("total_net_input_bytes", "net_input_bytes_total", "Bytes read from clients.", totals.net_input_bytes);
  text.Counter("total_net_output_bytes", "net_output_bytes_total", "Bytes written to clients.",
               totals.net_output_bytes);
  text.Field("instantaneous_input_kbps", rates.input_kb_per_s, 2);
  text.Field("instantaneous_output_kbps", rates.output_kb_per_s, 2);
  text.Counter("rejected_connections", "connections_rejected_total", "Connections refused.",
               totals.connections_rejected);
  const Replicas& replicas = parts.replication.replicas();
  text.Counter("sync_full", "replication_full_syncs_total", "First transfers to replicas.", replicas.full_syncs());
  text.Counter("sync_partial_ok", "replication_partial_syncs_total", "Replicas that resumed the stream.",
               replicas.partial_syncs());
  text.Counter("sync_partial_err", "replication_partial_syncs_refused_total",
               "Replicas that could not resume the stream.", replicas.refused_partial_syncs());
  text.Counter("sync_files", "replication_file_transfers_total", "First transfers as files.",
               replicas.sst_snapshots().transfers());
  text.Counter("sync_files_resumed", "replication_file_transfers_resumed_total",
               "Transfers as files that continued an earlier one.", replicas.sst_snapshots().resumed());
  text.Counter("sync_files_sent_bytes", "replication_file_bytes_sent_total", "Bytes of transfers as files.",
               replicas.sst_snapshots().sent_bytes());
  text.Counter("sync_files_spared_bytes", "replication_file_bytes_spared_total",
               "Bytes that resumed transfers did not send again.", replicas.sst_snapshots().spared_bytes());
  text.Counter("expired_keys", "expired_keys_total", "Keys deleted because they expired.", totals.expired_keys);
  text.Field("evicted_keys", totals.evicted_keys);
  text.Counter("evicted_clients", "evicted_clients_total", "Clients disconnected for maxmemory-clients.",
               parts.client_memory.evicted());
  text.Counter("client_query_buffer_limit_disconnections", "query_buffer_limit_disconnections_total",
               "Clients disconnected for client-query-buffer-limit.",
               parts.client_memory.over_limit().query_buffer.load());
  text.Counter("client_output_buffer_limit_disconnections", "output_buffer_limit_disconnections_total",
               "Clients disconnected for client-output-buffer-limit.",
               parts.client_memory.over_limit().output_buffer.load());
  text.Counter("keyspace_hits", "keyspace_hits_total", "Look-ups by reads that found a key.", totals.keyspace_hits);
  text.Counter("keyspace_misses", "keyspace_misses_total", "Look-ups by reads that found none.",
               totals.keyspace_misses);
  const PubSub& pubsub = parts.pubsub;
  text.Field("pubsub_channels", pubsub.Count(ChannelKind::kChannel));
  text.Field("pubsub_patterns", pubsub.Count(ChannelKind::kPattern));
  text.Field("pubsubshard_channels", pubsub.Count(ChannelKind::kShard));
  text.Field("latest_fork_usec", 0);
  text.Field("total_forks", 0);
  text.Field("migrate_cached_sockets", 0);
  text.Field("slave_expires_tracked_keys", 0);
  const Tracking::Totals tracked = parts.tracking.totals();
  text.Field("tracking_total_keys", tracked.keys);
  text.Field("tracking_total_items", tracked.items);
  text.Field("tracking_total_prefixes", tracked.prefixes);
  text.Field("unexpected_error_replies", 0);
  text.Field("total_error_replies", totals.error_replies);
  text.Field("total_reads_processed", totals.reads_processed);
  text.Field("total_writes_processed", totals.writes_processed);
  text.Field("acl_access_denied_auth", parts.access_log.count(DenialReason::kLogin));
  text.Field("acl_access_denied_cmd", parts.access_log.count(DenialReason::kCommand));
  text.Field("acl_access_denied_key", parts.access_log.count(DenialReason::kKey));
  text.Field("acl_access_denied_channel", parts.access_log.count(DenialReason::kChannel));
  text.Field("acl_access_denied_db", parts.access_log.count(DenialReason::kDatabase));
  text.Counter("slow_lane_commands", "slow_lane_commands_total", "Commands that had to wait for the disk or a lock.",
               totals.slow_lane_commands);
}

void WriteCpu(const ReportParts&, SectionWriter& text) {
  rusage own{};
  rusage children{};
  getrusage(RUSAGE_SELF, &own);
  getrusage(RUSAGE_CHILDREN, &children);
  const auto write = [&text](std::string_view field, std::string_view mode, const timeval& time) {
    const double seconds = static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    text.Field(field, seconds, 6);
    text.Counter("", "cpu_seconds_total", "CPU time used.", seconds, MetricsText::Label("mode", mode));
  };
  write("used_cpu_sys", "system", own.ru_stime);
  write("used_cpu_user", "user", own.ru_utime);
  write("used_cpu_sys_children", "system_children", children.ru_stime);
  write("used_cpu_user_children", "user_children", children.ru_utime);
}

void WriteModules(const ReportParts&, SectionWriter&) {}

constexpr ReportSection kSections[] = {
    {"persistence", "Persistence", true, WritePersistence},
    {"stats", "Stats", true, WriteStats},
    {"cpu", "CPU", true, WriteCpu},
    {"modules", "Modules", true, WriteModules},
};

}  // namespace

std::span<const ReportSection> ActivitySections() { return kSections; }

}  // namespace cairn
