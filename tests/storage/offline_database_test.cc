// SPDX-License-Identifier: BSD-3-Clause
#include "storage/offline_database.h"

#include "damaged_log_fixture.h"

namespace cairn {
namespace {

class OfflineDatabaseTest : public DamagedLogFixture {
 protected:
  bool Has(const OfflineDatabase& database, const std::string& name) {
    const Key key(txn().databases().keyspace(0), name);
    const auto value = database.Get(Space::kKeys, key.row().row());
    EXPECT_TRUE(value.ok()) << value.status().text();
    return value.ok() && value->has_value();
  }
};

TEST_F(OfflineDatabaseTest, CommitsBehindATornLogAreNotThere) {
  MakeTornImage();
  const auto torn = OfflineDatabase::Open(image());
  ASSERT_TRUE(torn.ok()) << torn.status().text();
  EXPECT_TRUE((*torn)->log_damage().empty());
  EXPECT_TRUE(Has(**torn, "a"));
  EXPECT_FALSE(Has(**torn, "b"));
  EXPECT_FALSE(Has(**torn, "c"));
}

// Salvage wants all that can be read.
TEST_F(OfflineDatabaseTest, CommitsBehindDamageInTheMiddleOfALogAreThere) {
  MakeDamagedImage();
  const auto damaged = OfflineDatabase::Open(image());
  ASSERT_TRUE(damaged.ok()) << damaged.status().text();
  EXPECT_FALSE((*damaged)->log_damage().empty());
  EXPECT_TRUE(Has(**damaged, "a"));
  EXPECT_FALSE(Has(**damaged, "b"));
  EXPECT_TRUE(Has(**damaged, "c"));
}

}  // namespace
}  // namespace cairn
