// SPDX-License-Identifier: BSD-3-Clause
//
// LogFiles: the files of the write-ahead log, and whether the newest one has failed.
//
// RocksDB starts a new log only together with a memtable. When it recovers from an error and all memtables are empty,
// it continues with the old log. It must not do so if that log has failed: with assertions, as in Debian's build, the
// process aborts; without them, all writes fail. Nor may it sync a log whose append has failed, so an append reports
// its error only while no sync is running (sync_mutex).
//
// Nor may a part of a record, of one append or of several, stay at the end of a log that failed. The recovery flushes
// one column family after the other. If the process ends in between, the next start takes the part for damage, and
// refuses to open the database because the flushed ones are newer ("SST file is ahead of WALs"). So the part is cut
// off.
//
// A log is synced before the next one begins. Otherwise a power loss may take its end and leave records of the next
// one, and RocksDB 7.8 would replay those: it does not notice that some are missing between. RocksDB itself syncs a log
// when it flushes the log's memtable, which is later. A log that has failed needs no sync: RocksDB takes no write
// before it has flushed the memtables. A start on a full disk cannot flush what it has replayed, and keeps those logs,
// so it syncs them first (SyncLogs).
//
// A failed sync ends the process. The kernel may have dropped what it could not write, and it reports that once: a
// later sync succeeds, although the bytes are not on the disk (https://wiki.postgresql.org/wiki/Fsync_Errors). After a
// power loss the next start would then replay less than RocksDB's recovery has flushed, and that flushes one column
// family after the other. A start reads the log from the kernel's memory and flushes all families at once.
//
// Thread: any.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"

namespace cairn {

class LogFile;

// Ends the process because a sync of a log has failed with this error.
[[noreturn]] void EndUnsynced(std::string_view error);

// Syncs the logs of a database that no process has open, if there is one. An error if the folder cannot be read, or a
// log cannot be opened or synced. Thread: any.
rocksdb::Status SyncLogs(rocksdb::Env& env, const std::string& dir);

class LogFiles : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  static const char* kClassName() { return "LogFiles"; }
  const char* Name() const override { return kClassName(); }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override;

  // Whether a call on the newest open log has failed.
  bool has_failed_log() const;
  // While it is held, no append to a log returns an error.
  Mutex& sync_mutex() ABSL_LOCK_RETURNED(sync_mutex_) { return sync_mutex_; }

 private:
  friend class LogFile;
  // RocksDB has appended all of the log by now.
  void SyncNewest();

  Mutex sync_mutex_;
  mutable Mutex mutex_ ABSL_ACQUIRED_AFTER(sync_mutex_);
  std::vector<LogFile*> open_ ABSL_GUARDED_BY(mutex_);  // the newest last
};

}  // namespace cairn
