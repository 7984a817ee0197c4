// SPDX-License-Identifier: BSD-3-Clause
#include "storage/log_files.h"

#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/end_process.h"
#include "storage/checked_file.h"
#include "storage/record_ends.h"

namespace cairn {

using rocksdb::IODebugContext;
using rocksdb::IOStatus;

namespace {

constexpr std::string_view kSuffix = ".log";

}  // namespace

void EndUnsynced(std::string_view error) {
  EndProcess(fmt::format(
      "Can't persist AOF for fsync error: {}. Exiting... A power failure may lose what was not synced, until a restart "
      "has read the log.",
      error));
}

class LogFile : public CheckedFile {
 public:
  LogFile(std::unique_ptr<rocksdb::FSWritableFile> file, LogFiles& files)
      : CheckedFile(std::move(file)), files_(files) {
    const MutexLock lock(files_.mutex_);
    files_.open_.push_back(this);
  }
  ~LogFile() override {
    const MutexLock lock(files_.mutex_);
    std::erase(files_.open_, this);
  }
  bool has_failed() const { return has_failed_; }

  IOStatus Sync(const IOOptions& options, Debug* debug) override { return CheckSync(Base::Sync(options, debug)); }
  IOStatus Fsync(const IOOptions& options, Debug* debug) override { return CheckSync(Base::Fsync(options, debug)); }
  IOStatus RangeSync(uint64_t offset, uint64_t size, const IOOptions& options, Debug* debug) override {
    return CheckSync(Base::RangeSync(offset, size, options, debug));
  }

 private:
  static IOStatus CheckSync(IOStatus status) {
    if (!status.ok()) EndUnsynced(status.ToString());
    return status;
  }
  IOStatus Check(IOStatus status) override {
    if (!status.ok()) has_failed_ = true;
    return status;
  }
  IOStatus CheckAppend(std::string_view bytes) override {
    appending_ = bytes;
    return IOStatus::OK();
  }
  // Waits for the sync that is running (sync_mutex).
  IOStatus CheckAppended(IOStatus status) override {
    if (status.ok()) {
      ends_.Read(appending_);
      return status;
    }
    const MutexLock lock(files_.sync_mutex_);
    if (!has_failed_) CutOffPart();
    return Check(std::move(status));
  }
  // Removes the part of a record that the failed append, and those before it, have written. A shorter file needs no
  // space, so this succeeds on a full disk.
  void CutOffPart() { static_cast<void>(Base::Truncate(ends_.end(), IOOptions(), nullptr)); }

  LogFiles& files_;
  RecordEnds ends_;             // of the records before a failed append
  std::string_view appending_;  // by the current append
  std::atomic<bool> has_failed_{false};
};

bool LogFiles::has_failed_log() const {
  const MutexLock lock(mutex_);
  return !open_.empty() && open_.back()->has_failed();
}

void LogFiles::SyncNewest() {
  const MutexLock lock(mutex_);
  if (open_.empty() || open_.back()->has_failed()) return;
  static_cast<void>(open_.back()->Sync(rocksdb::IOOptions(), nullptr));  // does not return if it fails
}

rocksdb::Status SyncLogs(rocksdb::Env& env, const std::string& dir) {
  std::vector<std::string> names;
  rocksdb::Status status = env.GetChildren(dir, &names);
  if (status.IsNotFound()) return rocksdb::Status::OK();
  for (size_t i = 0; status.ok() && i < names.size(); ++i) {
    if (!names[i].ends_with(kSuffix)) continue;
    std::unique_ptr<rocksdb::WritableFile> log;
    status = env.ReopenWritableFile(dir + "/" + names[i], &log, rocksdb::EnvOptions());
    if (status.ok()) status = log->Sync();
  }
  return status;
}

IOStatus LogFiles::NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                   std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) {
  IOStatus opened = FileSystemWrapper::NewWritableFile(path, options, file, debug);
  if (!opened.ok() || !path.ends_with(kSuffix)) return opened;
  SyncNewest();
  *file = std::make_unique<LogFile>(std::move(*file), *this);
  return opened;
}

}  // namespace cairn
