// SPDX-License-Identifier: BSD-3-Clause
//
// FailingSyncs: a file system whose syncs of files fail while `fails` is set.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>
#include <string>
#include <utility>

namespace cairn {

class FailingSyncs : public rocksdb::FileSystemWrapper {
 public:
  FailingSyncs() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "FailingSyncs"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(path, options, file, debug);
    if (status.ok()) *file = std::make_unique<File>(std::move(*file), fails);
    return status;
  }

  bool fails = false;

 private:
  class File : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSWritableFile> file, const bool& fails)
        : FSWritableFileOwnerWrapper(std::move(file)), fails_(fails) {}
    rocksdb::IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
      return fails_ ? rocksdb::IOStatus::IOError() : FSWritableFileOwnerWrapper::Sync(options, debug);
    }

   private:
    const bool& fails_;
  };
};

}  // namespace cairn
