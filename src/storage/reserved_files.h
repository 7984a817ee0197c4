// SPDX-License-Identifier: BSD-3-Clause
//
// RocksDB's files as users of the disk reserve (storage/disk_reserve.h): what is written is counted, and a compaction
// is refused the room that flushes and deletes need. RocksDB's SstFileManager could refuse a compaction before it
// begins, but goes by the size of its input; where most rows are deleted, which is how a full disk gets room again, the
// output is small.
//
// A compaction that is refused fails with NoSpace. It has changed nothing, and RocksDB runs it again a second later.
//
// Thread: any.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>

#include "storage/disk_reserve.h"

namespace cairn {

// Says that tables and blob files which this thread creates are a compaction's output, or no longer.
void MarkCompactionOutput(bool on);

// `reserve` must live as long as the files.
std::shared_ptr<rocksdb::FileSystem> MakeReservedFiles(std::shared_ptr<rocksdb::FileSystem> files,
                                                       DiskReserve& reserve);

}  // namespace cairn
