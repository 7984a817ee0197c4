// SPDX-License-Identifier: BSD-3-Clause
//
// StoreOptions: the options of Store::Open.
#pragma once

#include <cstdint>
#include <string>

#include "storage/budget.h"

namespace cairn {

struct StoreOptions {
  std::string dir;  // created when missing
  int databases = 16;
  Budget budget;
  uint64_t compaction_bytes_per_second = 0;  // 0: no limit
  int background_jobs = 2;
  int subcompactions = 2;
  uint64_t wal_bytes = 256ull << 20;  // memtables are flushed at this size to free old logs
  bool keeps_logs = false;            // for LogReader, until DropOldLogs (storage/old_logs.h)
  uint64_t blob_bytes = 64 * 1024;    // larger values go to blob files; 0: no value does
  uint64_t most_open_tables = 0;      // 0: no limit (storage/open_tables.h)
  bool direct_io = false;
  bool bottom_zstd = true;
  bool imports = false;  // for one transaction that only writes: see docs/decisions/import.md
};

}  // namespace cairn
