// SPDX-License-Identifier: BSD-3-Clause
#include "storage/log_files.h"

#include <atomic>
#include <utility>

namespace cairn {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

class LogFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  LogFile(std::unique_ptr<rocksdb::FSWritableFile> file, LogFiles& files)
      : FSWritableFileOwnerWrapper(std::move(file)), files_(files) {
    const std::lock_guard lock(files_.mutex_);
    files_.open_.push_back(this);
  }
  ~LogFile() override {
    const std::lock_guard lock(files_.mutex_);
    std::erase(files_.open_, this);
  }
  bool has_failed() const { return has_failed_; }

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    return Note(FSWritableFileOwnerWrapper::Append(data, options, debug));
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo& checksum,
                  IODebugContext* debug) override {
    return Note(FSWritableFileOwnerWrapper::Append(data, options, checksum, debug));
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return Note(FSWritableFileOwnerWrapper::Sync(options, debug));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Note(FSWritableFileOwnerWrapper::Fsync(options, debug));
  }
  IOStatus RangeSync(uint64_t offset, uint64_t size, const IOOptions& options, IODebugContext* debug) override {
    return Note(FSWritableFileOwnerWrapper::RangeSync(offset, size, options, debug));
  }

 private:
  IOStatus Note(IOStatus status) {
    if (!status.ok()) has_failed_ = true;
    return status;
  }

  LogFiles& files_;
  std::atomic<bool> has_failed_{false};
};

bool LogFiles::has_failed_log() const {
  const std::lock_guard lock(mutex_);
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
