// SPDX-License-Identifier: BSD-3-Clause
//
// What the size of the disk has to do with RocksDB's sizes. On a disk of a few hundred megabytes, logs, memtables and
// tables of the usual size would be all there is.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <string>

#include "storage/store.h"

namespace cairn {

// The same with memtables and logs that are a small share of the disk. Disks of 16 GB and more change nothing.
StoreOptions FitToDisk(StoreOptions options);
// What memtables may take together.
uint64_t MostMemtables(const std::string& dir);

}  // namespace cairn
