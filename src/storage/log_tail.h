// SPDX-License-Identifier: BSD-3-Clause
//
// LogTail: the newest log data, in memory, so that a reader at the log's end reads no file.
//
// While it is on, each commit leaves a copy of its log data here. Copies arrive out of order, because several threads
// write and RocksDB numbers their batches. A batch is shown only when all earlier ones have arrived, so the content
// and order are those of the write-ahead log. The tail is only a cache: a reader whose position is neither here nor
// still to come reads the log itself (storage/log_reader.h). A batch that never arrives, because its write failed
// half-way or did not write the log, is awaited for `kLongestGapUs`; then the tail restarts after it, and the gap must
// be read from the log.
//
// A reader at the log's end waits for news() until newest() passes its position, so a commit wakes it at once.
//
// Limited in bytes; the oldest batches are dropped. Not here: the format of log data (encoding/log_entry.h).
//
// Thread: any; guarded by mutex_, a leaf.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/event.h"
#include "base/mutex.h"

namespace cairn {

class LogTail {
 public:
  static constexpr int64_t kLongestGapUs = 100000;

  struct Batch {
    uint64_t sequence = 0;
    uint64_t next = 0;                           // sequence number of the next batch
    std::shared_ptr<const std::string> entries;  // null: it has no log data
  };
  enum class Place : unsigned char {
    kHere,
    kAhead,  // not written yet, or an earlier batch is missing
    kGone,   // older than all batches kept
  };

  explicit LogTail(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // While it is off, it is empty and a commit pays one comparison.
  void Turn(bool on);
  bool is_on() const { return on_.load(std::memory_order_acquire); }
  // Called when a batch of `count` rows was written with number `sequence`.
  void Note(uint64_t sequence, uint64_t count, std::string_view entries);
  // Finds the batch that begins at `sequence`. Batches without log data are skipped, so the result may be a later
  // batch, or the newest one without log data. `enters` is for a reader that comes from the files: it enters only
  // where it is not likely to fall behind again.
  Place Find(uint64_t sequence, bool enters, Batch& batch) const;
  // Waits until the batch that begins at `sequence` is here; false on timeout.
  bool Await(uint64_t sequence, int64_t most_us);
  // The sequence number after the newest batch that was noted.
  uint64_t newest() const { return newest_.load(std::memory_order_acquire); }
  // Notified when newest() grows, and by threads that want to end a reader's wait.
  Event& news() { return news_; }
  uint64_t most_bytes() const { return most_bytes_; }
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  static uint64_t SizeOf(const Batch& batch);
  void Take(Batch batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Append(Batch batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeWaiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SkipGap() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Clear() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint64_t most_bytes_;
  std::atomic<bool> on_{false};
  std::atomic<uint64_t> newest_{0};  // written with mutex_ held
  Event news_;
  mutable Mutex mutex_;
  CondVar arrived_;
  std::deque<Batch> batches_ ABSL_GUARDED_BY(mutex_);          // without gaps
  uint64_t next_ ABSL_GUARDED_BY(mutex_) = 0;                  // the number after the last of batches_; 0: none yet
  std::map<uint64_t, Batch> waiting_ ABSL_GUARDED_BY(mutex_);  // for an earlier batch
  uint64_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t gap_since_us_ ABSL_GUARDED_BY(mutex_) = 0;
  int awaiting_ ABSL_GUARDED_BY(mutex_) = 0;
  std::atomic<uint64_t> bytes_{0};  // of batches_
};

}  // namespace cairn
