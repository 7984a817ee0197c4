// SPDX-License-Identifier: BSD-3-Clause
//
// CONFIG SET database: a change of a storage mode that fails changes nothing.
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
  Status Set(std::string_view database) {
    const std::pair<std::string_view, std::string_view> pairs[] = {{"database", database}};
    return config_.SetAll(pairs, true);
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

}  // namespace
}  // namespace cairn
