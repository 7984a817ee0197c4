// SPDX-License-Identifier: BSD-3-Clause
//
// LogTail: the newest log data in memory, so that whoever reads the log at its end reads no file.
//
// While it is on, each commit leaves a copy of its log data here when it is written. Commits come out of order
// (several threads write, RocksDB numbers them); a batch is shown only when all before it are there, so what is read
// here is what the write-ahead log has, in its order. It is an aid: a reader that finds its place neither here nor
// still to come reads the log itself (storage/log_reader.h). A batch that never comes, for its write failed half-way or
// left the log out, is waited for `kLongestGapUs`; then the tail begins anew after it, and the log says what was there.
//
// A reader at the log's end waits for news() until newest() is beyond its place, so a commit wakes it at once.
//
// Bounded by bytes; the oldest go. Not here: what a batch means, which is encoding/log_entry.h's.
//
// Thread: any; guarded by mutex_, a leaf.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/event.h"

namespace cairn {

class LogTail {
 public:
  static constexpr int64_t kLongestGapUs = 100000;

  struct Batch {
    uint64_t sequence = 0;
    uint64_t next = 0;                           // of the batch after it
    std::shared_ptr<const std::string> entries;  // null: it has no log data
  };
  enum class Place : unsigned char {
    kHere,
    kAhead,  // not written yet, or one before it is missing
    kGone,   // older than all that is kept
  };

  explicit LogTail(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // Off, it is empty and a commit pays one comparison.
  void Turn(bool on);
  bool is_on() const { return on_.load(std::memory_order_acquire); }
  // A batch of `count` rows was written as number `sequence`.
  void Note(uint64_t sequence, uint64_t count, std::string_view entries);
  // The batch that begins at `sequence`; those without log data are passed over, so it may be a later one, or one
  // without after which nothing is known yet. A reader that comes from the files `enters` only where it is not about to
  // fall behind again.
  Place Find(uint64_t sequence, bool enters, Batch& batch) const;
  // Waits until the batch that begins at `sequence` is here; false: it did not come in time.
  bool Await(uint64_t sequence, int64_t most_us);
  // The sequence after the newest batch that was noted.
  uint64_t newest() const { return newest_.load(std::memory_order_acquire); }
  // Notified when newest() grows, and by other threads that want to end a reader's wait.
  Event& news() { return news_; }
  uint64_t most_bytes() const { return most_bytes_; }
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  static uint64_t SizeOf(const Batch& batch);
  // REQUIRES, all: mutex_ is held.
  void Take(Batch batch);
  void Append(Batch batch);
  void TakeWaiting();
  void SkipGap();
  void Clear();

  const uint64_t most_bytes_;
  std::atomic<bool> on_{false};
  std::atomic<uint64_t> newest_{0};  // written with mutex_ held
  Event news_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Batch> batches_;          // without gaps; guarded by mutex_, like what follows
  uint64_t next_ = 0;                  // the number after them; 0: there has been none
  std::map<uint64_t, Batch> waiting_;  // for one before them
  uint64_t waiting_bytes_ = 0;
  int64_t gap_since_us_ = 0;
  int awaiting_ = 0;
  std::atomic<uint64_t> bytes_{0};  // of batches_
};

}  // namespace cairn
