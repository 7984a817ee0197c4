// SPDX-License-Identifier: BSD-3-Clause
//
// The RDB file of a directory that belonged to Redis, after a first start that was interrupted.
#include "replication/reload.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>

#include "simulation/services.h"
#include "storage/store_fixture.h"
#include "types/string.h"

namespace cairn {
namespace {

class ReloadTest : public StoreFixture {
 protected:
  void SetKey(std::string_view name) {
    Begin();
    Keyspace keys(txn(), 0, limits_);
    const Key key = keys.Name(name);
    Lock(key);
    const auto entry = keys.Find(key);
    ASSERT_TRUE(entry.ok());
    ASSERT_TRUE(WriteText(keys, key, *entry, "value", kNoExpiry).ok());
    Finish();
    Commit();
  }

  const Limits limits_;
  simulation::Services services_;
};

// A program with an embedded database may write keys after the interrupted start; the file must not replace them.
TEST_F(ReloadTest, AStartAfterAnInterruptedOneKeepsTheKeysThatExist) {
  const std::string path = dir() + "/dump.rdb";
  std::ofstream(path) << "REDIS0010\xff" << std::string(8, '\0');  // no keys, no checksum
  txn().on_commit().PutNote(kUnreadRow, "1");
  Commit();
  SetKey("key");
  Reopen();
  ASSERT_TRUE(ReadFirstRdbFile(services_.DatasetOf(store()), path, false).ok());
  EXPECT_TRUE(store().databases().has_keys());
  EXPECT_EQ(*store().ReadNote(kUnreadRow), "");
}

// The file of `dbfilename ""` or `.`, which Redis starts with too.
TEST_F(ReloadTest, AFirstStartDoesNotLoadADirectory) {
  const Status status = ReadFirstRdbFile(services_.DatasetOf(store()), dir() + "/", true);
  EXPECT_TRUE(status.ok()) << status.text();
}

}  // namespace
}  // namespace cairn
