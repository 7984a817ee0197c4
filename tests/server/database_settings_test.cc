// SPDX-License-Identifier: BSD-3-Clause
//
// CONFIG SET database: a change of a storage mode that fails changes nothing. CONFIG SET appendfsync: where the rows of
// a database are decides whether its commits are synced.
#include "server/database_settings.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "storage/format.h"
#include "storage/store_fixture.h"

namespace cairn {
namespace {

class DatabaseSettingsTest : public StoreFixture {
 protected:
  void SetUp() override {
    StoreFixture::SetUp();
    ASSERT_TRUE(FollowDatabaseSettings(config_, store()).ok());
  }
  Status Set(std::string_view database) { return Set("database", database); }
  Status Set(std::string_view name, std::string_view value) {
    const std::pair<std::string_view, std::string_view> pairs[] = {{name, value}};
    return config_.SetAll(pairs, true);
  }
  // Writes to the database. Returns whether the commit is synced before it is visible.
  bool WritesSynced(int db) {
    Begin();
    const Key key(txn().databases().keyspace(db), "k");
    Lock(key);
    txn().Put(key.row(), "value");
    Finish();
    const bool must_sync = txn().batch().must_sync();
    Commit();
    return must_sync;
  }

  Config config_;
};

// FLUSHDB would give the database a keyspace of the refused mode, and a second CONFIG SET would find nothing to change.
TEST_F(DatabaseSettingsTest, ARefusedModeIsNotThatOfLaterKeyspaces) {
  const DatabaseTable& table = store().databases();
  const KeyspaceId next = table.next_keyspace();
  store().databases().SkipTo(kKeyspacesEnd);
  EXPECT_NE(Set("1 storage-mode hdd").text().find("keyspaces are used up"), std::string_view::npos);
  EXPECT_EQ(table.mode(1), StorageMode::kSsd);
  EXPECT_EQ(ModeOfKeyspace(table[1].keyspace), StorageMode::kSsd);
  store().databases().SkipTo(next);
  EXPECT_TRUE(Set("1 storage-mode hdd").ok());
  EXPECT_EQ(table.mode(1), StorageMode::kHdd);
  EXPECT_EQ(ModeOfKeyspace(table[1].keyspace), StorageMode::kHdd);
}

// After SWAPDB the rows of database 1 are on disk. Without the sync a power loss would lose acknowledged writes.
TEST_F(DatabaseSettingsTest, ACommitIsSyncedWhereItsRowsAreOnDiskWhateverTheDirectiveSays) {
  ASSERT_TRUE(Set("1 storage-mode memory").ok());
  ASSERT_TRUE(Set("appendfsync", "always").ok());
  EXPECT_TRUE(WritesSynced(0));
  EXPECT_FALSE(WritesSynced(1));
  Begin();
  ASSERT_TRUE(txn().LockAll().ok());
  txn().databases().Swap(0, 1);
  Finish();
  Commit();
  EXPECT_FALSE(WritesSynced(0));
  EXPECT_TRUE(WritesSynced(1));
}

}  // namespace
}  // namespace cairn
