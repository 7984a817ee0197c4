// SPDX-License-Identifier: BSD-3-Clause
//
// StoreOptions: the options of Store::Open.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encoding/storage_mode.h"
#include "storage/budget.h"

namespace cairn {

enum class BlobCompression : unsigned char { kNone, kSnappy, kLz4, kZstd };

// Blob files, which hold large values (docs/decisions/blob-files.md).
struct BlobOptions {
  uint64_t min_bytes = 16 << 10;  // larger values go to blob files; 0: no value does
  uint64_t file_bytes = 64 << 20;
  BlobCompression compression = BlobCompression::kSnappy;
  int garbage_percent = 20;         // the garbage collection begins above this share of all bytes
  uint64_t garbage_step_bytes = 0;  // of values that one compaction moves; 0: by what a flush writes

  bool operator==(const BlobOptions&) const = default;
};

struct StoreOptions {
  std::string dir;  // created when missing
  int databases = 16;
  std::vector<StorageMode> modes;  // by database, of those that are empty; the others keep theirs
  bool in_memory = false;          // without files (storage/row_engines.h)
  Budget budget;
  uint64_t compaction_bytes_per_second = 0;  // 0: no limit
  int background_jobs = 3;
  int subcompactions = 2;
  uint64_t wal_bytes = 256ull << 20;  // memtables are flushed at this size to free old logs
  bool keeps_logs = false;            // for LogReader, until DropOldLogs (storage/old_logs.h)
  BlobOptions blobs;
  uint64_t most_open_tables = 0;  // 0: no limit (storage/open_tables.h)
  bool direct_io = false;
  bool bottom_zstd = true;
  bool imports = false;  // for one transaction that only writes: see docs/decisions/import.md
};

}  // namespace cairn
