// SPDX-License-Identifier: BSD-3-Clause
#include "storage/tuning.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/table_properties_collectors.h>
#include <rocksdb/write_buffer_manager.h>

#include <algorithm>

#include "storage/engine_log.h"
#include "storage/hash_memtable.h"
#include "storage/read_statistics.h"

namespace cairn {
namespace {

constexpr uint64_t kMegabyte = 1ull << 20;
constexpr size_t kBlockBytes = 4096;
constexpr size_t kHddBlockBytes = 64 * 1024;
constexpr uint64_t kHddTableFactor = 4;
// A file's dictionary for Zstd, trained from its first rows. Blocks of 4 KB are too small to learn from themselves.
constexpr uint32_t kDictionaryBytes = 4096;
constexpr uint32_t kTrainedBytes = 100 * kDictionaryBytes;
constexpr double kFilterBitsPerKey = 10;
// The share of the block cache that data blocks cannot take from index and filter blocks.
constexpr double kMetadataShare = 0.9;

// A file is compacted, whatever its size, if half of some 128 successive rows are tombstones.
constexpr size_t kTombstoneWindow = 128;
constexpr size_t kTombstonesInWindow = 64;
// The same for a file in which this share of the rows are tombstones, however they are spread.
constexpr double kTombstonesInFile = 0.3;

// A memtable that fits in the processor's cache is filled twice as fast (docs/decisions/memtable-size.md).
constexpr uint64_t kMostMemtableBytes = 4 * kMegabyte;
constexpr uint64_t kTypicalKeyRowBytes = 128;
// An import's memtables are as large as its files: rows are sorted once, by the flush.
constexpr uint64_t kMostImportedBytes = 64 * kMegabyte;
constexpr uint64_t kArenaBlocks = 8;  // per memtable
constexpr uint64_t kPageBytes = 4096;
constexpr int kMemtablesPerFlush = 8;  // merged into one file, so files are larger than memtables
constexpr int kLevel0Trigger = 4;
constexpr int kImportedLevel0Trigger = 16;  // fewer rewrites of the same rows; no other client is slowed down
constexpr int kLevel0Stop = 40;
constexpr uint64_t kForeverSeconds = 100ull * 365 * 24 * 3600;  // DropOldLogs deletes them (storage/old_logs.h)
constexpr uint64_t kManifestBytes = 16 * kMegabyte;
constexpr uint64_t kSyncStepBytes = kMegabyte;
// A system call that copies a megabyte keeps its processor until it ends (some ms where pages are slow to get), and a
// client's reply may wait for that processor.
constexpr uint64_t kMostWrittenAtOnce = 64 << 10;
constexpr uint64_t kMostReadAtOnce = 256 << 10;
constexpr uint64_t kPeriodicCompactionSeconds = 7 * 24 * 3600;

struct NamedCompression {
  rocksdb::CompressionType type;
  const char* name;  // in RocksDB's texts of options
};

NamedCompression CompressionOf(BlobCompression compression) {
  constexpr NamedCompression kByIndex[] = {{rocksdb::kNoCompression, "kNoCompression"},
                                           {rocksdb::kSnappyCompression, "kSnappyCompression"},
                                           {rocksdb::kLZ4Compression, "kLZ4Compression"},
                                           {rocksdb::kZSTD, "kZSTD"}};
  return kByIndex[static_cast<int>(compression)];
}

uint64_t MemtableBytes(const Budget& budget) {
  return std::clamp<uint64_t>(budget.memtables / 32, kMegabyte / 2, kMostMemtableBytes);
}

rocksdb::BlockBasedTableOptions TableOptions(const SharedParts& parts) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = parts.block_cache;
  table.block_size = kBlockBytes;
  table.format_version = 5;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kFilterBitsPerKey));
  table.optimize_filters_for_memory = true;
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_top_level_index_and_filter = true;
  // A look-up of a new key asks the filter of every young file, so these few filters are pinned. Filters are not
  // partitioned: finding a partition costs as much as asking the filter.
  table.metadata_cache_options.partition_pinning = rocksdb::PinningTier::kFlushedAndSimilar;
  table.metadata_cache_options.unpartitioned_pinning = rocksdb::PinningTier::kFlushedAndSimilar;
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.metadata_block_size = kBlockBytes;
  return table;
}

// A hard disk reads a megabyte in the time of one seek: larger blocks, which compress better, and fewer, larger files.
void TuneForHdd(rocksdb::ColumnFamilyOptions& family, rocksdb::BlockBasedTableOptions& table) {
  table.block_size = kHddBlockBytes;
  family.enable_blob_files = false;
  family.target_file_size_base *= kHddTableFactor;
  family.max_bytes_for_level_base *= kHddTableFactor;
  std::fill(family.compression_per_level.begin() + 1, family.compression_per_level.end(),
            family.bottommost_compression);
}

// Rows go into hash tables that the flush sorts, on its own thread. Owners arrive in order, and the flush's filters
// look them up, so they keep the usual memtable.
void TuneForImport(Space space, const StoreOptions& options, rocksdb::ColumnFamilyOptions& family) {
  const uint64_t memtable = std::clamp<uint64_t>(options.budget.memtables / 8, kMegabyte / 2, kMostImportedBytes);
  family.write_buffer_size = memtable;
  family.arena_block_size = 0;  // RocksDB's default
  family.min_write_buffer_number_to_merge = 1;
  family.level0_file_num_compaction_trigger = kImportedLevel0Trigger;
  if (space == Space::kOwners || space == Space::kMeta) return;
  family.memtable_factory = NewHashMemtableFactory(memtable / kTypicalKeyRowBytes);
}

}  // namespace

uint64_t TableBytes(const Budget& budget) {
  return std::max<uint64_t>(kMemtablesPerFlush * MemtableBytes(budget), 4 * kMegabyte);
}

const char* FamilyName(Space space, StorageMode mode) {
  static constexpr const char* kNames[kSpaceCount] = {"default", "keys", "elements", "scores", "owners", "expiries"};
  static constexpr const char* kHddNames[kSpaceCount] = {"", "hdd-keys", "hdd-elements", "hdd-scores", "", ""};
  return (mode == StorageMode::kHdd ? kHddNames : kNames)[static_cast<int>(space)];
}

SharedParts MakeSharedParts(const StoreOptions& options) {
  SharedParts parts;
  rocksdb::LRUCacheOptions cache;
  cache.capacity = options.budget.block_cache;
  cache.num_shard_bits = 4;
  cache.high_pri_pool_ratio = kMetadataShare;
  parts.block_cache = rocksdb::NewLRUCache(cache);
  parts.write_buffers = std::make_shared<rocksdb::WriteBufferManager>(options.budget.memtables, parts.block_cache);
  parts.rate_limiter.reset(rocksdb::NewGenericRateLimiter(kUnlimitedRate));
  parts.statistics = MakeReadStatistics();
  return parts;
}

rocksdb::DBOptions TuneDatabase(const StoreOptions& options, const SharedParts& parts) {
  rocksdb::DBOptions db;
  db.create_if_missing = true;
  db.create_missing_column_families = true;
  db.max_background_jobs = options.background_jobs;
  db.max_subcompactions = static_cast<uint32_t>(options.subcompactions);
  db.rate_limiter = parts.rate_limiter;
  db.write_buffer_manager = parts.write_buffers;
  db.statistics = parts.statistics;
  db.max_total_wal_size = options.wal_bytes;
  if (options.keeps_logs) db.WAL_ttl_seconds = kForeverSeconds;
  db.max_manifest_file_size = kManifestBytes;
  db.bytes_per_sync = kSyncStepBytes;
  db.wal_bytes_per_sync = kSyncStepBytes;
  db.info_log = MakeEngineLog();
  db.stats_dump_period_sec = 0;
  db.stats_persist_period_sec = 0;
  db.skip_stats_update_on_db_open = true;
  db.skip_checking_sst_file_sizes_on_db_open = true;
  db.avoid_unnecessary_blocking_io = true;
  db.use_direct_io_for_flush_and_compaction = options.direct_io;
  db.use_direct_reads = options.direct_io;
  db.compaction_readahead_size = std::min<uint64_t>(kMostReadAtOnce, options.budget.total / 256);
  db.writable_file_max_buffer_size = kMostWrittenAtOnce;
  return db;
}

rocksdb::ColumnFamilyOptions TuneFamily(Space space, StorageMode mode, const StoreOptions& options,
                                        const SharedParts& parts) {
  rocksdb::ColumnFamilyOptions family;
  rocksdb::BlockBasedTableOptions table = TableOptions(parts);
  const uint64_t memtable = MemtableBytes(options.budget);
  family.write_buffer_size = TableBytes(options.budget);
  family.arena_block_size = memtable / kArenaBlocks / kPageBytes * kPageBytes;
  family.max_write_buffer_number = kMostMemtables;
  family.min_write_buffer_number_to_merge = kMemtablesPerFlush;
  family.disable_auto_compactions = true;
  if (space == Space::kKeys) {
    family.memtable_factory = NewHashMemtableFactory(memtable / kTypicalKeyRowBytes);
  } else {
    // Rows of a tick arrive roughly in order (CommitBatch::SortEntries).
    family.memtable_insert_with_hint_prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(sizeof(CollectionId)));
  }
  family.level_compaction_dynamic_level_bytes = true;
  family.target_file_size_base = TableBytes(options.budget);
  family.max_bytes_for_level_base = 4 * family.target_file_size_base;
  family.level0_file_num_compaction_trigger = kLevel0Trigger;
  family.level0_slowdown_writes_trigger = kLevel0Slowdown;
  family.level0_stop_writes_trigger = kLevel0Stop;
  if (options.imports) TuneForImport(space, options, family);
  // Files of level 0 are rewritten soon; compressing them does not pay.
  family.compression_per_level.assign(static_cast<size_t>(family.num_levels), rocksdb::kSnappyCompression);
  family.compression_per_level[0] = rocksdb::kNoCompression;
  family.bottommost_compression = options.bottom_zstd ? rocksdb::kZSTD : rocksdb::kSnappyCompression;
  if (options.bottom_zstd && (space == Space::kKeys || space == Space::kElements || space == Space::kScores)) {
    family.bottommost_compression_opts.enabled = true;
    family.bottommost_compression_opts.max_dict_bytes = kDictionaryBytes;
    family.bottommost_compression_opts.zstd_max_train_bytes = kTrainedBytes;
    family.bottommost_compression_opts.max_dict_buffer_bytes = kTrainedBytes;  // not the whole file
  }
  family.periodic_compaction_seconds = kPeriodicCompactionSeconds;
  family.table_properties_collector_factories.push_back(
      rocksdb::NewCompactOnDeletionCollectorFactory(kTombstoneWindow, kTombstonesInWindow, kTombstonesInFile));
  if (space == Space::kKeys || space == Space::kElements) {
    if (space == Space::kElements) {  // most look-ups ask whether a member is new, for rows that do not exist
      family.memtable_whole_key_filtering = true;
      family.memtable_prefix_bloom_size_ratio = 0.05;
    }
    // BlobFiles switches the garbage collection on when it is needed (storage/blob_files.h).
    family.enable_blob_files = options.blobs.min_bytes > 0;
    family.min_blob_size = options.blobs.min_bytes;
    family.blob_file_size = options.blobs.file_bytes;
    family.blob_compression_type = CompressionOf(options.blobs.compression).type;
  } else {
    table.filter_policy.reset();  // scores and expiries are only read by iterators
  }
  if (space == Space::kOwners) table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kFilterBitsPerKey));
  if (mode == StorageMode::kHdd) TuneForHdd(family, table);
  if (options.in_memory) {
    family.disable_auto_compactions = false;
    family.periodic_compaction_seconds = 0;
    family.write_buffer_size = memtable;
  }
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return family;
}

std::unordered_map<std::string, std::string> LoadedOptions(const StoreOptions& options) {
  std::unordered_map<std::string, std::string> changes = {{"disable_auto_compactions", "false"}};
  if (!options.imports) changes["write_buffer_size"] = std::to_string(MemtableBytes(options.budget));
  return changes;
}

std::unordered_map<std::string, std::string> ChangedBlobOptions(const BlobOptions& blobs) {
  return {{"enable_blob_files", blobs.min_bytes > 0 ? "true" : "false"},
          {"min_blob_size", std::to_string(blobs.min_bytes)},
          {"blob_file_size", std::to_string(blobs.file_bytes)},
          {"blob_compression_type", CompressionOf(blobs.compression).name}};
}

}  // namespace cairn
