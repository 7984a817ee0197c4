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
Status WritePersistence(const ReportParts& parts, CommandContext& ctx, SectionWriter& text) {
  SaveState& saves = parts.saves;
  const bool saving = saves.running > 0;
  const std::string_view outcome = saves.last_ok ? "ok" : "err";
  const RdbSaves& files = parts.rdb_saves;
  const int64_t running_s = files.in_background() ? (WallMs() - files.started_ms()) / 1000 : -1;
  text.Field("loading", parts.conditions.Has(kLoadingData));
  text.Field("async_loading", parts.replication.primary_link().transfer().is_loading.load());
  text.Field("rdb_changes_since_last_save", ctx.txn().store().counters().changes.load() - saves.changes_before);
  const bool is_sending = parts.replication.replicas().IsWriting();
  text.Field("rdb_bgsave_in_progress", files.in_background() || is_sending);
  text.Field("rdb_last_save_time", saves.last_unix_s.load());
  text.Field("rdb_last_bgsave_status", outcome);
  text.Field("rdb_last_bgsave_time_sec", files.last_duration_s());
  text.Field("rdb_current_bgsave_time_sec", running_s);
  text.Field("rdb_saves", saves.count.load());
  text.Field("aof_enabled", 1);
  text.Field("rdb_last_cow_size", 0);
  text.Field("aof_rewrite_in_progress", saving && !files.in_background());
  text.Field("aof_rewrite_scheduled", 0);
  text.Field("aof_last_bgrewrite_status", outcome);
  text.Field("aof_last_write_status", ctx.txn().store().recovery().writable() ? "ok" : "err");
  return Ok();
}

Status WriteStats(const ReportParts& parts, CommandContext&, SectionWriter& text) {
  const StatsTotals totals = parts.stats.Totals();
  const Stats::Rates rates = parts.stats.rates();
  text.Field("total_connections_received", totals.connections_received);
  text.Field("total_commands_processed", totals.commands);
  text.Field("instantaneous_ops_per_sec", rates.commands_per_s);
  text.Field("total_net_input_bytes", totals.net_input_bytes);
  text.Field("total_net_output_bytes", totals.net_output_bytes);
  text.Field("instantaneous_input_kbps", rates.input_kb_per_s, 2);
  text.Field("instantaneous_output_kbps", rates.output_kb_per_s, 2);
  text.Field("rejected_connections", totals.connections_rejected);
  const Replicas& replicas = parts.replication.replicas();
  text.Field("sync_full", replicas.full_syncs());
  text.Field("sync_partial_ok", replicas.partial_syncs());
  text.Field("sync_partial_err", replicas.refused_partial_syncs());
  text.Field("sync_files", replicas.sst_snapshots().transfers());
  text.Field("sync_files_resumed", replicas.sst_snapshots().resumed());
  text.Field("sync_files_sent_bytes", replicas.sst_snapshots().sent_bytes());
  text.Field("sync_files_spared_bytes", replicas.sst_snapshots().spared_bytes());
  text.Field("expired_keys", totals.expired_keys);
  text.Field("evicted_keys", 0);
  text.Field("evicted_clients", parts.client_memory.evicted());
  text.Field("keyspace_hits", totals.keyspace_hits);
  text.Field("keyspace_misses", totals.keyspace_misses);
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
  text.Field("slow_lane_commands", totals.slow_lane_commands);
  return Ok();
}

double Seconds(const timeval& time) { return static_cast<double>(time.tv_sec) + time.tv_usec / 1e6; }

Status WriteCpu(const ReportParts&, CommandContext&, SectionWriter& text) {
  constexpr int kDigits = 6;
  rusage own{};
  rusage children{};
  getrusage(RUSAGE_SELF, &own);
  getrusage(RUSAGE_CHILDREN, &children);
  text.Field("used_cpu_sys", Seconds(own.ru_stime), kDigits);
  text.Field("used_cpu_user", Seconds(own.ru_utime), kDigits);
  text.Field("used_cpu_sys_children", Seconds(children.ru_stime), kDigits);
  text.Field("used_cpu_user_children", Seconds(children.ru_utime), kDigits);
  return Ok();
}

Status WriteModules(const ReportParts&, CommandContext&, SectionWriter&) { return Ok(); }

constexpr ReportSection kSections[] = {
    {"persistence", "Persistence", true, true, WritePersistence},
    {"stats", "Stats", true, true, WriteStats},
    {"cpu", "CPU", true, true, WriteCpu},
    {"modules", "Modules", true, true, WriteModules},
};

}  // namespace

std::span<const ReportSection> ActivitySections() { return kSections; }

}  // namespace cairn
