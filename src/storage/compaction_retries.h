// SPDX-License-Identifier: BSD-3-Clause
//
// CompactionRetries: how long a compaction of files that could not be compacted waits.
//
// RocksDB 7.8 runs a failed compaction again after a second, for as long as it fails
// (DBImpl::BackgroundCallCompaction). With a bad block in a table, it would write tables and delete them all the time,
// which wears the disk. So after the second failure each retry waits, twice as long as the one before and at most a
// minute.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <map>

#include "base/mutex.h"

namespace rocksdb {
struct CompactionJobInfo;
}  // namespace rocksdb

namespace cairn {

class CompactionRetries {
 public:
  // How long a compaction waits before it starts, in microseconds, by its input file with the most failures. 0 for a
  // manual compaction.
  int64_t DelayUs(const rocksdb::CompactionJobInfo& job) const;
  // Counts a failure for each input file, or forgets the files of a compaction that succeeded. A full disk does not
  // count, because a compaction may be what frees space.
  void NoteEnd(const rocksdb::CompactionJobInfo& job);

 private:
  mutable Mutex mutex_;
  std::map<uint64_t, int> failures_ ABSL_GUARDED_BY(mutex_);  // by the number of the file
};

}  // namespace cairn
