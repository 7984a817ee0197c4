// SPDX-License-Identifier: BSD-3-Clause
//
// RocksDB's files as users of the disk reserve (storage/disk_reserve.h): bytes written are counted, and a compaction
// is refused the space that flushes and deletes need. RocksDB's SstFileManager can refuse a compaction before it
// starts, but judges by its input size. The compactions that free a full disk have a small output, because most of
// their rows are deleted.
//
// A refused compaction fails with NoSpace. It has changed nothing, and RocksDB runs it again a second later.
//
// Thread: any.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>

#include "storage/disk_reserve.h"

namespace cairn {

// Turned on, files that this thread creates count as a compaction's output.
void MarkCompactionOutput(bool on);

// `reserve` must outlive the files.
std::shared_ptr<rocksdb::FileSystem> MakeReservedFiles(std::shared_ptr<rocksdb::FileSystem> files,
                                                       DiskReserve& reserve);

}  // namespace cairn
