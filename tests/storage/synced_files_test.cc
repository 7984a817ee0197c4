// SPDX-License-Identifier: BSD-3-Clause
#include "storage/synced_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "base/hash.h"

namespace cairn {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;

class SyncedFilesTest : public testing::Test {
 protected:
  SyncedFilesTest() {
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directories(dir_ + "/archive");
    Write("CURRENT", "MANIFEST-000001\n");
    files_ = MakeSyncedFiles(rocksdb::FileSystem::Default(), dir_);
  }
  ~SyncedFilesTest() override { std::filesystem::remove_all(dir_); }

  void Write(const std::string& name, const std::string& text) { std::ofstream(dir_ + "/" + name) << text; }

  std::string Read(const std::string& name) {
    std::stringstream text;
    text << std::ifstream(dir_ + "/" + name).rdbuf();
    return text.str();
  }

  // A file that is open and synced with ten bytes: a record of a log with three.
  std::unique_ptr<rocksdb::FSWritableFile> Sync(const std::string& name) {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    EXPECT_TRUE(files_->NewWritableFile(dir_ + "/" + name, {}, &file, nullptr).ok());
    EXPECT_TRUE(file->Append({"crc.\3\0\1abc", 10}, IOOptions(), nullptr).ok());
    EXPECT_TRUE(file->Sync(IOOptions(), nullptr).ok());
    return file;
  }

  std::string Complaint() { return std::string(CheckSyncedFiles(dir_).text()); }

  const std::string dir_ = testing::TempDir() + "synced-files." + std::to_string(getpid());
  std::shared_ptr<rocksdb::FileSystem> files_;
};

TEST_F(SyncedFilesTest, AFileThatIsMissingOrCutIsNamed) {
  EXPECT_EQ(Complaint(), "");  // there is no list
  Sync("000002.log");
  Sync("MANIFEST-000001");
  EXPECT_EQ(Complaint(), "");
  std::filesystem::resize_file(dir_ + "/000002.log", 9);
  EXPECT_EQ(Complaint(), "000002.log is cut: it has 9 bytes, and had 10 when it was synced");
  EXPECT_TRUE(CheckSyncedManifest(dir_).ok());
  std::filesystem::remove(dir_ + "/MANIFEST-000001");
  EXPECT_EQ(Complaint(), "MANIFEST-000001 cannot be found: No such file or directory");
  EXPECT_FALSE(CheckSyncedManifest(dir_).ok());
}

// The list could never be written, so no log could be removed.
TEST_F(SyncedFilesTest, AFolderInPlaceOfTheListIsNamed) {
  std::filesystem::create_directory(dir_ + "/synced-files");
  EXPECT_EQ(Complaint(), dir_ + "/synced-files: Is a directory");
  EXPECT_FALSE(CheckSyncedManifest(dir_).ok());
}

TEST_F(SyncedFilesTest, TheListHasTheBytesOfTheFormat) {
  Sync("MANIFEST-000001");
  Sync("000002.log");
  const std::string lines = "MANIFEST-000001 10\n000002.log 10\n";
  EXPECT_EQ(Read("synced-files"), lines + std::to_string(Hash64(lines)) + "\n");
}

TEST_F(SyncedFilesTest, BytesThatWereNotSyncedMayBeMissing) {
  const auto manifest = Sync("MANIFEST-000001");
  EXPECT_TRUE(manifest->Append("more", IOOptions(), nullptr).ok());
  EXPECT_TRUE(manifest->Flush(IOOptions(), nullptr).ok());
  std::filesystem::resize_file(dir_ + "/MANIFEST-000001", 10);
  EXPECT_EQ(Complaint(), "");
}

// Another thread may sync a log while a record is appended by several calls, and the last one may fail.
TEST_F(SyncedFilesTest, APartOfARecordMayBeCutOff) {
  Sync("MANIFEST-000001");
  const auto log = Sync("000002.log");
  EXPECT_TRUE(log->Append("part", IOOptions(), nullptr).ok());
  EXPECT_TRUE(log->Sync(IOOptions(), nullptr).ok());
  const auto other = Sync("000003.log");  // writes the list
  std::filesystem::resize_file(dir_ + "/000002.log", 10);
  EXPECT_EQ(Complaint(), "");
}

TEST_F(SyncedFilesTest, ALogThatWasRemovedOrMovedIsNotMissing) {
  Sync("MANIFEST-000001");
  Sync("000002.log");
  Sync("000003.log");
  EXPECT_TRUE(files_->DeleteFile(dir_ + "/000002.log", IOOptions(), nullptr).ok());
  EXPECT_TRUE(files_->RenameFile(dir_ + "/000003.log", dir_ + "/archive/000003.log", IOOptions(), nullptr).ok());
  EXPECT_EQ(Complaint(), "");
}

// A hundred logs may go at once, and a flush waits for it.
TEST_F(SyncedFilesTest, LogsThatGoFromTheNewestOnCostOneWrite) {
  Sync("MANIFEST-000001");
  for (const char* name : {"999998.log", "999999.log", "1000000.log", "1000001.log"}) Sync(name);
  const auto remove = [this](const std::string& name) {
    EXPECT_TRUE(files_->DeleteFile(dir_ + "/" + name, IOOptions(), nullptr).ok());
  };
  remove("1000000.log");
  const std::string lines = "MANIFEST-000001 10\n1000001.log 10\n";
  EXPECT_EQ(Read("synced-files"), lines + std::to_string(Hash64(lines)) + "\n");
  Write("synced-files", "as it was");
  remove("999999.log");
  remove("999998.log");
  EXPECT_EQ(Read("synced-files"), "as it was");
}

// Not every log is listed: none is under `appendfsync no`.
TEST_F(SyncedFilesTest, LogsOlderThanOneThatIsNotListedLeaveTheListToo) {
  Sync("MANIFEST-000001");
  Sync("000002.log");
  Sync("000004.log");
  Write("000003.log", "");
  EXPECT_TRUE(files_->DeleteFile(dir_ + "/000003.log", IOOptions(), nullptr).ok());
  std::filesystem::remove(dir_ + "/000002.log");
  EXPECT_EQ(Complaint(), "");
}

TEST_F(SyncedFilesTest, LogsStayListedIfTheListCannotBeWritten) {
  Sync("MANIFEST-000001");
  Sync("000002.log");
  Sync("000003.log");
  std::filesystem::create_directory(dir_ + "/synced-files.new");
  EXPECT_FALSE(files_->DeleteFile(dir_ + "/000003.log", IOOptions(), nullptr).ok());
  std::filesystem::remove(dir_ + "/synced-files.new");
  Sync("000004.log");  // writes the list
  std::filesystem::remove(dir_ + "/000002.log");
  EXPECT_EQ(Complaint(), "000002.log cannot be found: No such file or directory");
}

TEST_F(SyncedFilesTest, AListOfAnotherManifestOrADamagedOneIsNotValid) {
  Sync("MANIFEST-000001");
  Sync("000002.log");
  std::filesystem::remove(dir_ + "/000002.log");
  EXPECT_NE(Complaint(), "");
  Write("CURRENT", "MANIFEST-000007\n");
  EXPECT_EQ(Complaint(), "");
  Write("CURRENT", "MANIFEST-000001\n");
  for (const char* text : {"", "\n", "MANIFEST-000001 99\n", "MANIFEST-000001 99\n1\n"}) {
    Write(std::string(kSyncedFilesName), text);
    EXPECT_EQ(Complaint(), "") << text;
  }
}

}  // namespace
}  // namespace cairn
