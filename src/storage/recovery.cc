// SPDX-License-Identifier: BSD-3-Clause
#include "storage/recovery.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/listener.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/end_process.h"
#include "base/log.h"
#include "base/thread.h"
#include "storage/compaction_retries.h"
#include "storage/log_files.h"
#include "storage/reserved_files.h"

namespace cairn {
namespace {

// RocksDB retries a second after a failure. A longer attempt shows running flushes or waits for a compaction.
constexpr int64_t kLongestIdleUs = 10 * 1000 * 1000;
constexpr int64_t kLogPauseUs = 60 * 1000 * 1000;             // between messages about failed compactions
constexpr auto kRetryPause = std::chrono::milliseconds(100);  // between looks whether a compaction may start
constexpr const char* kStartAgain = ". All acknowledged writes are in the data directory; start the server again.";

// DB::Close of 7.8 ends a recovery and then waits for it for ever: RecoverFromRetryableBGIOError leaves its flag set.
[[noreturn]] void EndUnclosed(const std::string& error) {
  EndProcess("RocksDB cannot be closed while it recovers from " + error + kStartAgain);
}

}  // namespace

// Receives errors of RocksDB's background work and the start of its jobs.
//
// A recovery has a thread of its own. RocksDB 7.8 reports the end before that thread has reset the flag that the
// database is stopped. Until then Flush does not wait and ingestion uses file number 0, which aborts the process. So
// the recovery counts as ended when its thread ends.
//
// A failed compaction is not an error of the database: it has changed nothing, and RocksDB runs it again, delayed by
// CompactionRetries. After corruption reads are served and writes refused, until a restart.
//
// Thread: RocksDB's background threads, and writers.
class Recovery::Listener : public rocksdb::EventListener {
 public:
  explicit Listener(Recovery& recovery) : recovery_(recovery) {}

  void OnFlushBegin(rocksdb::DB*, const rocksdb::FlushJobInfo&) override { LengthenOwnTurns(); }
  void OnCompactionBegin(rocksdb::DB*, const rocksdb::CompactionJobInfo& job) override {
    LengthenOwnTurns();
    WaitToRetry(retries_.DelayUs(job));
  }
  void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo& job) override { retries_.NoteEnd(job); }
  void OnSubcompactionBegin(const rocksdb::SubcompactionJobInfo&) override { MarkCompactionOutput(true); }
  void OnSubcompactionCompleted(const rocksdb::SubcompactionJobInfo&) override { MarkCompactionOutput(false); }

  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override {
    if (error->IsIOError() && reason == rocksdb::BackgroundErrorReason::kCompaction) {
      return NoteFailedCompaction(*error);
    }
    recovery_.NoteError(*error);
  }
  void OnErrorRecoveryEnd(const rocksdb::BackgroundErrorRecoveryInfo& info) override {
    if (!info.new_bg_error.ok()) return;
    recovery_.NoteRecovered();
    thread_local ThreadEnd end;
    end.recovery = &recovery_;
  }

 private:
  struct ThreadEnd {
    ~ThreadEnd() { recovery->NoteThreadEnd(); }
    Recovery* recovery = nullptr;
  };

  // The close and a recovery wait for running compactions, so they end the delay.
  void WaitToRetry(int64_t delay_us) const {
    const int64_t end_us = MonotonicUs() + delay_us;
    while (MonotonicUs() < end_us && recovery_.writable() && !recovery_.is_closing_) {
      std::this_thread::sleep_for(kRetryPause);
    }
  }

  // RocksDB runs the compaction again, so it may fail often.
  void NoteFailedCompaction(const rocksdb::Status& error) {
    const int64_t now_us = MonotonicUs();
    if (now_us < next_log_us_) return;
    next_log_us_ = now_us + kLogPauseUs;
    Log(LogSeverity::kWarning, "storage: a compaction failed and runs again: {}", error.ToString());
  }

  static void LengthenOwnTurns() {
    thread_local const bool once = (LengthenTurns(), true);
    static_cast<void>(once);
  }

  Recovery& recovery_;
  CompactionRetries retries_;
  std::atomic<int64_t> next_log_us_{0};
};

std::shared_ptr<rocksdb::EventListener> Recovery::MakeListener() { return std::make_shared<Listener>(*this); }

std::string Recovery::write_error() const {
  const MutexLock lock(mutex_);
  return write_error_;
}

void Recovery::NoteError(const rocksdb::Status& error) {
  EndIfLogIsLost(error.ToString(), false);
  const MutexLock lock(mutex_);
  write_error_ = error.ToString();
  has_recovered_ = false;
  seen_us_ = error.IsIOError() ? MonotonicUs() : INT64_MAX;
  writable_ = false;
  if (is_closing_ && error.IsIOError()) EndUnclosed(write_error_);
}

void Recovery::PrepareClose() {
  is_closing_ = true;
  if (!writable_ && seen_us_ != INT64_MAX) EndUnclosed(write_error());
}

void Recovery::NoteRecovered() {
  EndIfLogIsLost(write_error(), true);
  const MutexLock lock(mutex_);
  has_recovered_ = true;
}

void Recovery::NoteThreadEnd() {
  {
    const MutexLock lock(mutex_);
    if (!has_recovered_ || writable_) return;
    write_error_.clear();
    writable_ = true;
  }
  Log(LogSeverity::kNotice, "storage: recovered from an error, writes are accepted");
}

// A new log starts with a flush. With nothing to flush, RocksDB would continue in the log that failed.
void Recovery::EndIfLogIsLost(const std::string& error, bool has_recovered) {
  if (!engine_.log_files().has_failed_log()) return;
  if (!has_recovered && engine_.Property(rocksdb::DB::Properties::kNumEntriesActiveMemTable) != 0) return;
  EndProcess("the log failed just after a flush, and RocksDB cannot go on writing it: " + error + kStartAgain);
}

void Recovery::Watch() {
  if (writable()) return;
  for (const std::string& running :
       {rocksdb::DB::Properties::kNumRunningFlushes, rocksdb::DB::Properties::kNumRunningCompactions}) {
    if (engine_.Property(running) != 0) seen_us_ = std::max(seen_us_.load(), MonotonicUs());
  }
  if (MonotonicUs() - seen_us_ < kLongestIdleUs) return;
  EndProcess("RocksDB no longer tries to recover from " + write_error() + kStartAgain);
}

}  // namespace cairn
