// SPDX-License-Identifier: BSD-3-Clause
//
// Clients that change the backups of a directory at the same time. tests/integration/test_backup.py has what a backup
// contains.
#include "storage/backups.h"

#include <string>
#include <thread>

#include "store_fixture.h"

namespace cairn {
namespace {

class BackupsTest : public StoreFixture {};

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

}  // namespace
}  // namespace cairn
