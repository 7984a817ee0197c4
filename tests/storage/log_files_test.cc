// SPDX-License-Identifier: BSD-3-Clause
#include "storage/log_files.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "storage/checked_file.h"
#include "storage/record_ends.h"

namespace cairn {
namespace {

// Files that can be created, but neither appended to nor synced.
class FullFile : public CheckedFile {
 public:
  using CheckedFile::CheckedFile;

 private:
  IOStatus CheckAppend(std::string_view) override { return IOStatus::NoSpace(); }
  IOStatus Check(IOStatus) override { return IOStatus::NoSpace(); }
};

// A file system whose new files are of this class.
template <typename File>
class FilesOf : public rocksdb::FileSystemWrapper {
 public:
  FilesOf() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "FilesOf"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(path, options, file, debug);
    if (status.ok()) *file = std::make_unique<File>(std::move(*file));
    return status;
  }
  rocksdb::IOStatus ReopenWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* file,
                                       rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = FileSystemWrapper::ReopenWritableFile(path, options, file, debug);
    if (status.ok()) *file = std::make_unique<File>(std::move(*file));
    return status;
  }
};

// A fragment of a record, in the format of RocksDB's logs.
std::string Fragment(char type, size_t size) {
  std::string fragment = "crc.";
  fragment.append(1, static_cast<char>(size & 0xff)).append(1, static_cast<char>(size >> 8)).append(1, type);
  return fragment.append(size, 'x');
}
constexpr char kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4;

// Files on a disk that becomes full: an append beyond kDiskBytes writes its first half and fails.
constexpr uint64_t kDiskBytes = 70'000;
class TornFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
  rocksdb::IOStatus Append(const rocksdb::Slice& bytes, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
    size_ += bytes.size();
    if (size_ <= kDiskBytes) return FSWritableFileOwnerWrapper::Append(bytes, options, debug);
    static_cast<void>(FSWritableFileOwnerWrapper::Append({bytes.data(), bytes.size() / 2}, options, debug));
    return rocksdb::IOStatus::NoSpace();
  }

 private:
  uint64_t size_ = 0;
};

class LogFilesTest : public testing::Test {
 protected:
  std::unique_ptr<rocksdb::FSWritableFile> Create(const std::string& name) {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    EXPECT_TRUE(files_.NewWritableFile(testing::TempDir() + name, {}, &file, nullptr).ok());
    return file;
  }
  static bool Appends(rocksdb::FSWritableFile& file) { return file.Append("x", {}, nullptr).ok(); }

  LogFiles files_{std::make_shared<FilesOf<FullFile>>()};
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

// A later sync would succeed, although the kernel may have dropped what this one did not write.
TEST_F(LogFilesTest, AFailedSyncEndsTheProcess) {
  const auto log = Create("4.log");
  const auto table = Create("5.sst");
  EXPECT_FALSE(table->Sync({}, nullptr).ok());
  EXPECT_EXIT(static_cast<void>(log->Sync({}, nullptr)), testing::ExitedWithCode(1), "");
}

// A power loss could leave records of the next log, but not the ones before them (seed 1796085266526 of the
// simulation).
TEST_F(LogFilesTest, ALogIsSyncedBeforeTheNextOneBegins) {
  const auto log = Create("6.log");
  EXPECT_EXIT(Create("7.log"), testing::ExitedWithCode(1), "");  // no file can be synced
}

TEST(SyncLogsTest, SyncsTheLogsAlone) {
  const std::string dir = testing::TempDir() + "sync_logs";
  std::filesystem::remove_all(dir);
  const auto env = rocksdb::NewCompositeEnv(std::make_shared<FilesOf<FullFile>>());  // no file can be synced
  EXPECT_TRUE(SyncLogs(*env, dir).ok());                                             // no folder, no logs
  std::filesystem::create_directory(dir);
  std::ofstream(dir + "/000007.sst") << "table";
  EXPECT_TRUE(SyncLogs(*env, dir).ok());
  std::ofstream(dir + "/000009.log") << "log";
  EXPECT_TRUE(SyncLogs(*env, dir).IsNoSpace());
  EXPECT_TRUE(SyncLogs(*rocksdb::Env::Default(), dir).ok());
  EXPECT_EQ(std::filesystem::file_size(dir + "/000009.log"), 3);
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

// A start takes half a record for damage. It refuses to open the database if a flush came after it (seed 210 of the
// simulation).
TEST(LogFilesOnAFullDisk, NoPartOfAFailedRecordStays) {
  LogFiles files(std::make_shared<FilesOf<TornFile>>());
  const std::string path = testing::TempDir() + "torn.log";
  std::unique_ptr<rocksdb::FSWritableFile> log;
  ASSERT_TRUE(files.NewWritableFile(path, {}, &log, nullptr).ok());
  const std::string whole = Fragment(kFull, 10) + Fragment(kFull, 100);
  EXPECT_TRUE(log->Append(whole, {}, nullptr).ok());
  // Of a record of three blocks, the first appends succeed.
  const std::string large =
      Fragment(kFirst, 32768 - whole.size() - 7) + Fragment(kMiddle, 32768 - 7) + Fragment(kLast, 20'000);
  EXPECT_TRUE(log->Append({large.data(), 30'000}, {}, nullptr).ok());
  EXPECT_TRUE(log->Append({large.data() + 30'000, 30'000}, {}, nullptr).ok());
  EXPECT_EQ(std::filesystem::file_size(path), whole.size() + 60'000);
  EXPECT_FALSE(log->Append({large.data() + 60'000, large.size() - 60'000}, {}, nullptr).ok());
  EXPECT_EQ(std::filesystem::file_size(path), whole.size());
}

TEST(RecordEndsOfALog, AreFoundWhereverAppendsCutIt) {
  std::string log;
  std::vector<uint64_t> ends = {0};
  const auto add = [&](const std::string& bytes, bool ends_record) {
    log += bytes;
    if (ends_record) ends.push_back(log.size());
  };
  add(Fragment(kFull, 0), true);
  add(Fragment(kFull, 32768 - 7 - 7 - 5), true);
  log.append(5, '\0');  // no header fits into the rest of the block
  add(Fragment(kFirst, 32768 - 7), false);
  add(Fragment(kMiddle, 32768 - 7), false);
  add(Fragment(kLast, 1), true);
  add(Fragment(kFull, 300), true);
  for (const size_t piece : {size_t{1}, size_t{3}, size_t{1000}, size_t{40'000}, log.size()}) {
    RecordEnds found;
    for (size_t at = 0; at < log.size(); at += piece) {
      found.Read(std::string_view(log).substr(at, piece));
      const uint64_t read = std::min(at + piece, log.size());
      EXPECT_EQ(found.end(), *std::prev(std::upper_bound(ends.begin(), ends.end(), read))) << read;
    }
  }
}

}  // namespace
}  // namespace cairn
