// SPDX-License-Identifier: BSD-3-Clause
//
// INFO keyspace, cairn, cache and rocksdb.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "base/number.h"
#include "base/version.h"
#include "client/client_memory.h"
#include "config/config.h"
#include "config/database_options.h"
#include "config/settings.h"
#include "report/report.h"
#include "script/scripting.h"
#include "stats/process_memory.h"
#include "stats/server_state.h"
#include "stats/stats.h"
#include "storage/cache_warmup.h"
#include "storage/disk_reserve.h"
#include "storage/engine_counters.h"
#include "storage/live_size.h"
#include "storage/store.h"

namespace cairn {
namespace {

// Up to this many expiring keys are counted one by one; beyond that, their number is estimated from these.
constexpr uint64_t kExpiriesLookedAt = 100000;

constexpr char kEstimatedRows[] = "rocksdb.estimate-num-keys";

struct Expiring {
  uint64_t keys = 0;
  double ttl_sum_ms = 0;
};

// Adds up the keys of one engine that expire, and their remaining times, by keyspace.
Status AddExpiring(CommandContext& ctx, StorageMode mode, std::map<KeyspaceId, Expiring>& all) {
  std::map<KeyspaceId, Expiring> counts;
  uint64_t seen = 0;
  Store& store = ctx.txn().store();
  Cursor cursor = ctx.txn().Scan(store.expiry_start(mode).First(), MakeExpiryRow(INT64_MAX, {}, 0));
  for (; cursor.Valid() && seen < kExpiriesLookedAt; cursor.Next(), ++seen) {
    int64_t when_ms = 0;
    std::string_view key_row;
    KeyRowParts parts{};
    if (!ParseExpiryRow(cursor.row(), when_ms, key_row) || !ParseKeyRow(key_row, parts)) continue;
    Expiring& expiring = counts[parts.keyspace];
    ++expiring.keys;
    expiring.ttl_sum_ms += static_cast<double>(std::max<int64_t>(0, when_ms - ctx.now_ms()));
  }
  const bool complete = !cursor.Valid();
  TRY(cursor.TakeStatus());
  double scale = 1;
  if (!complete) {
    const auto estimate = ParseUint64(store.engines().Of(mode).TextProperty(kEstimatedRows, Space::kExpiries));
    scale = std::max(1.0, static_cast<double>(estimate.value_or(seen)) / static_cast<double>(seen));
  }
  for (const auto& [keyspace, expiring] : counts) {
    all[keyspace] = {static_cast<uint64_t>(static_cast<double>(expiring.keys) * scale), expiring.ttl_sum_ms * scale};
  }
  return Ok();
}

// By keyspace: the number of keys that expire, and the sum of their remaining times.
Result<std::map<KeyspaceId, Expiring>> CountExpiring(CommandContext& ctx) {
  std::map<KeyspaceId, Expiring> counts;
  TRY(AddExpiring(ctx, StorageMode::kSsd, counts));
  if (ctx.txn().store().engines().memory() != nullptr) TRY(AddExpiring(ctx, StorageMode::kMemory, counts));
  return counts;
}

void WriteKeyspace(const ReportParts& parts, SectionWriter& text) {
  for (int db = 0; db < parts.store.databases().size(); ++db) {
    const auto keys = std::max<int64_t>(0, parts.store.databases()[db].keys.load());
    text.Gauge("", "db_keys", "Keys of each database.", keys, MetricsText::Label("db", fmt::format("db{}", db)));
  }
}

// The options of a database that are not the usual ones, each after a comma. The mode is that of its rows.
std::string OptionsText(const DatabaseOptions& options, StorageMode mode) {
  std::string text;
  if (mode != StorageMode::kSsd) text.append(",storage_mode=").append(NameOf(mode));
  if (options.durability) text.append(",durability=").append(DurabilityName(*options.durability));
  return text;
}

Status WriteKeyspaceRows(const ReportParts& parts, CommandContext& ctx, SectionWriter& text) {
  std::map<KeyspaceId, Expiring> expiring = TRY(CountExpiring(ctx));
  const DatabaseTable& table = parts.store.databases();
  const std::vector<DatabaseOptions> all = TRY(DatabaseOptionsOf(parts.config.Words("database"), table.size()));
  for (int db = 0; db < table.size(); ++db) {
    const auto keys = static_cast<uint64_t>(std::max<int64_t>(0, ctx.keys(db).Count()));
    const std::string options = OptionsText(all[static_cast<size_t>(db)], ModeOfKeyspace(table[db].keyspace));
    if (keys == 0 && options.empty()) continue;
    const Expiring& some = expiring[ctx.txn().databases().keyspace(db)];
    const uint64_t expires = std::min(some.keys, keys);
    const auto ttl_ms = some.keys == 0 ? 0 : static_cast<int64_t>(some.ttl_sum_ms / static_cast<double>(some.keys));
    text.Field(fmt::format("db{}", db), fmt::format("keys={},expires={},avg_ttl={}{}", keys, expires, ttl_ms, options));
  }
  return Ok();
}

void WriteCairn(const ReportParts& parts, SectionWriter& text) {
  Store& store = parts.store;
  const Budget budget = Budget::Of(MemoryBudget(parts.settings));
  text.Field("cairn_version", kCairnVersion);
  const auto share = [&text](std::string_view field, std::string_view component, uint64_t bytes) {
    text.Gauge(field, "memory_budget_bytes", "memory-budget and its shares; memtables are a part of the block cache.",
               bytes, MetricsText::Label("component", component));
  };
  const auto used = [&text](std::string_view field, std::string_view component, uint64_t bytes) {
    text.Gauge(field, "memory_used_bytes", "Resident bytes by component; memtables are a part of the block cache.",
               bytes, MetricsText::Label("component", component));
  };
  text.Bytes("memory_budget", budget.total);
  share("", "total", budget.total);
  share("budget_key_cache_bytes", "key_cache", budget.key_cache);
  share("budget_block_cache_bytes", "block_cache", budget.block_cache);
  share("budget_memtable_bytes", "memtables", budget.memtables);
  share("budget_rank_index_bytes", "rank_indexes", budget.rank_indexes);
  used("used_key_cache_bytes", "key_cache", store.cache().usage() + parts.cache_warmup.progress().bytes);
  used("used_block_cache_bytes", "block_cache", store.engine().BlockCacheBytes());
  used("used_memtable_bytes", "memtables", store.engine().MemtableBytes());
  used("used_rank_index_bytes", "rank_indexes", store.rank_indexes().bytes());
  const ProcessMemory memory = ProcessMemory::Read();
  const Scripting& scripts = parts.scripting;
  used("used_client_bytes", "clients", parts.client_memory.counted());
  used("used_script_bytes", "scripts", scripts.vm_bytes() + scripts.cache().bytes() + scripts.libraries()->bytes());
  used("used_startup_bytes", "startup", parts.memory_peak.start());
  used("used_database_bytes", "databases", store.engines().MemoryTableBytes());
  parts.live_size.Refresh(store);
  text.Gauge("data_size", "data_size_bytes", "Bytes of the data on disk, as max-data-size counts them.",
             parts.live_size.Bytes(store));
  text.Gauge("max_data_size", "max_data_size_bytes", "max-data-size, or maxmemory; 0 is no limit.",
             MaxDataSize(parts.settings));
  used("used_log_tail_bytes", "log_tail", store.log().tail().bytes());
  // What is resident beside the allocator's memory: the program itself, stacks of threads.
  used("used_program_bytes", "program", memory.rss - std::min(memory.rss, memory.resident));
  // The allocator's free pages, and what it loses in pages that are used in part.
  used("used_allocator_bytes", "allocator", memory.resident - std::min(memory.resident, memory.allocated));
  used("used_rss_bytes", "total", memory.rss);
  text.Field("slow_lane_threads", parts.settings.slow_threads.load());
  text.Field("slow_lane_commands", parts.stats.Totals().slow_lane_commands);
  text.Gauge("storage_writable", "storage_writable", "0 while writes are refused because the disk fails.",
             store.recovery().writable());
  const DiskReserve& reserve = store.engine().disk_reserve();
  text.Field("disk_level", reserve.level_name());
  text.Gauge("disk_free_bytes", "disk_free_bytes", "Free bytes of the data's file system.", reserve.free_bytes());
  text.Gauge("min_free_disk_bytes", "min_free_disk_bytes", "min-free-disk.", reserve.size());
  text.Gauge("min_free_disk_held_bytes", "min_free_disk_held_bytes", "Bytes of min-free-disk that a file holds.",
             reserve.held_bytes());
  text.Counter("commands_refused_for_room", "commands_refused_for_room_total", "Commands refused for min-free-disk.",
               store.counters().refused_for_room.load());
}

void WriteCache(const ReportParts& parts, SectionWriter& text) {
  RowCache& cache = parts.store.cache();
  const uint64_t hits = cache.hits();
  const uint64_t looks = hits + cache.misses();
  text.Gauge("key_cache_capacity_bytes", "key_cache_capacity_bytes", "Capacity of the key cache in bytes.",
             static_cast<uint64_t>(cache.capacity()));
  text.Gauge("key_cache_used_bytes", "key_cache_bytes", "Bytes in the key cache.",
             static_cast<uint64_t>(cache.usage()));
  text.Counter("key_cache_hits", "key_cache_hits_total", "Rows found in the key cache.", hits);
  text.Counter("key_cache_misses", "key_cache_misses_total", "Rows not found in the key cache.", looks - hits);
  text.Field("key_cache_hit_rate", looks == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(looks), 4);
  const CacheWarmup::Progress warmup = parts.cache_warmup.progress();
  text.Field("key_cache_warmup", CacheWarmup::NameOf(warmup.state));
  text.Gauge("", "key_cache_warmup_in_progress", "1 while the rows that were hot before the start are read.",
             static_cast<int>(warmup.state == CacheWarmup::State::kLoading));
  text.Field("key_cache_warmup_names", warmup.names);
  text.Field("key_cache_warmup_looked_up", warmup.looked);
  text.Counter("key_cache_warmup_rows", "key_cache_warmup_rows_total",
               "Rows that were read into the key cache because they were hot before the start.", warmup.rows);
  text.Field("key_cache_warmup_ms", warmup.took_ms);
  text.Field("key_cache_saved_names", warmup.saved);
  text.Field("key_cache_save_us", warmup.save_us);
}

void WriteRocksDb(const ReportParts& parts, SectionWriter& text) {
  constexpr std::string_view kProperties[] = {
      "estimate-num-keys",       "estimate-live-data-size",    "total-sst-files-size",
      "live-sst-files-size",     "live-blob-file-size",        "size-all-mem-tables",
      "num-immutable-mem-table", "estimate-table-readers-mem", "estimate-pending-compaction-bytes",
      "num-running-compactions", "num-running-flushes",        "background-errors",
      "is-write-stopped",        "actual-delayed-write-rate",
  };
  constexpr size_t kInInfo = 12;  // the rest are metrics alone
  Store& store = parts.store;
  for (const EngineCounter& counter : EngineCounters(store)) {
    text.Counter(counter.name, fmt::format("rocksdb_{}_total", counter.name), "RocksDB's counter of that name.",
                 counter.value);
  }
  text.Counter("", "rocksdb_stall_seconds_total", "Time that writers were stalled, summed over all of them.",
               static_cast<double>(WriteStallMicros(store)) / 1e6);
  // Lookups that asked only memory and did not find the answer there; number_keys_read includes them, although no disk
  // read follows.
  text.Counter("incomplete_probes", "incomplete_probes_total", "Look-ups in memory alone that did not find their row.",
               store.counters().incomplete_probes.load());
  for (size_t i = 0; i < std::size(kProperties); ++i) {
    std::string name(kProperties[i]);
    std::replace(name.begin(), name.end(), '-', '_');
    text.Gauge(i < kInInfo ? name : "", "rocksdb_" + name, "RocksDB's property of that name.",
               store.engine().Property(fmt::format("rocksdb.{}", kProperties[i])));
  }
  if (text.page() == nullptr) return;
  const std::vector<EngineLevel> levels = EngineLevels(store);
  for (size_t i = 0; i < levels.size(); ++i) {
    const std::string label = MetricsText::Label("level", i);
    text.Gauge("", "rocksdb_level_files", "Files of each level.", levels[i].files, label);
    text.Gauge("", "rocksdb_level_bytes", "Bytes in the files of each level.", levels[i].bytes, label);
  }
}

constexpr ReportSection kSections[] = {
    {"keyspace", "Keyspace", true, WriteKeyspace, WriteKeyspaceRows},
    {"cairn", "Cairn", true, WriteCairn},
    {"cache", "Cache", true, WriteCache},
    {"rocksdb", "RocksDB", false, WriteRocksDb},
};

}  // namespace

std::span<const ReportSection> StorageSections() { return kSections; }

}  // namespace cairn
