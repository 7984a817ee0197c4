// SPDX-License-Identifier: BSD-3-Clause
//
// What the store does about I/O errors. RocksDB recovers by itself (storage/retryable_files.h). Here is what the server
// sees of it, and what happens where RocksDB cannot.

#include <rocksdb/db.h>

#include <algorithm>
#include <string>

#include "base/clock.h"
#include "base/end_process.h"
#include "base/log.h"
#include "storage/log_files.h"
#include "storage/store.h"

namespace cairn {
namespace {

// RocksDB tries again a second after a failure. A try that takes longer flushes, or waits for a compaction to end.
constexpr int64_t kLongestIdleUs = 10 * 1000 * 1000;
constexpr const char* kStartAgain = ". What was acknowledged is in the data directory; start the server again.";

// DB::Close of 7.8 ends a recovery and then waits for it for ever: RecoverFromRetryableBGIOError leaves its mark set.
[[noreturn]] void EndUnclosed(const std::string& error) {
  EndProcess("RocksDB cannot be closed while it recovers from " + error + kStartAgain);
}

}  // namespace

std::string Store::write_error() const {
  const std::lock_guard lock(error_mutex_);
  return write_error_;
}

void Store::NoteWriteError(const rocksdb::Status& error) {
  EndIfLogIsLost(error.ToString(), false);
  const std::lock_guard lock(error_mutex_);
  write_error_ = error.ToString();
  recovery_seen_us_ = error.IsIOError() ? MonotonicUs() : INT64_MAX;
  writable_ = false;
  if (is_closing_ && error.IsIOError()) EndUnclosed(write_error_);
}

void Store::PrepareClose() {
  is_closing_ = true;
  if (!writable_ && recovery_seen_us_ != INT64_MAX) EndUnclosed(write_error());
}

void Store::NoteRecovered() {
  EndIfLogIsLost(write_error(), true);
  {
    const std::lock_guard lock(error_mutex_);
    write_error_.clear();
    if (writable_.exchange(true)) return;
  }
  Log(LogSeverity::kNotice, "storage: recovered from an error, writes are accepted");
}

// A new log begins with a flush. Where there is nothing to flush RocksDB would go on in the log that failed.
void Store::EndIfLogIsLost(const std::string& error, bool has_recovered) {
  const LogFiles* const logs = env_->GetFileSystem()->CheckedCast<LogFiles>();
  if (!logs->has_failed_log()) return;
  if (!has_recovered && Property(rocksdb::DB::Properties::kNumEntriesActiveMemTable) != 0) return;
  EndProcess("the log failed just after a flush, and there is no going on in it: " + error + kStartAgain);
}

void Store::WatchRecovery() {
  if (writable()) return;
  for (const std::string& running :
       {rocksdb::DB::Properties::kNumRunningFlushes, rocksdb::DB::Properties::kNumRunningCompactions}) {
    if (Property(running) != 0) recovery_seen_us_ = std::max(recovery_seen_us_.load(), MonotonicUs());
  }
  if (MonotonicUs() - recovery_seen_us_ < kLongestIdleUs) return;
  EndProcess("RocksDB no longer tries to recover from " + write_error() + kStartAgain);
}

}  // namespace cairn
