// SPDX-License-Identifier: BSD-3-Clause
#include "storage/read_statistics.h"

#include "store_fixture.h"

namespace cairn {
namespace {

// INFO's counts of reads must not tell of two reads where one is started ahead.
TEST_F(StoreFixture, CountsTheReadOfARowButNotItsReadAhead) {
  const Key key(txn().databases().keyspace(0), "key");
  Begin();
  Lock(key);
  txn().Put(key.row(), "value");
  Finish();
  Commit();
  const uint64_t before = store().engine().Ticker(rocksdb::NUMBER_KEYS_READ);
  store().engine().ReadAhead(key.row().tagged());
  EXPECT_EQ(store().engine().Ticker(rocksdb::NUMBER_KEYS_READ), before);
  store().engine().Fetch(key.row().tagged());
  EXPECT_EQ(store().engine().Ticker(rocksdb::NUMBER_KEYS_READ), before + 1);
}

}  // namespace
}  // namespace cairn
