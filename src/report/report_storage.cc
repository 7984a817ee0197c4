// SPDX-License-Identifier: BSD-3-Clause
//
// INFO keyspace, cairn, cache and rocksdb.
#include <map>

#include "base/number.h"
#include "base/version.h"
#include "config/settings.h"
#include "report/report.h"
#include "stats/process_memory.h"
#include "stats/stats.h"
#include "storage/disk_reserve.h"
#include "storage/engine_counters.h"
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

// By keyspace: the number of keys that expire, and the sum of their remaining times.
Result<std::map<KeyspaceId, Expiring>> CountExpiring(CommandContext& ctx) {
  std::map<KeyspaceId, Expiring> counts;
  uint64_t seen = 0;
  Cursor cursor = ctx.txn().Scan(ctx.txn().store().expiry_start().First(), MakeExpiryRow(INT64_MAX, {}, 0));
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
  if (complete) return counts;
  const auto estimate = ParseUint64(ctx.txn().store().engine().TextProperty(kEstimatedRows, Space::kExpiries));
  const double scale = static_cast<double>(estimate.value_or(seen)) / static_cast<double>(seen);
  for (auto& [keyspace, expiring] : counts) {
    expiring.keys = static_cast<uint64_t>(static_cast<double>(expiring.keys) * std::max(1.0, scale));
    expiring.ttl_sum_ms *= std::max(1.0, scale);
  }
  return counts;
}

Status WriteKeyspace(const ReportParts&, CommandContext& ctx, SectionWriter& text) {
  std::map<KeyspaceId, Expiring> expiring = TRY(CountExpiring(ctx));
  for (int db = 0; db < ctx.txn().store().databases().size(); ++db) {
    const auto keys = static_cast<uint64_t>(std::max<int64_t>(0, ctx.keys(db).Count()));
    if (keys == 0) continue;
    const Expiring& some = expiring[ctx.txn().databases().keyspace(db)];
    const uint64_t expires = std::min(some.keys, keys);
    const auto ttl_ms = some.keys == 0 ? 0 : static_cast<int64_t>(some.ttl_sum_ms / static_cast<double>(some.keys));
    text.Field("db" + std::to_string(db),
               std::string_view("keys=" + std::to_string(keys) + ",expires=" + std::to_string(expires) +
                                ",avg_ttl=" + std::to_string(ttl_ms)));
  }
  return Ok();
}

Status WriteCairn(const ReportParts& parts, CommandContext& ctx, SectionWriter& text) {
  Store& store = ctx.txn().store();
  const Budget budget = Budget::Of(MemoryBudget(parts.settings));
  text.Field("cairn_version", kCairnVersion);
  text.Bytes("memory_budget", budget.total);
  text.Field("budget_key_cache_bytes", budget.key_cache);
  text.Field("budget_block_cache_bytes", budget.block_cache);
  text.Field("budget_memtable_bytes", budget.memtables);
  text.Field("budget_rank_index_bytes", budget.rank_indexes);
  text.Field("used_key_cache_bytes", static_cast<uint64_t>(store.cache().usage()));
  text.Field("used_block_cache_bytes", store.engine().BlockCacheBytes());
  text.Field("used_memtable_bytes", store.engine().MemtableBytes());
  text.Field("used_rank_index_bytes", static_cast<uint64_t>(store.rank_indexes().bytes()));
  text.Field("used_rss_bytes", ProcessMemory::Read().rss);
  text.Field("slow_lane_threads", parts.settings.slow_threads.load());
  text.Field("slow_lane_commands", parts.stats.Totals().slow_lane_commands);
  text.Field("storage_writable", store.recovery().writable());
  const DiskReserve& reserve = store.engine().disk_reserve();
  text.Field("disk_level", reserve.level_name());
  text.Field("disk_free_bytes", reserve.free_bytes());
  text.Field("min_free_disk_bytes", reserve.size());
  text.Field("min_free_disk_held_bytes", reserve.held_bytes());
  text.Field("commands_refused_for_room", store.counters().refused_for_room.load());
  return Ok();
}

Status WriteCache(const ReportParts&, CommandContext& ctx, SectionWriter& text) {
  RowCache& cache = ctx.txn().store().cache();
  const uint64_t hits = cache.hits();
  const uint64_t looks = hits + cache.misses();
  text.Field("key_cache_capacity_bytes", static_cast<uint64_t>(cache.capacity()));
  text.Field("key_cache_used_bytes", static_cast<uint64_t>(cache.usage()));
  text.Field("key_cache_hits", hits);
  text.Field("key_cache_misses", looks - hits);
  text.Field("key_cache_hit_rate", looks == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(looks), 4);
  return Ok();
}

Status WriteRocksDb(const ReportParts&, CommandContext& ctx, SectionWriter& text) {
  constexpr std::string_view kProperties[] = {
      "estimate-num-keys",       "estimate-live-data-size",    "total-sst-files-size",
      "live-sst-files-size",     "live-blob-file-size",        "size-all-mem-tables",
      "num-immutable-mem-table", "estimate-table-readers-mem", "estimate-pending-compaction-bytes",
      "num-running-compactions", "num-running-flushes",        "background-errors",
  };
  Store& store = ctx.txn().store();
  for (const EngineCounter& counter : EngineCounters(store)) text.Field(counter.name, counter.value);
  // Lookups that asked only memory and did not find the answer there; number_keys_read includes them, although no disk
  // read follows.
  text.Field("incomplete_probes", store.counters().incomplete_probes.load());
  for (const std::string_view property : kProperties) {
    std::string name(property);
    for (char& c : name) c = c == '-' ? '_' : c;
    text.Field(name, store.engine().Property("rocksdb." + std::string(property)));
  }
  return Ok();
}

constexpr ReportSection kSections[] = {
    {"keyspace", "Keyspace", true, true, WriteKeyspace},
    {"cairn", "Cairn", true, true, WriteCairn},
    {"cache", "Cache", true, true, WriteCache},
    {"rocksdb", "RocksDB", false, true, WriteRocksDb},
};

}  // namespace

std::span<const ReportSection> StorageSections() { return kSections; }

}  // namespace cairn
