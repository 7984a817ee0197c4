// SPDX-License-Identifier: BSD-3-Clause
#include "storage/compaction_retries.h"

#include <rocksdb/listener.h>

#include <algorithm>

namespace cairn {
namespace {

constexpr int64_t kFirstDelayUs = 1000 * 1000;
constexpr int64_t kMostDelayUs = 60 * kFirstDelayUs;
constexpr int kMostDoublings = 6;  // more would be beyond kMostDelayUs

}  // namespace

int64_t CompactionRetries::DelayUs(const rocksdb::CompactionJobInfo& job) const {
  if (job.compaction_reason == rocksdb::CompactionReason::kManualCompaction) return 0;
  int failures = 0;
  const MutexLock lock(mutex_);
  for (const rocksdb::CompactionFileInfo& file : job.input_file_infos) {
    const auto found = failures_.find(file.file_number);
    if (found != failures_.end()) failures = std::max(failures, found->second);
  }
  if (failures < 2) return 0;
  return std::min(kMostDelayUs, kFirstDelayUs << std::min(failures - 2, kMostDoublings));
}

void CompactionRetries::NoteEnd(const rocksdb::CompactionJobInfo& job) {
  if (!job.status.ok() && (!job.status.IsIOError() || job.status.IsNoSpace())) return;
  const MutexLock lock(mutex_);
  for (const rocksdb::CompactionFileInfo& file : job.input_file_infos) {
    if (job.status.ok()) {
      failures_.erase(file.file_number);
    } else {
      ++failures_[file.file_number];
    }
  }
}

}  // namespace cairn
