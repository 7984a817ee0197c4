// SPDX-License-Identifier: BSD-3-Clause
//
// Clients that change the backups of a directory at the same time, and a backup during which RocksDB may delete files.
// tests/integration/test_backup.py has what a backup contains.
#include "storage/backups.h"

#include <rocksdb/db.h>

#include <chrono>
#include <string>
#include <thread>

#include "base/random.h"
#include "store_fixture.h"

namespace cairn {
namespace {

class BackupsTest : public StoreFixture {
 protected:
  bool DeletesFiles() {
    return store().engine().Property(rocksdb::DB::Properties::kIsFileDeletionsEnabled) != 0;  // not as its comment says
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
  std::string value(1 << 20, '\0');
  Random random(1);
  for (char& byte : value) byte = static_cast<char>(random.Next());
  Begin();
  const Key key(txn().databases().keyspace(0), "k");
  Lock(key);
  txn().Put(key.row(), value);
  Finish();
  Commit();

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

}  // namespace
}  // namespace cairn
