// SPDX-License-Identifier: BSD-3-Clause
//
// Offline: the common part of cairn-import and cairn-export: opens a data directory without a server. RocksDB allows
// only one process at a time.
//
// Thread: main.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "storage/store.h"

namespace cairn {

// The options of both programs, except the file.
struct OfflineOptions {
  std::string dir;
  int databases = 16;
  std::string memory_budget;  // as in the configuration file; empty: a share of the machine's memory
};

// An import creates a missing directory, and tunes the store for writing.
enum class OfflineUse : unsigned char { kImport, kExport };

// Opens the store of the directory. Thread: main; waits.
Result<std::unique_ptr<Store>> OpenOffline(const OfflineOptions& options, OfflineUse use);

// Prints the error to the standard error stream; returns the exit status for it.
int RefuseOffline(const char* program, const Status& status);

}  // namespace cairn
