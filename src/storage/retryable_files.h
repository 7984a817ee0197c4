// SPDX-License-Identifier: BSD-3-Clause
//
// Files with I/O errors that RocksDB can recover from by itself.
//
// RocksDB 7.8 recovers well from one kind of error only, the retryable I/O error: the recovery starts with the error,
// begins a new log and, if the manifest failed, a new manifest, and retries every second
// (Options::max_bgerror_resume_count). After a full disk and after DB::Resume, however, a flush that was about to
// start is lost and the recovery waits for it for ever; and the database counts as stopped although it is not: Flush
// no longer waits, and ingestion uses file number 0. So all I/O errors are made retryable, also those of a full disk.
// That is safe because nothing is appended to a file that failed. Errors of reads are among them: a compaction that
// cannot read a table runs again, and without this RocksDB would refuse all writes until the next start.
//
// After an error of the manifest, no table is deleted until a new manifest is in place: the failed one may name it
// (storage/manifest_failure.h).
//
// Thread: any.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>

namespace cairn {

class ManifestFailure;

// Failures of the manifest, and that a new one is in place, are noted in `manifest`.
std::shared_ptr<rocksdb::FileSystem> MakeRetryableFiles(std::shared_ptr<rocksdb::FileSystem> files,
                                                        std::shared_ptr<ManifestFailure> manifest);

}  // namespace cairn
