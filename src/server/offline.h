// SPDX-License-Identifier: BSD-3-Clause
//
// Offline: what cairn-import and cairn-export have in common: a data directory that is opened
// without a server. RocksDB lets one process at a time have it.
//
// Thread: main.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "storage/store.h"

namespace cairn {

// What both are told on the command line, besides the file.
struct OfflineOptions {
  std::string dir;
  int databases = 16;
  std::string memory_budget;  // as in the configuration file; empty: a share of the machine's
};

// An import makes the directory when it is missing, and has the store tuned for writing.
enum class OfflineUse : unsigned char { kImport, kExport };

// Opens the store of the directory. Thread: main; waits.
Result<std::unique_ptr<Store>> OpenOffline(const OfflineOptions& options, OfflineUse use);

// Prints what is wrong to the standard error stream; the exit status for it.
int RefuseOffline(const char* program, const Status& status);

}  // namespace cairn
