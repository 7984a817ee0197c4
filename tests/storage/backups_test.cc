// SPDX-License-Identifier: BSD-3-Clause
//
// Clients that change the backups of a directory at the same time, a backup during which RocksDB may delete files, and
// the end of a backup with a low rate.
// tests/integration/test_backup.py has what a backup contains.
#include "storage/backups.h"

#include <rocksdb/db.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>

#include "base/clock.h"
#include "base/random.h"
#include "store_fixture.h"

namespace cairn {
namespace {

class BackupsTest : public StoreFixture {
 protected:
  bool DeletesFiles() {
    return store().engine().Property(rocksdb::DB::Properties::kIsFileDeletionsEnabled) != 0;  // not as its comment says
  }
  // Sets a key to a megabyte that does not compress.
  void WriteMegabyte() {
    std::string value(1 << 20, '\0');
    Random random(1);
    for (char& byte : value) byte = static_cast<char>(random.Next());
    Begin();
    const Key key(txn().databases().keyspace(0), "k");
    Lock(key);
    txn().Put(key.row(), value);
    Finish();
    Commit();
  }
  // Starts a backup and waits until it copies the first file.
  static void StartCopy(Backups& backups, const std::string& folder, uint64_t bytes_per_second) {
    std::filesystem::remove_all(folder);
    ASSERT_TRUE(backups.Start(folder, bytes_per_second).ok());
    std::error_code error;
    while (std::filesystem::is_empty(folder + "/shared_checksum", error) || error) std::this_thread::yield();
  }
  // Waits for the end of the backup and returns its result.
  static std::string ResultOf(const Backups& backups) {
    while (backups.Progress().is_running) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return backups.Progress().result;
  }
};

// The reply to the second client is that a backup is in progress, or its own result, and never an error of RocksDB's
// lock file.
TEST_F(BackupsTest, ADeletionUnlocksTheDirectoryBeforeTheNextOneBegins) {
  Backups backups(store().engine());
  const std::string folder = dir() + "/backups";
  const auto delete_often = [&] {
    for (int done = 0; done < 30;) {
      const Status deleted = backups.Delete(folder, 1);
      ASSERT_TRUE(deleted.Is(Code::kReply)) << deleted.text();
      if (deleted.text() == "ERR No such backup") ++done;
    }
  };
  std::thread other(delete_often);
  delete_often();
  other.join();
}

// RocksDB does that when it recovers from an I/O error. Tables that are truncated while they are copied would be in the
// backup in part, with checksums that match.
TEST_F(BackupsTest, ABackupFailsIfFilesMayBeDeletedDuringIt) {
  WriteMegabyte();
  Backups backups(store().engine());
  const std::string folder = dir() + "/backups";
  ASSERT_TRUE(backups.Start(folder, 2 << 20).ok());  // takes half a second
  while (DeletesFiles() && backups.Progress().is_running) std::this_thread::yield();
  EXPECT_TRUE(store().engine().db().EnableFileDeletions(true).ok());
  EXPECT_NE(ResultOf(backups).find("may have deleted files"), std::string::npos) << ResultOf(backups);
  const Result<BackupList> list = ListBackups(folder);
  ASSERT_TRUE(list.ok());
  EXPECT_TRUE(list->complete.empty());
  EXPECT_TRUE(DeletesFiles());

  ASSERT_TRUE(backups.Start(folder, 0).ok());
  EXPECT_EQ(ResultOf(backups), "ok");
  EXPECT_TRUE(DeletesFiles());
}

// RocksDB reports the progress once a megabyte, which takes ten minutes here. BACKUP ABORT and the end of the server
// must not wait for that.
TEST_F(BackupsTest, AnAbortAndAStopEndABackupWithALowRateSoon) {
  constexpr uint64_t kBytesPerSecond = 2000;
  constexpr int64_t kSoonMs = 30'000;
  WriteMegabyte();
  Backups backups(store().engine());
  const std::string folder = dir() + "/backups";
  StartCopy(backups, folder, kBytesPerSecond);
  int64_t began_ms = MonotonicMs();
  EXPECT_TRUE(backups.Abort());
  EXPECT_EQ(ResultOf(backups), "aborted");
  EXPECT_LT(MonotonicMs() - began_ms, kSoonMs);

  StartCopy(backups, folder, kBytesPerSecond);
  began_ms = MonotonicMs();
  backups.Stop();
  EXPECT_EQ(backups.Progress().result, "aborted");
  EXPECT_LT(MonotonicMs() - began_ms, kSoonMs);
  EXPECT_TRUE(DeletesFiles());
}

}  // namespace
}  // namespace cairn
