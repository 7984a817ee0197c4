// SPDX-License-Identifier: BSD-3-Clause
//
// Tuning: Cairn's directives as RocksDB's options (rocksdb/options.h), in one place.
//
// Level compaction with dynamic level sizes; Snappy above and Zstd at the bottom; index and filter partitions
// inside the block cache, so that they count against the budget; a Bloom filter for the point reads that ask
// whether something is new; compaction started by dense tombstones as well as by size; a bounded manifest and
// log; large values in blob files. Thread: opening only.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <memory>
#include <string>
#include <unordered_map>

#include "encoding/row_key.h"
#include "storage/store_options.h"

namespace cairn {

// What several families share.
struct SharedParts {
  std::shared_ptr<rocksdb::Cache> block_cache;
  std::shared_ptr<rocksdb::WriteBufferManager> write_buffers;
  std::shared_ptr<rocksdb::RateLimiter> rate_limiter;
  std::shared_ptr<rocksdb::Statistics> statistics;
};

// Stands for "no limit" in RocksDB's rate limiter, in bytes per second.
inline constexpr int64_t kUnlimitedRate = int64_t{1} << 40;

// The size of a table, which is that of a flush.
uint64_t TableBytes(const Budget& budget);

SharedParts MakeSharedParts(const StoreOptions& options);
rocksdb::DBOptions TuneDatabase(const StoreOptions& options, const SharedParts& parts);
// As a family is opened. A start that replays the log writes a table whenever a memtable is full and merges none, so
// memtables are as large as tables, and nothing is compacted before the store knows what is alive.
rocksdb::ColumnFamilyOptions TuneFamily(Space space, const StoreOptions& options, const SharedParts& parts);
// What changes once the store is loaded, for DB::SetOptions.
std::unordered_map<std::string, std::string> LoadedOptions(const StoreOptions& options);

}  // namespace cairn
