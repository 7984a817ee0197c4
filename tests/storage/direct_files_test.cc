// SPDX-License-Identifier: BSD-3-Clause
#include "storage/direct_files.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace cairn {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOStatus;

// Notes how files are opened, and opens none. Without O_DIRECT it refuses to.
class NotedFiles : public rocksdb::FileSystemWrapper {
 public:
  explicit NotedFiles(bool has_direct) : FileSystemWrapper(rocksdb::FileSystem::Default()), has_direct_(has_direct) {}
  const char* Name() const override { return "NotedFiles"; }
  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<rocksdb::FSSequentialFile>*, IODebugContext*) override {
    return Note("read " + path, options.use_direct_reads);
  }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>*, IODebugContext*) override {
    return Note("write " + path, options.use_direct_writes);
  }

  std::vector<std::string> noted;

 private:
  IOStatus Note(const std::string& call, bool is_direct) {
    noted.push_back(call + (is_direct ? " direct" : ""));
    return is_direct && !has_direct_ ? IOStatus::IOError("no O_DIRECT") : IOStatus::OK();
  }

  const bool has_direct_;
};

std::vector<std::string> Open(bool has_direct, const std::vector<std::string>& paths) {
  const auto noted = std::make_shared<NotedFiles>(has_direct);
  const std::shared_ptr<rocksdb::FileSystem> files = MakeDirectFiles(noted);
  for (const std::string& path : paths) {
    std::unique_ptr<rocksdb::FSSequentialFile> source;
    std::unique_ptr<rocksdb::FSWritableFile> copy;
    EXPECT_TRUE(files->NewSequentialFile(path, {}, &source, nullptr).ok());
    EXPECT_TRUE(files->NewWritableFile(path + ".tmp", {}, &copy, nullptr).ok());
  }
  return noted->noted;
}

TEST(DirectFilesTest, TablesAndBlobFilesPassThePageCache) {
  EXPECT_EQ(Open(true, {"1.sst", "2.blob", "3.log", "MANIFEST-000004"}),
            (std::vector<std::string>{"read 1.sst direct", "write 1.sst.tmp direct", "read 2.blob direct",
                                      "write 2.blob.tmp direct", "read 3.log", "write 3.log.tmp",
                                      "read MANIFEST-000004", "write MANIFEST-000004.tmp"}));
}

TEST(DirectFilesTest, AFileSystemWithoutDirectAccessIsUsedThroughThePageCache) {
  EXPECT_EQ(Open(false, {"1.sst"}),
            (std::vector<std::string>{"read 1.sst direct", "read 1.sst", "write 1.sst.tmp direct", "write 1.sst.tmp"}));
}

}  // namespace
}  // namespace cairn
