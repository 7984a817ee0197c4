// SPDX-License-Identifier: BSD-3-Clause
//
// WriteAheadLog: all writes after the store was opened, and the syncs that they wait for.
//
// Under `appendfsync always`, or `durability always` of a database that it used, a commit is appended to the log, then
// synced, and only then made visible (CommitBatch::Append, Publish). RocksDB's WriteOptions::sync cannot be used
// (RocksDB 7.8): a batch whose fsync fails is refused but stays in the log, and its sequence numbers are used again, so
// a later reader of the log takes it for the acknowledged batch. A failed append leaves at most a part of a record,
// which no reader accepts.
//
// Commits that wait at the same time share one fsync: one thread syncs for all that are appended by then.
//
// After a failed fsync the content of the disk is unknown, and the kernel may report success for the next fsync
// although pages were lost. So the process ends, as Redis does, before any client gets a reply.
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "storage/engine.h"
#include "storage/log_tail.h"
#include "storage/recovery.h"

namespace rocksdb {
class WriteBatch;
struct WriteOptions;
}  // namespace rocksdb

namespace cairn {

class WriteAheadLog {
 public:
  WriteAheadLog(Engine& engine, const Recovery& recovery);

  // Makes all commits so far survive a power loss. While commits are synced, a failed fsync ends the process.
  Status Sync() { return SyncUpTo(LatestSequence()); }
  // Whether a commit that used the database, if it is on disk, is synced before it is visible (CommitBatch::must_sync).
  // kNoDatabase: one that used none, or that carries notes, as those of a replica do.
  static constexpr int kNoDatabase = -1;
  bool Syncs(int db) const { return syncs_[static_cast<size_t>(db + 1)].load(std::memory_order_relaxed); }
  // Whether commits on a database are.
  bool syncs_commits() const { return syncs_commits_.load(std::memory_order_relaxed); }
  // `syncs`: kNoDatabase first, then each database. If one is on, syncs all earlier commits; on an error none is on.
  Status SetSyncsCommits(const std::vector<bool>& syncs);
  // Whether Sync is to be called each second, for commits that are not synced.
  bool syncs_each_second() const { return syncs_each_second_.load(std::memory_order_relaxed); }
  void SetSyncsEachSecond(bool on) { syncs_each_second_ = on; }
  Status SetSyncsCommits(bool all) { return SetSyncsCommits(std::vector<bool>(syncs_.size(), all)); }
  // Waits until the log is on disk up to a written sequence number. If the sync fails, the process ends.
  void MakeDurable(uint64_t sequence);
  // Makes everything appended so far visible to readers of the log.
  void MakeReadable() {
    if (syncs_commits()) MakeDurable(LatestSequence());
  }
  // Grows with every write.
  uint64_t LatestSequence() const;
  // The last number that readers of the log may see: the one before the first commit that must be synced and is not.
  uint64_t ReadableSequence() const;
  // While it exists, readers of the log do not see what was written after its construction, unless it is synced.
  class Unsynced {
   public:
    explicit Unsynced(WriteAheadLog& log);
    ~Unsynced();
    Unsynced(const Unsynced&) = delete;
    Unsynced& operator=(const Unsynced&) = delete;

   private:
    WriteAheadLog& log_;
    const uint64_t before_;
  };

  LogTail& tail() { return tail_; }
  // Held exclusively to remove old logs; shared by calls that make RocksDB list all logs.
  SharedMutex& old_logs_mutex() ABSL_LOCK_RETURNED(old_logs_mutex_) { return old_logs_mutex_; }

  // ---- storage/ calls these
  rocksdb::Status Write(const rocksdb::WriteOptions& options, rocksdb::WriteBatch& batch);
  // Called when a batch was written to the log and may be read; `entries` is its log data.
  void NoteReadable(const rocksdb::WriteBatch& batch, std::string_view entries);

 private:
  Status SyncUpTo(uint64_t sequence);
  Status SyncNow();

  Engine& engine_;
  const Recovery& recovery_;
  LogTail tail_;
  Mutex mutex_;
  CondVar sync_done_;
  bool is_syncing_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::atomic<bool>> syncs_;  // see SetSyncsCommits
  std::atomic<bool> syncs_commits_{false};
  std::atomic<bool> syncs_each_second_{false};
  mutable Mutex unsynced_mutex_;                                       // a leaf
  std::multiset<uint64_t> unsynced_ ABSL_GUARDED_BY(unsynced_mutex_);  // of Unsynced: the number before each
  std::atomic<uint64_t> durable_sequence_{0};                          // the log is on disk up to here
  SharedMutex old_logs_mutex_;                                         // a leaf
};

}  // namespace cairn
