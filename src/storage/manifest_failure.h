// SPDX-License-Identifier: BSD-3-Clause
//
// ManifestFailure: whether the last write of the manifest, the file that names the tables of a database, has failed.
//
// It is not known then which tables a start will find in it, so no table may be deleted until a new manifest is in
// place. RocksDB 7.8 disables the deletion of files after most of these failures, but not after those of CompactFiles,
// DeleteFilesInRange and SetOptions, and its recovery from the next error ends the process with an assertion then
// (DBImpl::ResumeImpl). So this class disables it at once, whatever RocksDB was doing.
//
// Thread: any.
#pragma once

#include <atomic>

#include "base/mutex.h"

namespace rocksdb {
class DB;
}  // namespace rocksdb

namespace cairn {

class ManifestFailure {
 public:
  // The database whose files are kept; null before it is open and when it is about to be closed.
  void SetDatabase(rocksdb::DB* db);

  // A write has failed. The caller must not hold RocksDB's mutex: RocksDB writes the manifest without it.
  void NoteFailure();
  // A new manifest is in place.
  void NoteReplaced() { has_failed_ = false; }
  bool has_failed() const { return has_failed_; }

  // Enables the deletion of files if a new manifest is in place. Called ten times a second; mostly cheap, but then it
  // lists the data directory and deletes files, and a write that fails meanwhile waits for that.
  void Watch();

 private:
  std::atomic<bool> has_failed_ = false;
  Mutex mutex_;
  rocksdb::DB* db_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::atomic<int> disables_ = 0;  // calls of DisableFileDeletions without one of EnableFileDeletions; set with mutex_
};

}  // namespace cairn
