// SPDX-License-Identifier: BSD-3-Clause
//
// Files whose I/O errors RocksDB recovers from by itself.
//
// RocksDB 7.8 recovers well from one kind of error alone, the retryable I/O error: its recovery is under way from the
// moment of the error, begins a new log and, if it was the manifest that failed, a new manifest, and tries again every
// second (Options::max_bgerror_resume_count). After a full disk and after DB::Resume, on the other hand, a flush that
// was about to begin is lost, for which the recovery then waits for ever, and the database counts as stopped although
// it is not: Flush no longer waits, and ingestion takes file number 0. So all I/O errors are retryable, also of a full
// disk: nothing is added to a file that failed.
//
// Thread: any.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>

namespace cairn {

std::shared_ptr<rocksdb::FileSystem> MakeRetryableFiles(std::shared_ptr<rocksdb::FileSystem> files);

}  // namespace cairn
