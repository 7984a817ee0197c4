// SPDX-License-Identifier: BSD-3-Clause
//
// WriteAheadLog: every write after the store was opened, and what has to wait for it to be on the disk.
//
// Under `appendfsync always` a commit is appended to the log, then synced, and only then made visible
// (CommitBatch::Append, Publish). RocksDB's WriteOptions::sync does not serve: a batch whose fsync fails is refused and
// stays in the log, and its sequence numbers are used again, so a later reader of the log takes it for the batch that
// was acknowledged (RocksDB 7.8). An append that fails leaves at most a part of a record, which no reader accepts.
//
// Commits that wait at the same time share one fsync: one thread syncs for all that were appended by then.
//
// After a failed fsync nobody knows what is on the disk, and the kernel may report success for the next one although
// pages were lost. So the process ends, as Redis does, before anybody is answered.
//
// Thread: any.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string_view>

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

  // Makes every commit so far survive a power loss. While commits are synced, an fsync that fails ends the process.
  Status Sync() { return SyncUpTo(LatestSequence()); }
  // Whether each commit is synced before it is visible (`appendfsync always`). What was committed before is synced when
  // this is turned on; on an error it stays off.
  Status SetSyncsCommits(bool on);
  bool syncs_commits() const { return syncs_commits_.load(std::memory_order_relaxed); }
  // Waits until the log is on the disk up to a sequence number that was written; if the disk refuses, the process ends.
  void MakeDurable(uint64_t sequence);
  // Whoever reads the log from now on finds all that was appended before.
  void MakeReadable() {
    if (syncs_commits()) MakeDurable(LatestSequence());
  }
  // Grows with every write.
  uint64_t LatestSequence() const;
  // The last one that readers of the log may be shown: while commits are synced, the last durable one.
  uint64_t ReadableSequence() const;

  LogTail& tail() { return tail_; }
  // Old logs go away only while this is held alone; who makes RocksDB list all the logs there are shares it.
  std::shared_mutex& old_logs_mutex() { return old_logs_mutex_; }

  // ---- storage/ calls these
  rocksdb::Status Write(const rocksdb::WriteOptions& options, rocksdb::WriteBatch& batch);
  // A batch that has been written into the log may be read there; `entries` is its log data.
  void NoteReadable(const rocksdb::WriteBatch& batch, std::string_view entries);

 private:
  Status SyncUpTo(uint64_t sequence);
  Status SyncNow();

  Engine& engine_;
  const Recovery& recovery_;
  LogTail tail_;
  std::mutex mutex_;
  std::condition_variable sync_done_;
  bool is_syncing_ = false;  // guarded by mutex_
  std::atomic<bool> syncs_commits_{false};
  std::atomic<uint64_t> durable_sequence_{0};  // what the log says is on the disk up to there
  std::shared_mutex old_logs_mutex_;           // a leaf
};

}  // namespace cairn
