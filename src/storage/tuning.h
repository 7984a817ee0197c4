// SPDX-License-Identifier: BSD-3-Clause
//
// Tuning: translates Cairn's directives into RocksDB's options (rocksdb/options.h), in one place.
//
// Level compaction with dynamic level sizes; Snappy, and Zstd at the bottom level; index and filter blocks inside the
// block cache, so that they count against the budget; a Bloom filter for point reads that ask whether a row is new;
// compaction triggered by dense tombstones as well as by size; a bounded manifest and log; large values in blob files.
// Thread: only used while opening.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <memory>
#include <string>
#include <unordered_map>

#include "encoding/row_key.h"
#include "encoding/storage_mode.h"
#include "storage/store_options.h"

namespace cairn {

// Objects shared by several column families.
struct SharedParts {
  std::shared_ptr<rocksdb::Cache> block_cache;
  std::shared_ptr<rocksdb::WriteBufferManager> write_buffers;
  std::shared_ptr<rocksdb::RateLimiter> rate_limiter;
  std::shared_ptr<rocksdb::Statistics> statistics;
};

// The value of RocksDB's rate limiter for "no limit", in bytes per second.
inline constexpr int64_t kUnlimitedRate = int64_t{1} << 40;
// The number of files in level 0 from which on RocksDB delays writes, and of memtables at which it stops them.
inline constexpr int kLevel0Slowdown = 24;
inline constexpr int kMostMemtables = 24;

// The size of a table file, which is that of a flush.
uint64_t TableBytes(const Budget& budget);

// The spaces that have column families of their own for `storage-mode hdd`. The others have few, small rows.
inline constexpr Space kHddSpaces[] = {Space::kKeys, Space::kElements, Space::kScores};
// The name of a space's column family (docs/format.md, section 2).
const char* FamilyName(Space space, StorageMode mode = StorageMode::kSsd);

SharedParts MakeSharedParts(const StoreOptions& options);
rocksdb::DBOptions TuneDatabase(const StoreOptions& options, const SharedParts& parts);
// The options for opening a family. A start that replays the log writes a table whenever a memtable is full, without
// merging, so memtables are as large as tables. Nothing is compacted before the store knows which rows are alive.
rocksdb::ColumnFamilyOptions TuneFamily(Space space, StorageMode mode, const StoreOptions& options,
                                        const SharedParts& parts);
// The options to set after loading, for DB::SetOptions.
std::unordered_map<std::string, std::string> LoadedOptions(const StoreOptions& options);
// The options that change the blob files of later flushes and compactions, for DB::SetOptions.
std::unordered_map<std::string, std::string> ChangedBlobOptions(const BlobOptions& blobs);

}  // namespace cairn
