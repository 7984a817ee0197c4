// SPDX-License-Identifier: BSD-3-Clause
//
// The write-ahead logs as files: whether the newest one has failed.
//
// RocksDB begins a new log only together with a memtable. When it recovers from an error and all memtables are empty,
// it goes on in the old log. If that log is the one that failed, it must not: with assertions, as in Debian's build,
// that ends the process; without them, all writes fail. Nor must it be asked to sync a log whose append has failed, so
// an append that fails says so only when no sync is under way (sync_mutex).
//
// Thread: any.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace cairn {

class LogFile;

class LogFiles : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  static const char* kClassName() { return "LogFiles"; }
  const char* Name() const override { return kClassName(); }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override;

  // A call on the newest log that is open has failed.
  bool has_failed_log() const;
  // While it is held no append to a log fails.
  std::mutex& sync_mutex() { return sync_mutex_; }

 private:
  friend class LogFile;

  std::mutex sync_mutex_;  // before mutex_
  mutable std::mutex mutex_;
  std::vector<const LogFile*> open_;  // the newest last; guarded by mutex_
};

}  // namespace cairn
