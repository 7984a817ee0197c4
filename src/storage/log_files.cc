// SPDX-License-Identifier: BSD-3-Clause
#include "storage/log_files.h"

#include <atomic>
#include <utility>

#include "storage/checked_file.h"

namespace cairn {

using rocksdb::IODebugContext;
using rocksdb::IOStatus;

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

 private:
  IOStatus Check(IOStatus status) override {
    if (!status.ok()) has_failed_ = true;
    return status;
  }
  IOStatus CheckAppend(size_t size) override {
    appending_ = size;
    return IOStatus::OK();
  }
  // Only an append waits for the lock: the lock's holder may be waiting, in RocksDB, for the failing sync.
  IOStatus CheckAppended(IOStatus status) override {
    if (status.ok()) {
      size_ += appending_;
      return status;
    }
    const MutexLock lock(files_.sync_mutex_);
    if (!has_failed_) CutOffPart();
    return Check(std::move(status));
  }
  // Removes the part of a record that the failed append has written. A shorter file needs no space, so this succeeds on
  // a full disk.
  void CutOffPart() { static_cast<void>(Base::Truncate(size_, IOOptions(), nullptr)); }

  LogFiles& files_;
  uint64_t size_ = 0;       // bytes that appends have written, without a failed append
  uint64_t appending_ = 0;  // bytes of the current append
  std::atomic<bool> has_failed_{false};
};

bool LogFiles::has_failed_log() const {
  const MutexLock lock(mutex_);
  return !open_.empty() && open_.back()->has_failed();
}

IOStatus LogFiles::NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                   std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) {
  IOStatus opened = FileSystemWrapper::NewWritableFile(path, options, file, debug);
  if (!opened.ok() || !path.ends_with(".log")) return opened;
  *file = std::make_unique<LogFile>(std::move(*file), *this);
  return opened;
}

}  // namespace cairn
