// SPDX-License-Identifier: BSD-3-Clause
#include "storage/direct_files.h"

#include <string>
#include <utility>

namespace cairn {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOStatus;

// The BackupEngine writes NAME.sst.tmp and renames it.
bool IsLarge(const std::string& path) {
  return path.find(".sst") != std::string::npos || path.find(".blob") != std::string::npos;
}

class DirectFiles : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "CairnDirectFiles"; }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<rocksdb::FSSequentialFile>* file, IODebugContext* debug) override {
    if (IsLarge(path)) {
      FileOptions direct = options;
      direct.use_direct_reads = true;
      if (target()->NewSequentialFile(path, direct, file, debug).ok()) return IOStatus::OK();
    }
    return target()->NewSequentialFile(path, options, file, debug);
  }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) override {
    if (IsLarge(path)) {
      FileOptions direct = options;
      direct.use_direct_writes = true;
      if (target()->NewWritableFile(path, direct, file, debug).ok()) return IOStatus::OK();
    }
    return target()->NewWritableFile(path, options, file, debug);
  }
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> MakeDirectFiles(std::shared_ptr<rocksdb::FileSystem> files) {
  return std::make_shared<DirectFiles>(std::move(files));
}

}  // namespace cairn
