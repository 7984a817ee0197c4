// SPDX-License-Identifier: BSD-3-Clause
#include "storage/log_files.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "storage/checked_file.h"

namespace cairn {
namespace {

// Files that can be created, but neither appended to nor synced.
class FullFile : public CheckedFile {
 public:
  using CheckedFile::CheckedFile;

 private:
  IOStatus CheckAppend(size_t) override { return IOStatus::NoSpace(); }
  IOStatus Check(IOStatus) override { return IOStatus::NoSpace(); }
};

class FullFiles : public rocksdb::FileSystemWrapper {
 public:
  FullFiles() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "FullFiles"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(path, options, file, debug);
    if (status.ok()) *file = std::make_unique<FullFile>(std::move(*file));
    return status;
  }
};

// Files on a disk that becomes full: an append of more than a byte writes its first half and fails.
class TornFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
  rocksdb::IOStatus Append(const rocksdb::Slice& bytes, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
    const rocksdb::Slice half(bytes.data(), (bytes.size() + 1) / 2);
    rocksdb::IOStatus status = FSWritableFileOwnerWrapper::Append(half, options, debug);
    return bytes.size() == 1 ? status : rocksdb::IOStatus::NoSpace();
  }
};

class TornFiles : public rocksdb::FileSystemWrapper {
 public:
  TornFiles() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "TornFiles"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(path, options, file, debug);
    if (status.ok()) *file = std::make_unique<TornFile>(std::move(*file));
    return status;
  }
};

class LogFilesTest : public testing::Test {
 protected:
  std::unique_ptr<rocksdb::FSWritableFile> Create(const std::string& name) {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    EXPECT_TRUE(files_.NewWritableFile(testing::TempDir() + name, {}, &file, nullptr).ok());
    return file;
  }
  static bool Appends(rocksdb::FSWritableFile& file) { return file.Append("x", {}, nullptr).ok(); }

  LogFiles files_{std::make_shared<FullFiles>()};
};

TEST_F(LogFilesTest, TheNewestLogCounts) {
  const auto older = Create("1.log");
  EXPECT_FALSE(Appends(*older));
  EXPECT_TRUE(files_.has_failed_log());
  const auto newer = Create("2.log");
  EXPECT_FALSE(files_.has_failed_log());
  const auto table = Create("3.sst");
  EXPECT_FALSE(Appends(*table));
  EXPECT_FALSE(files_.has_failed_log());
}

// RocksDB's SyncWAL aborts the process if an append fails between its check of the log and the sync.
TEST_F(LogFilesTest, AnAppendFailsOnlyWhileNoSyncIsRunning) {
  const auto log = Create("1.log");
  std::atomic<bool> has_failed = false;
  std::thread appender;
  {
    const MutexLock syncing(files_.sync_mutex());
    appender = std::thread([&] {
      EXPECT_FALSE(Appends(*log));
      has_failed = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(has_failed);
    EXPECT_FALSE(files_.has_failed_log());
  }
  appender.join();
  EXPECT_TRUE(files_.has_failed_log());
}

// The thread that holds the lock may wait in RocksDB for a sync of another thread.
TEST_F(LogFilesTest, AFailingSyncDoesNotWaitForTheLock) {
  const auto log = Create("1.log");
  const MutexLock syncing(files_.sync_mutex());
  std::thread([&] { EXPECT_FALSE(log->Sync({}, nullptr).ok()); }).join();
  EXPECT_TRUE(files_.has_failed_log());
}

// A start takes half a record for damage. It refuses to open the database if a flush came after it (seed 210 of the
// simulation).
TEST(LogFilesOnAFullDisk, NoPartOfAFailedAppendStays) {
  LogFiles files(std::make_shared<TornFiles>());
  const std::string path = testing::TempDir() + "torn.log";
  std::unique_ptr<rocksdb::FSWritableFile> log;
  ASSERT_TRUE(files.NewWritableFile(path, {}, &log, nullptr).ok());
  EXPECT_TRUE(log->Append("a", {}, nullptr).ok());
  EXPECT_TRUE(log->Append("b", {}, nullptr).ok());
  EXPECT_FALSE(log->Append("a record", {}, nullptr).ok());
  EXPECT_EQ(std::filesystem::file_size(path), 2);
}

}  // namespace
}  // namespace cairn
