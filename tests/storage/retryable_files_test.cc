// SPDX-License-Identifier: BSD-3-Clause
#include "storage/retryable_files.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <memory>
#include <string>

#include "storage/checked_file.h"
#include "storage/manifest_failure.h"

namespace cairn {
namespace {

// A manifest that is written but cannot be synced.
class UnsyncedFile : public CheckedFile {
 public:
  using CheckedFile::CheckedFile;
  IOStatus Sync(const IOOptions&, Debug*) override { return IOStatus::IOError("sync"); }
};

class UnsyncedManifests : public rocksdb::FileSystemWrapper {
 public:
  UnsyncedManifests() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "UnsyncedManifests"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(path, options, file, debug);
    if (status.ok() && path.ends_with("MANIFEST-1")) *file = std::make_unique<UnsyncedFile>(std::move(*file));
    return status;
  }
};

// A start reads the record of a manifest that could not be synced, so it may need a table that RocksDB deletes
// (seed 22 of the simulation).
TEST(RetryableFilesTest, TablesStayUntilAFailedManifestIsReplaced) {
  const std::shared_ptr<rocksdb::FileSystem> files =
      MakeRetryableFiles(std::make_shared<UnsyncedManifests>(), std::make_shared<ManifestFailure>());
  const std::string dir = testing::TempDir() + "manifests";
  ASSERT_TRUE(files->CreateDirIfMissing(dir, {}, nullptr).ok());
  const auto create = [&](const std::string& name) {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    EXPECT_TRUE(files->NewWritableFile(dir + "/" + name, {}, &file, nullptr).ok());
    return file;
  };
  create("1.sst");
  create("2.sst");
  EXPECT_TRUE(files->DeleteFile(dir + "/1.sst", {}, nullptr).ok());
  EXPECT_FALSE(files->FileExists(dir + "/1.sst", {}, nullptr).ok());

  EXPECT_FALSE(create("MANIFEST-1")->Sync({}, nullptr).ok());
  EXPECT_TRUE(files->DeleteFile(dir + "/2.sst", {}, nullptr).ok());
  EXPECT_TRUE(files->FileExists(dir + "/2.sst", {}, nullptr).ok());

  create("1.dbtmp");
  EXPECT_TRUE(files->RenameFile(dir + "/1.dbtmp", dir + "/CURRENT", {}, nullptr).ok());
  EXPECT_TRUE(files->DeleteFile(dir + "/2.sst", {}, nullptr).ok());
  EXPECT_FALSE(files->FileExists(dir + "/2.sst", {}, nullptr).ok());
}

}  // namespace
}  // namespace cairn
