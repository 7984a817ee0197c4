// SPDX-License-Identifier: BSD-3-Clause
#include "storage/manifest_failure.h"

#include <rocksdb/db.h>

namespace cairn {

void ManifestFailure::SetDatabase(rocksdb::DB* db) {
  const MutexLock lock(mutex_);
  db_ = db;
}

void ManifestFailure::NoteFailure() {
  const MutexLock lock(mutex_);
  if (has_failed_.exchange(true) || db_ == nullptr) return;
  db_->DisableFileDeletions().PermitUncheckedError();  // it always succeeds
  ++disables_;
}

void ManifestFailure::Watch() {
  if (disables_ == 0 || has_failed_) return;
  const MutexLock lock(mutex_);
  if (db_ == nullptr || has_failed_) return;
  // Not forced, since a backup may have disabled it too. RocksDB's recovery may have enabled it already.
  for (; disables_ > 0; --disables_) db_->EnableFileDeletions(false).PermitUncheckedError();
}

}  // namespace cairn
