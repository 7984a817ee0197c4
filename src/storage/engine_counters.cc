// SPDX-License-Identifier: BSD-3-Clause
#include "storage/engine_counters.h"

#include <rocksdb/db.h>
#include <rocksdb/metadata.h>
#include <rocksdb/statistics.h>

#include "storage/store.h"

namespace cairn {
namespace {

struct Row {
  std::string_view name;
  rocksdb::Tickers ticker;
};

constexpr Row kRows[] = {
    {"number_keys_read", rocksdb::NUMBER_KEYS_READ},
    {"number_keys_written", rocksdb::NUMBER_KEYS_WRITTEN},
    {"number_seeks", rocksdb::NUMBER_DB_SEEK},
    {"number_nexts", rocksdb::NUMBER_DB_NEXT},
    {"bytes_read", rocksdb::BYTES_READ},
    {"bytes_written", rocksdb::BYTES_WRITTEN},
    {"iterator_bytes_read", rocksdb::ITER_BYTES_READ},
    {"memtable_hits", rocksdb::MEMTABLE_HIT},
    {"memtable_misses", rocksdb::MEMTABLE_MISS},
    {"block_cache_hits", rocksdb::BLOCK_CACHE_HIT},
    {"block_cache_misses", rocksdb::BLOCK_CACHE_MISS},
    {"block_cache_data_misses", rocksdb::BLOCK_CACHE_DATA_MISS},
    {"block_cache_index_misses", rocksdb::BLOCK_CACHE_INDEX_MISS},
    {"block_cache_filter_misses", rocksdb::BLOCK_CACHE_FILTER_MISS},
    {"filter_useful", rocksdb::BLOOM_FILTER_USEFUL},
    {"compaction_read_bytes", rocksdb::COMPACT_READ_BYTES},
    {"compaction_write_bytes", rocksdb::COMPACT_WRITE_BYTES},
    {"compaction_dropped_by_filter", rocksdb::COMPACTION_KEY_DROP_USER},
    {"flush_write_bytes", rocksdb::FLUSH_WRITE_BYTES},
    {"stall_micros", rocksdb::STALL_MICROS},
    {"wal_syncs", rocksdb::WAL_FILE_SYNCED},
    {"wal_bytes", rocksdb::WAL_FILE_BYTES},
    {"blob_bytes_read", rocksdb::BLOB_DB_BLOB_FILE_BYTES_READ},
    {"blob_bytes_written", rocksdb::BLOB_DB_BLOB_FILE_BYTES_WRITTEN},
};

}  // namespace

std::vector<EngineCounter> EngineCounters(Store& store) {
  std::vector<EngineCounter> counters;
  for (const Row& row : kRows) counters.push_back({row.name, store.engine().Ticker(row.ticker)});
  return counters;
}

std::vector<EngineLevel> EngineLevels(Store& store) {
  std::vector<EngineLevel> levels;
  for (rocksdb::ColumnFamilyHandle* handle : store.engine().families()) {
    rocksdb::ColumnFamilyMetaData family;
    store.engine().db().GetColumnFamilyMetaData(handle, &family);
    if (levels.size() < family.levels.size()) levels.resize(family.levels.size());
    for (size_t i = 0; i < family.levels.size(); ++i) {
      levels[i].files += family.levels[i].files.size();
      levels[i].bytes += family.levels[i].size;
    }
  }
  return levels;
}

uint64_t WriteStallMicros(Store& store) { return store.engine().Ticker(rocksdb::STALL_MICROS); }

}  // namespace cairn
