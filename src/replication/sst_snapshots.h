// SPDX-License-Identifier: BSD-3-Clause
//
// File sets: first transfers in row files (storage/row_files.h), of a primary that is a Cairn to replicas that are.
//
// A set is the data as of one moment. It is written to a folder of its own by a thread, "files-<n>", while what there
// is of it is sent already. All replicas that come while there is a set share it, if its numbers are free with them.
// When a link breaks, the set is kept for repl-timeout: the replica goes on where it was, or is sent the same again
// where it could not keep what it had. When all have everything, it goes at once. Until then it holds the log from its
// moment on.
//
// After a set could not be written (a full disk), transfers are RDB files again for a while.
//
// Thread: any; guarded by mutex_, a set's files by its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

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
  Anchor start;  // the moment
  std::atomic<bool> ending{false};
  std::atomic<bool> written{false};    // the thread has ended, or is about to
  std::atomic<int64_t> written_ms{0};  // when; 0: not yet

  std::mutex mutex;
  std::condition_variable grown;
  std::vector<RowFile> files;  // guarded by mutex, like what follows
  bool is_whole = false;
  std::string content;  // of a whole one
  uint64_t total = 0;   // bytes
  std::string failure;  // why it will never be whole

  // Guarded by SstSnapshots::mutex_:
  int users = 0;
  int awaited = 0;          // users that left without having all of it, and have not come back
  bool is_retired = false;  // nobody else gets it
  int64_t left_ms = 0;      // when the last user did
  std::thread thread;
};

class SstSnapshots {
 public:
  // Gives bytes to the replica; waits while it takes no more, an error when it is gone.
  using Push = std::function<Status(std::string_view bytes)>;

  SstSnapshots(Store& store, const Config& config, StreamLog& log) : store_(store), config_(config), log_(log) {}
  ~SstSnapshots() { Stop(); }
  // What a killed process has left goes. REQUIRES: the data directory is this process's.
  void Start();
  void Stop();
  // Where what is written for first transfers lies, those in RDB files too. It may not be there.
  std::string folder() const;

  // Whether a replica that offers this is sent files.
  bool Suits(const FilesOffer& offer) const;
  // A set for it: the one it has a part of, one that others are being sent, or a new one. The caller is its user until
  // Release; `got_all` says that the replica has everything. Waits.
  Result<std::shared_ptr<SstSnapshot>> Take(const FilesOffer& offer);
  void Release(SstSnapshot& set, bool got_all);
  // Sends the head and all that follows it from where the replica is. Waits for the set's thread and for the replica.
  Status Send(SstSnapshot& set, const FilesOffer& offer, const Push& push);

  // The data is another one, or its stream is: nobody may go on with what there is.
  void RetireAll();
  // The sequence from which on a replica that has received a set reads the log.
  uint64_t FirstNeeded() const;
  // Sets that nobody came back for go; called every second.
  void CheckTimes();

  // For INFO: transfers begun, those that went on where one broke off, bytes sent, bytes that were there already.
  uint64_t transfers() const { return transfers_; }
  uint64_t resumed() const { return resumed_; }
  uint64_t sent_bytes() const { return sent_bytes_; }
  uint64_t spared_bytes() const { return spared_bytes_; }

 private:
  std::shared_ptr<SstSnapshot> FindUsable(const FilesOffer& offer, const std::string& stream);
  // A new set; null: what it was to be of has become another meanwhile.
  Result<std::shared_ptr<SstSnapshot>> Begin(const FilesOffer& offer);
  void Write(SstSnapshot& set, const StoreSnapshot& snapshot, std::vector<std::string> functions);
  Result<RowFilesContent> WriteFiles(SstSnapshot& set, const StoreSnapshot& snapshot);
  // From now on replicas are sent RDB files for a while: a disk that takes no files may serve data.
  void NoteFailure(std::string_view reason);
  // False: there is none, the set is whole.
  Result<bool> AwaitFile(SstSnapshot& set, uint64_t number, RowFile& file, const Push& push);
  Status SendFile(SstSnapshot& set, const RowFile& file, uint64_t from, const Push& push);
  // When the next bytes may go, for one kind of work.
  struct Clock {
    int64_t next_free_us = 0;
  };
  // Waits until `bytes` may go at repl-sync-rate; who was a little late catches up. An error of `is_wanted` ends it
  // early.
  template <typename Check>
  Status Pace(Clock& clock, size_t bytes, const Check& is_wanted);
  void Reap();

  Store& store_;
  const Config& config_;
  StreamLog& log_;
  std::mutex begin_mutex_;  // one set is begun at a time; before mutex_
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<SstSnapshot>> sets_;  // guarded by mutex_
  uint64_t retirements_ = 0;                        // guarded by mutex_: RetireAll's
  Clock writing_;                                   // guarded by mutex_, like the next
  Clock sending_;
  uint64_t begun_ = 0;                 // guarded by begin_mutex_
  std::atomic<int64_t> failed_ms_{0};  // when a set last could not be written; 0: never
  std::atomic<uint64_t> transfers_{0};
  std::atomic<uint64_t> resumed_{0};
  std::atomic<uint64_t> sent_bytes_{0};
  std::atomic<uint64_t> spared_bytes_{0};
};

}  // namespace cairn
