// SPDX-License-Identifier: BSD-3-Clause
#include "report/metrics.h"

#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "base/version.h"
#include "client/client_registry.h"
#include "command/table.h"
#include "config/settings.h"
#include "report/metrics_text.h"
#include "stats/process_memory.h"
#include "stats/server_state.h"
#include "stats/stats.h"
#include "storage/disk_reserve.h"
#include "storage/engine_counters.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr std::string_view kCounter = "counter";
constexpr std::string_view kGauge = "gauge";

// The histograms' bounds are powers of two of a microsecond, at ends of LatencyHistogram's buckets: 8 us to 8 s.
constexpr int kFirstBoundBits = 3;
constexpr int kLastBoundBits = 23;

void WriteProcess(const MetricsParts& parts, MetricsText& text) {
  text.Family("build_info", kGauge, "Always 1; the versions are labels.");
  text.Sample(uint64_t{1},
              MetricsText::Label("version", kCairnVersion) + "," + MetricsText::Label("redis_version", kRedisVersion));
  text.Single("uptime_seconds", kGauge, "Time since the start.",
              static_cast<double>(MonotonicUs() - parts.identity.started_us) / 1e6);
  uint64_t blocked = 0;
  const auto sessions = parts.clients.All();
  for (const auto& session : sessions) blocked += session->blocking.is_blocked ? 1 : 0;
  text.Single("connected_clients", kGauge, "Clients that are connected.", static_cast<uint64_t>(sessions.size()));
  text.Single("blocked_clients", kGauge, "Clients that wait in a blocking command.", blocked);
  text.Single("max_clients", kGauge, "maxclients.", static_cast<uint64_t>(parts.settings.maxclients.load()));
}

void WriteTotals(const MetricsParts& parts, MetricsText& text) {
  const StatsTotals totals = parts.stats.Totals();
  const auto count = [&text](std::string_view name, std::string_view help, uint64_t value) {
    text.Single(name, kCounter, help, value);
  };
  count("connections_received_total", "Connections accepted.", totals.connections_received);
  count("connections_rejected_total", "Connections refused.", totals.connections_rejected);
  count("net_input_bytes_total", "Bytes read from clients.", totals.net_input_bytes);
  count("net_output_bytes_total", "Bytes written to clients.", totals.net_output_bytes);
  count("keyspace_hits_total", "Look-ups by reads that found a key.", totals.keyspace_hits);
  count("keyspace_misses_total", "Look-ups by reads that found none.", totals.keyspace_misses);
  count("expired_keys_total", "Keys deleted because their time had passed.", totals.expired_keys);
  count("slow_lane_commands_total", "Commands that had to wait for the disk or a lock.", totals.slow_lane_commands);
  text.Family("errors_total", kCounter, "Error replies, by their first word.");
  for (const auto& [prefix, errors] : parts.stats.Errors()) text.Sample(errors, MetricsText::Label("error", prefix));
}

struct NamedTotals {
  std::string label;
  CommandTotals totals;
};

// The commands that were called or refused.
std::vector<NamedTotals> CommandsInUse(const MetricsParts& parts) {
  std::vector<NamedTotals> in_use;
  std::vector<CommandTotals> all = parts.stats.Commands();
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].calls == 0 && all[i].rejected == 0) continue;
    in_use.push_back({MetricsText::Label("command", parts.table.ByIndex(i)->full_name()), std::move(all[i])});
  }
  return in_use;
}

std::string BoundLabel(int bits) {
  char bound[32];
  std::snprintf(bound, sizeof bound, "%g", static_cast<double>(uint64_t{1} << bits) / 1e6);
  return MetricsText::Label("le", bound);
}

// Durations are rounded down to whole microseconds, so a duration below 2^k us is in a bucket that ends before 2^k.
void WriteHistogram(const NamedTotals& command, MetricsText& text) {
  uint64_t sum = 0;
  int bucket = 0;
  for (int bits = kFirstBoundBits; bits <= kLastBoundBits; ++bits) {
    for (; bucket < LatencyHistogram::kBuckets && LatencyHistogram::HighestOf(bucket) < (uint64_t{1} << bits); ++bucket)
      sum += command.totals.latency[static_cast<size_t>(bucket)];
    text.Sample(sum, command.label + "," + BoundLabel(bits), "_bucket");
  }
  for (; bucket < LatencyHistogram::kBuckets; ++bucket) sum += command.totals.latency[static_cast<size_t>(bucket)];
  text.Sample(sum, command.label + "," + MetricsText::Label("le", "+Inf"), "_bucket");
  text.Sample(static_cast<double>(command.totals.latency_usec) / 1e6, command.label, "_sum");
  text.Sample(sum, command.label, "_count");
}

void WriteCommands(const MetricsParts& parts, MetricsText& text) {
  const std::vector<NamedTotals> commands = CommandsInUse(parts);
  text.Family("commands_total", kCounter, "Calls, those by scripts included.");
  for (const NamedTotals& command : commands) text.Sample(command.totals.calls, command.label);
  text.Family("commands_failed_total", kCounter, "Calls that ran and answered an error.");
  for (const NamedTotals& command : commands) text.Sample(command.totals.failed, command.label);
  text.Family("commands_rejected_total", kCounter, "Calls refused before they ran.");
  for (const NamedTotals& command : commands) text.Sample(command.totals.rejected, command.label);
  text.Family("command_duration_seconds", "histogram", "How long commands took, those of scripts excepted.");
  for (const NamedTotals& command : commands) {
    if (!command.totals.latency.empty()) WriteHistogram(command, text);
  }
}

void WriteMemory(const MetricsParts& parts, MetricsText& text) {
  Store& store = parts.store;
  const Budget budget = Budget::Of(MemoryBudget(parts.settings));
  const ProcessMemory memory = ProcessMemory::Read();
  const auto of = [](std::string_view component) { return MetricsText::Label("component", component); };
  text.Family("memory_budget_bytes", kGauge, "memory-budget and its shares; memtables are a part of the block cache.");
  text.Sample(budget.total, of("total"));
  text.Sample(budget.key_cache, of("key_cache"));
  text.Sample(budget.block_cache, of("block_cache"));
  text.Sample(budget.memtables, of("memtables"));
  text.Sample(budget.rank_indexes, of("rank_indexes"));
  text.Family("memory_used_bytes", kGauge, "What is used of each share; the total is the process's resident memory.");
  text.Sample(memory.rss, of("total"));
  text.Sample(static_cast<uint64_t>(store.cache().usage()), of("key_cache"));
  text.Sample(store.engine().BlockCacheBytes(), of("block_cache"));
  text.Sample(store.engine().MemtableBytes(), of("memtables"));
  text.Sample(static_cast<uint64_t>(store.rank_indexes().bytes()), of("rank_indexes"));
  text.Single("memory_allocated_bytes", kGauge, "Bytes allocated.", memory.allocated);
  text.Single("key_cache_hits_total", kCounter, "Rows found in the key cache.", store.cache().hits());
  text.Single("key_cache_misses_total", kCounter, "Rows not found in the key cache.", store.cache().misses());
  text.Single("key_cache_bytes", kGauge, "Bytes in the key cache.", static_cast<uint64_t>(store.cache().usage()));
  text.Single("key_cache_capacity_bytes", kGauge, "Bytes the key cache may hold.",
              static_cast<uint64_t>(store.cache().capacity()));
}

void WriteKeys(Store& store, MetricsText& text) {
  text.Family("db_keys", kGauge, "Keys of each database.");
  for (int db = 0; db < store.databases().size(); ++db) {
    const int64_t keys = std::max<int64_t>(0, store.databases()[db].keys.load());
    text.Sample(static_cast<uint64_t>(keys), MetricsText::Label("db", "db" + std::to_string(db)));
  }
  const DiskReserve& reserve = store.engine().disk_reserve();
  text.Single("disk_free_bytes", kGauge, "Free on the file system of the data.", reserve.free_bytes());
  text.Single("min_free_disk_bytes", kGauge, "What the data may not grow into.", reserve.size());
  text.Single("min_free_disk_held_bytes", kGauge, "Of it, held by a file.", reserve.held_bytes());
  text.Single("commands_refused_for_room_total", kCounter, "Commands refused for min-free-disk.",
              store.counters().refused_for_room.load());
  text.Single("storage_writable", kGauge, "0 while writes are refused because the disk fails.",
              static_cast<uint64_t>(store.recovery().writable()));
}

void WriteRocksDb(Store& store, MetricsText& text) {
  constexpr std::string_view kProperties[] = {
      "estimate-live-data-size",           "total-sst-files-size",    "live-blob-file-size",
      "estimate-pending-compaction-bytes", "num-running-compactions", "num-running-flushes",
      "num-immutable-mem-table",           "background-errors",       "is-write-stopped",
      "actual-delayed-write-rate",
  };
  text.Single("rocksdb_stall_seconds_total", kCounter, "How long writers were held up, all of them together.",
              static_cast<double>(WriteStallMicros(store)) / 1e6);
  for (const EngineCounter& counter : EngineCounters(store)) {
    if (counter.name == "stall_micros") continue;
    text.Single("rocksdb_" + std::string(counter.name) + "_total", kCounter, "RocksDB's counter of that name.",
                counter.value);
  }
  for (const std::string_view property : kProperties) {
    std::string name = "rocksdb_" + std::string(property);
    std::replace(name.begin(), name.end(), '-', '_');
    text.Single(name, kGauge, "RocksDB's property of that name.",
                store.engine().Property("rocksdb." + std::string(property)));
  }
  const std::vector<EngineLevel> levels = EngineLevels(store);
  text.Family("rocksdb_level_files", kGauge, "Files of each level.");
  for (size_t i = 0; i < levels.size(); ++i)
    text.Sample(levels[i].files, MetricsText::Label("level", std::to_string(i)));
  text.Family("rocksdb_level_bytes", kGauge, "Bytes in the files of each level.");
  for (size_t i = 0; i < levels.size(); ++i)
    text.Sample(levels[i].bytes, MetricsText::Label("level", std::to_string(i)));
}

}  // namespace

std::string DescribeMetrics(const MetricsParts& parts) {
  MetricsText text;
  WriteProcess(parts, text);
  WriteTotals(parts, text);
  WriteCommands(parts, text);
  WriteMemory(parts, text);
  WriteKeys(parts.store, text);
  WriteRocksDb(parts.store, text);
  return text.Take();
}

}  // namespace cairn
