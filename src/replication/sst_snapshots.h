// SPDX-License-Identifier: BSD-3-Clause
//
// SstSnapshots: first transfers by row files (storage/row_files.h) from a Cairn to a Cairn.
//
// A snapshot is the data of one moment. A thread, "files-<n>", writes it to a folder of its own, while its finished
// files are being sent. All replicas that arrive while a snapshot exists share it, if its numbers are free on them.
// When a link breaks, the snapshot is kept for repl-timeout: the replica resumes, or is sent the same files again if it
// lost them. When all replicas have everything, it is deleted. Until then it holds the log from its moment on.
//
// After a snapshot could not be written (a full disk), transfers use RDB files for a while.
//
// Thread: any; guarded by mutex_, a snapshot's files by its own mutex.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "replication/file_transfer.h"
#include "replication/history.h"
#include "storage/store_snapshot.h"

namespace cairn {

class Config;
class Store;
class StreamLog;

struct SstSnapshot {
  std::string id;
  std::string stream;  // the replication id
  std::string folder;
  RowNumbers first;
  Anchor start;  // the snapshot's moment
  std::atomic<bool> ending{false};
  std::atomic<bool> written{false};    // the thread has ended, or is about to
  std::atomic<int64_t> written_ms{0};  // 0: not written yet

  Mutex mutex;
  CondVar grown;
  std::vector<RowFile> files ABSL_GUARDED_BY(mutex);
  bool is_whole ABSL_GUARDED_BY(mutex) = false;
  std::string content ABSL_GUARDED_BY(mutex);  // of a complete snapshot
  uint64_t total ABSL_GUARDED_BY(mutex) = 0;   // bytes
  std::string failure ABSL_GUARDED_BY(mutex);  // why it can never be completed

  // Guarded by SstSnapshots::mutex_:
  int users = 0;
  int awaited = 0;          // users that left without all of it and have not returned
  bool is_retired = false;  // gets no new users
  int64_t left_ms = 0;      // when the last user left
  std::thread thread;
};

class SstSnapshots {
 public:
  // Sends bytes to the replica; waits while its connection is full. An error when the replica has disconnected.
  using Push = std::function<Status(std::string_view bytes)>;

  SstSnapshots(Store& store, const Config& config, StreamLog& log) : store_(store), config_(config), log_(log) {}
  ~SstSnapshots() { Stop(); }
  // Deletes what a killed process left behind. REQUIRES: the data directory is this process's.
  void Start();
  void Stop();
  // The folder for files of first transfers, including RDB files. It may not exist.
  std::string folder() const;

  // Whether a replica with this offer can be sent row files.
  bool Suits(const FilesOffer& offer) const;
  // Returns a snapshot for a replica: the one it has a part of, one that others are being sent, or a new one. The
  // caller uses it until Release; `got_all` says that the replica has everything. Waits.
  Result<std::shared_ptr<SstSnapshot>> Take(const FilesOffer& offer);
  void Release(SstSnapshot& set, bool got_all);
  // Sends the head and everything after the replica's place. Waits for the snapshot's thread and for the replica.
  Status Send(SstSnapshot& set, const FilesOffer& offer, const Push& push);

  // Retires all snapshots, because the data or the stream was replaced: no transfer may resume.
  void RetireAll();
  // The first sequence of the log that a replica needs after a snapshot.
  uint64_t FirstNeeded() const;
  // Deletes snapshots to which no replica has returned; called every second.
  void CheckTimes();

  // For INFO: transfers begun, transfers resumed, bytes sent, bytes that a replica had already.
  uint64_t transfers() const { return transfers_; }
  uint64_t resumed() const { return resumed_; }
  uint64_t sent_bytes() const { return sent_bytes_; }
  uint64_t spared_bytes() const { return spared_bytes_; }

 private:
  std::shared_ptr<SstSnapshot> FindUsable(const FilesOffer& offer, const std::string& stream);
  // Begins a new snapshot; null if RetireAll was called meanwhile.
  Result<std::shared_ptr<SstSnapshot>> Begin(const FilesOffer& offer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(begin_mutex_);
  void Write(SstSnapshot& set, const StoreSnapshot& snapshot, std::vector<std::string> functions);
  Result<RowFilesContent> WriteFiles(SstSnapshot& set, const StoreSnapshot& snapshot);
  // Uses RDB files for a while: a disk without room for snapshots may have room for data.
  void NoteFailure(std::string_view reason);
  // Waits for file `number`; false if the snapshot is complete and has no such file.
  Result<bool> AwaitFile(SstSnapshot& set, uint64_t number, RowFile& file, const Push& push);
  Status SendFile(SstSnapshot& set, const RowFile& file, uint64_t from, const Push& push);
  // The time when the next bytes may be processed, for one kind of work.
  struct Clock {
    Mutex mutex;
    int64_t next_free_us ABSL_GUARDED_BY(mutex) = 0;
  };
  // Waits until `bytes` may be processed at repl-sync-rate; a slightly late caller catches up. An error of `is_wanted`
  // ends the wait early.
  template <typename Check>
  Status Pace(Clock& clock, size_t bytes, const Check& is_wanted);
  void Reap();

  Store& store_;
  const Config& config_;
  StreamLog& log_;
  Mutex begin_mutex_;  // one set is begun at a time
  mutable Mutex mutex_ ABSL_ACQUIRED_AFTER(begin_mutex_);
  std::vector<std::shared_ptr<SstSnapshot>> sets_ ABSL_GUARDED_BY(mutex_);
  uint64_t retirements_ ABSL_GUARDED_BY(mutex_) = 0;  // RetireAll's
  Clock writing_;
  Clock sending_;
  uint64_t begun_ ABSL_GUARDED_BY(begin_mutex_) = 0;
  std::atomic<int64_t> failed_ms_{0};  // when a set last could not be written; 0: never
  std::atomic<uint64_t> transfers_{0};
  std::atomic<uint64_t> resumed_{0};
  std::atomic<uint64_t> sent_bytes_{0};
  std::atomic<uint64_t> spared_bytes_{0};
};

}  // namespace cairn
