// SPDX-License-Identifier: BSD-3-Clause
//
// Backups: physical, incremental copies of the database in another directory, made by RocksDB's BackupEngine while
// clients are served. A table or blob file is copied once and shared by all backups that contain it.
//
// A backup flushes the memtables first, so it needs the newest log only and none of the folder `archive`. While it
// runs, RocksDB deletes no file; so it ends with an error when the data's disk comes near `min-free-disk`. When RocksDB
// recovers from an I/O error, it may delete files again; so the backup ends with an error too. A backup that fails, is
// aborted or is interrupted by kill -9 is no backup: its files are deleted at once or by the next one.
//
// A backup runs on "backup", at a low priority, one at a time. A lock file in the directory keeps other processes away.
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"

namespace rocksdb {
class BackupEngine;
}

namespace cairn {

class Engine;

// A complete backup in a directory.
struct BackupEntry {
  uint32_t id = 0;
  int64_t unix_s = 0;
  uint64_t bytes = 0;  // of all its files, including those that it shares
  uint32_t files = 0;
};

// The backups of a directory. A damaged one lacks a file, or its list of files cannot be read.
struct BackupList {
  std::vector<BackupEntry> complete;  // oldest first
  std::vector<uint32_t> damaged;      // their ids, oldest first
};

// Lists the backups without reading their files; none if the directory does not exist. kIo if it cannot be read. Waits.
Result<BackupList> ListBackups(const std::string& dir);
// Reads all files of a backup and compares their checksums. kCorruption or kIo names the file. Waits.
Status VerifyBackup(const std::string& dir, uint32_t id);
// Copies a backup into `target`, which must be missing or empty, and compares the checksums. An empty `target` keeps
// its owner and permissions, and its files get the same owner. After an error or kill -9 `target` is as before; a
// folder `target`.restoring may be left, which the next call replaces. Waits.
Status RestoreBackup(const std::string& dir, uint32_t id, const std::string& target);

// The backup that runs or ran last.
struct BackupProgress {
  bool is_running = false;
  int64_t started_ms = 0;  // Unix time; 0: there was none since the start
  int64_t ended_ms = 0;
  uint32_t id = 0;           // 0 until it is complete
  uint64_t total_bytes = 0;  // of the database's files at its start
  uint64_t copied_bytes = 0;
  std::string result;  // "ok", "aborted" or the error; empty while it runs
};

class Backups {
 public:
  struct Totals {
    uint64_t completed = 0;
    uint64_t aborted = 0;
    uint64_t failed = 0;
    int64_t last_unix_s = 0;  // when the last complete one ended; 0: none since the start
  };

  explicit Backups(Engine& engine) : engine_(engine) {}
  ~Backups() { Stop(); }

  // Starts a backup into `dir`, which is created when missing, at `bytes_per_second` (0: no limit). A reply for the
  // client if one is running or the disk is nearly full.
  Status Start(const std::string& dir, uint64_t bytes_per_second);
  // Ends the running backup soon; false if none is running.
  bool Abort();
  // Deletes a backup, and files of interrupted ones. A reply for the client if there is none of this id or a backup is
  // running. Waits.
  Status Delete(const std::string& dir, uint32_t id);
  // Aborts the running backup and waits for its thread. Later ones are refused.
  void Stop();

  BackupProgress Progress() const;
  Totals totals() const;

 private:
  // Claims the right to change the directory; an error is the reply.
  Status Claim() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run(const std::string& dir, uint64_t bytes_per_second);
  Result<uint32_t> Create(const std::string& dir, uint64_t bytes_per_second);
  // From now on a request to abort stops `engine`, which is about to copy. An error if there was one before.
  Status BeginCopy(rocksdb::BackupEngine& engine);
  void EndCopy();
  void RequestAbort() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(const Result<uint32_t>& id);

  Engine& engine_;
  std::atomic<uint64_t> copied_bytes_{0};
  mutable Mutex mutex_;
  CondVar released_;
  rocksdb::BackupEngine* copying_ ABSL_GUARDED_BY(mutex_) = nullptr;  // null: no backup copies files
  bool aborted_ ABSL_GUARDED_BY(mutex_) = false;
  BackupProgress progress_ ABSL_GUARDED_BY(mutex_);
  Totals totals_ ABSL_GUARDED_BY(mutex_);
  bool claimed_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn
