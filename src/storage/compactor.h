// SPDX-License-Identifier: BSD-3-Clause
//
// Compactor: compactions of many files at once: those of COMPACT and those of the schedule. Deleted, expired and
// overwritten rows then take no space.
//
// It works in small steps (storage/stepwise_compaction.h), under `compaction-rate-limit` and the disk reserve. While
// automatic compactions are behind, no step begins; otherwise RocksDB would soon stop the writes. Only blob files are
// collected in large steps, which are interrupted at such times. A scheduled compaction moves the rows of the upper
// levels down and leaves the last level alone, unless many of its rows died without a tombstone (dropped collections
// and keyspaces). COMPACT rewrites the last level too.
//
// At most one runs at a time. COMPACT cancels a scheduled one, which is then due again.
//
// The row `compacted` (docs/format.md, section 6) holds the time of the last compaction of everything, so that restarts
// do not change the schedule.
//
// Thread: any. The schedule runs on "compaction".
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "base/result.h"
#include "storage/compaction_schedule.h"
#include "storage/compaction_scope.h"

namespace rocksdb {
class EventListener;
}  // namespace rocksdb

namespace cairn {

class Store;
struct RowPlace;

// A compaction that runs or has ended.
struct CompactionProgress {
  bool is_running = false;
  CompactionReason reason = CompactionReason::kCommand;
  std::string scope;
  int64_t started_ms = 0;  // Unix time; 0: there was none since the start
  int64_t ended_ms = 0;
  std::string result;         // "ok", "cancelled" or the error; empty while it runs
  uint64_t ranges = 0;        // to compact
  uint64_t ranges_done = 0;   // compacted
  uint64_t bytes_before = 0;  // of all files, at its start
  uint64_t bytes_after = 0;   // at its end
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;

  // An estimate: every byte is read once or more, as its level is far from the last.
  int percent() const {
    if (!is_running) return started_ms == 0 ? 0 : 100;
    return static_cast<int>(bytes_before == 0 ? 0 : std::min<uint64_t>(99, bytes_read * 100 / bytes_before));
  }
};

class Compactor {
 public:
  struct Totals {
    uint64_t completed = 0;
    uint64_t cancelled = 0;
    uint64_t failed = 0;
  };

  explicit Compactor(Store& store);
  ~Compactor();

  // ---- called once each, by the owner
  // Reads the row `compacted`, or writes it. Before other threads use the store.
  Status Load();
  // Starts the thread. No scheduled compaction runs before.
  void Start();
  // Cancels what runs and ends the thread. Later compactions are refused.
  void Stop();

  void SetSchedule(const CompactionSchedule& schedule);
  // Cancels a scheduled compaction at the end of the window, and holds any back while automatic compactions are urgent.
  // Cheap; must be called regularly.
  void Watch();

  // Asks for a scheduled compaction of everything soon, also outside of the window: max-data-size bounds the disk, and
  // the garbage of evictions is much of it. Cheap.
  void RequestForSizeLimit() { is_requested_ = true; }
  // Whether such a compaction runs.
  bool runs_for_size_limit() const;
  // Whether nobody has counted many rows that died without a tombstone, and a compaction may drop them: those of
  // databases that were flushed since the last compaction of everything, and those of before the start.
  bool has_unknown_garbage() const;
  // Whether a compaction for the size limit may free space that nobody has counted, and the last ones have not taken
  // much of the time: something was flushed, however few its keys were, or, if `is_full`, something was written. (A
  // flushed key may have had any number of elements, and a deleted key a large value.)
  bool may_find_garbage(bool is_full) const;
  // Compacts `scope` at a low priority, and returns when it is done. A reply for the client if another COMPACT runs, or
  // if it was cancelled.
  Status Compact(const CompactionScope& scope);
  // Compacts `scope` on "compaction". A reply for the client if another COMPACT runs. REQUIRES: Start was called.
  Status StartCompacting(CompactionScope scope);
  // Cancels the compaction that runs or is about to start; false if there is none.
  bool Cancel();

  // ---- what INFO and COMPACT STATUS show
  CompactionProgress Progress() const;
  Totals totals() const;
  // Row writes since the last compaction of everything.
  uint64_t writes() const;
  // The Unix time of that compaction, in ms.
  int64_t last_ms() const { return last_ms_; }

  // ---- storage/ calls this
  // A listener that counts the bytes of the compactions. It must not outlive this object.
  std::shared_ptr<rocksdb::EventListener> MakeListener();

 private:
  class Listener;

  Status Run(const CompactionScope& scope, CompactionReason reason);
  Status Begin(const CompactionScope& scope, CompactionReason reason);
  void End(const CompactionScope& scope, const Status& status);
  Status CompactRanges(const CompactionScope& scope, CompactionReason reason);
  Status CompactRange(const CompactionRange& range, CompactionReason reason);
  Status CompactFamily(const RowPlace& place, const CompactionRange& range, CompactionReason reason);
  Status AwaitTurn(bool is_stuck);
  bool AwaitAutomaticCompactions();
  Status CollectBlobs(Space space, double share);
  Status CollectRestingBlobs();
  bool MustRewriteBottom(Space space) const;
  bool HasFlushedKeys() const;
  bool MayRewriteForFlush() const;
  bool HasManyOrphans() const;
  void ForgetOrphans(uint64_t counted);
  Status NoteCompacted(uint64_t sequence, int64_t unix_ms);
  void RunThread();
  void RunIfDue();
  void EndSoon() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint64_t FileBytes() const;

  Store& store_;
  std::atomic<bool> interrupted_{false};  // RocksDB's flag of the running collection of blob files
  std::atomic<bool> canceled_{false};     // the compaction does not go on after its step or the interruption
  std::atomic<uint64_t> bytes_read_{0};
  std::atomic<uint64_t> bytes_written_{0};
  std::atomic<uint64_t> last_sequence_{0};  // RocksDB's number when everything was compacted last
  std::atomic<int64_t> last_ms_{0};
  std::atomic<bool> is_requested_{false};        // RequestForSizeLimit
  std::atomic<int64_t> retry_ms_{0};             // monotonic; no compaction of the schedule starts before
  std::atomic<int64_t> size_limit_retry_ms_{0};  // the same for the size limit
  std::atomic<int64_t> search_ms_{0};            // monotonic; the size limit's next search for uncounted garbage
  std::atomic<int64_t> flush_search_ms_{0};      // the same for garbage of a flush
  mutable Mutex mutex_;
  CondVar wake_;  // the compaction has ended, or the thread has work
  CompactionSchedule schedule_ ABSL_GUARDED_BY(mutex_);
  CompactionProgress progress_ ABSL_GUARDED_BY(mutex_);
  Totals totals_ ABSL_GUARDED_BY(mutex_);
  std::optional<CompactionScope> queued_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool insists_ ABSL_GUARDED_BY(mutex_) = false;  // it is not interrupted until automatic compactions have caught up
  // LazyFree's counters at the last compaction of everything that dropped these rows.
  std::atomic<uint64_t> orphans_{0};
  std::atomic<uint64_t> flushed_keys_{0};
  bool drops_all_ = false;      // the compaction that runs rewrites the last level of all spaces
  bool drops_orphans_ = false;  // that of elements and scores
  std::thread thread_;
};

}  // namespace cairn
