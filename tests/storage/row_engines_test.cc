// SPDX-License-Identifier: BSD-3-Clause
//
// Rows of databases in memory, on a hard disk and on an SSD in one store: database 0 is on an SSD, 1 in memory, 2 on a
// hard disk.
#include "storage/row_engines.h"

#include <rocksdb/db.h>

#include <memory>
#include <thread>
#include <utility>

#include "storage/store_snapshot.h"
#include "store_fixture.h"

namespace cairn {
namespace {

class RowEnginesTest : public StoreFixture {
 protected:
  void SetUp() override {
    SetModes({StorageMode::kSsd, StorageMode::kMemory, StorageMode::kHdd});
    StoreFixture::SetUp();
  }

  Key KeyIn(int db, std::string_view name) { return Key(txn().databases().keyspace(db), name); }

  void Put(int db, std::string_view name, std::string_view value) {
    Begin();
    const Key key = KeyIn(db, name);
    Lock(key);
    txn().Put(key.row(), value);
    txn().databases().AddKeys(txn().databases().keyspace(db), 1);
    Finish();
  }

  std::string Get(int db, std::string_view name) {
    Begin();
    const Result<RowRef> row = txn().Get(KeyIn(db, name).row());
    EXPECT_TRUE(row.ok());
    return row.ok() && *row ? std::string(row->bytes()) : "none";
  }

  int64_t Keys(int db) { return store().databases()[db].keys; }

  // Whether an engine has the row on its own.
  bool Has(const RowPlace& place, int db, std::string_view name) {
    std::string value;
    const Key key = KeyIn(db, name);
    const std::string_view row = key.row().row();
    return place.db.Get(rocksdb::ReadOptions(), place.family, {row.data(), row.size()}, &value).ok();
  }
};

TEST_F(RowEnginesTest, EachRowIsInTheEngineOfItsMode) {
  const uint64_t sequence = store().log().LatestSequence();
  Put(1, "m", "memory");
  Commit();
  EXPECT_EQ(store().log().LatestSequence(), sequence) << "nothing is written to the log";
  Put(0, "s", "ssd");
  Put(2, "h", "hdd");
  Commit();
  const RowEngines& engines = store().engines();
  const RowPlace ssd = engines.PlaceOf(Space::kKeys, StorageMode::kSsd);
  const RowPlace hdd = engines.PlaceOf(Space::kKeys, StorageMode::kHdd);
  const RowPlace memory = engines.PlaceOf(Space::kKeys, StorageMode::kMemory);
  EXPECT_TRUE(Has(ssd, 0, "s"));
  EXPECT_TRUE(Has(hdd, 2, "h"));
  EXPECT_TRUE(Has(memory, 1, "m"));
  EXPECT_FALSE(Has(ssd, 2, "h"));
  EXPECT_FALSE(Has(ssd, 1, "m"));
  EXPECT_NE(&memory.db, &ssd.db);
  EXPECT_EQ(&hdd.db, &ssd.db);
  EXPECT_EQ(Get(0, "s") + Get(1, "m") + Get(2, "h"), "ssdmemoryhdd");
}

TEST_F(RowEnginesTest, AStartFindsTheDatabasesOnDiskAndEmptyOnesInMemory) {
  for (int db = 0; db < 3; ++db) Put(db, "k", "value");
  Commit();
  EXPECT_EQ(Keys(1), 1);
  Reopen();
  EXPECT_EQ(Get(0, "k"), "value");
  EXPECT_EQ(Get(1, "k"), "none");
  EXPECT_EQ(Get(2, "k"), "value");
  EXPECT_EQ(Keys(0), 1);
  EXPECT_EQ(Keys(1), 0);
  EXPECT_EQ(Keys(2), 1);
}

TEST_F(RowEnginesTest, ADatabaseWithKeysKeepsItsModeUntilItIsEmptied) {
  Put(0, "k", "value");
  Put(2, "k", "value");
  Commit();
  SetModes({StorageMode::kMemory, StorageMode::kSsd, StorageMode::kSsd});
  Reopen();
  EXPECT_EQ(ModeOfKeyspace(store().databases()[0].keyspace), StorageMode::kSsd);
  EXPECT_EQ(ModeOfKeyspace(store().databases()[1].keyspace), StorageMode::kSsd) << "it was empty";
  EXPECT_EQ(ModeOfKeyspace(store().databases()[2].keyspace), StorageMode::kHdd);
  EXPECT_EQ(Get(2, "k"), "value");
  Begin();
  ASSERT_TRUE(txn().LockAll().ok());
  ASSERT_TRUE(store().engines().Provide(StorageMode::kMemory).ok());
  ASSERT_TRUE(txn().databases().Replace(0).ok());
  Finish();
  Commit();
  EXPECT_EQ(ModeOfKeyspace(store().databases()[0].keyspace), StorageMode::kMemory);
}

TEST_F(RowEnginesTest, ASnapshotHasTheRowsOfAllEngines) {
  for (int db = 0; db < 3; ++db) Put(db, "k", "before");
  Commit();
  auto snapshot = StoreSnapshot::Take(store());
  ASSERT_TRUE(snapshot.ok());
  for (int db = 0; db < 3; ++db) {
    Begin();
    const Key key = KeyIn(db, "k");
    Lock(key);
    txn().Put(key.row(), "after");
    Finish();
  }
  Commit();
  for (int db = 0; db < 3; ++db) {
    EXPECT_EQ((*snapshot)->keys(db), 1) << db;
    const Result<RowRef> row = (*snapshot)->Get(KeyIn(db, "k").row());
    ASSERT_TRUE(row.ok());
    EXPECT_EQ(row->bytes(), "before") << db;
    EXPECT_EQ(Get(db, "k"), "after");
  }
}

// A transfer would send later changes with the snapshot, and send them again with the stream.
TEST_F(RowEnginesTest, ASnapshotThatWaitedHasTheFirstDatabaseInMemoryAsItWas) {
  SetModes({StorageMode::kSsd, StorageMode::kSsd, StorageMode::kSsd});
  Reopen();
  ASSERT_EQ(store().engines().memory(), nullptr);
  SharedMutex& commit_mutex = store().engines().commit_mutex();
  commit_mutex.ReaderLock();  // as a commit to memory does
  std::unique_ptr<StoreSnapshot> snapshot;
  std::thread taker([&] {
    auto taken = StoreSnapshot::Take(store());
    if (taken.ok()) snapshot = std::move(*taken);
  });
  while (!store().lazy_free().is_held()) std::this_thread::yield();
  EXPECT_TRUE(store().engines().Provide(StorageMode::kMemory).ok());
  store().databases().SetMode(1, StorageMode::kMemory);
  Begin();
  EXPECT_TRUE(txn().LockAll().ok());
  EXPECT_TRUE(txn().databases().Replace(1).ok());
  Finish();
  Commit();
  commit_mutex.ReaderUnlock();
  taker.join();
  Put(1, "k", "later");
  Commit();
  ASSERT_NE(snapshot, nullptr);
  EXPECT_EQ(ModeOfKeyspace(snapshot->keyspace(1)), StorageMode::kMemory);
  EXPECT_EQ(snapshot->keys(1), 0);
  const Result<RowRef> row = snapshot->Get(KeyIn(1, "k").row());
  ASSERT_TRUE(row.ok());
  EXPECT_FALSE(*row);
}

TEST_F(RowEnginesTest, CompactionOfMemoryFreesDeletedRows) {
  const std::string value(1000, 'x');
  for (int i = 0; i < 5000; ++i) Put(1, std::to_string(i), value);
  Commit();
  ASSERT_TRUE(store().engines().CompactMemory().ok());
  const uint64_t full = store().engines().MemoryTableBytes();
  EXPECT_GT(full, 0u);
  Begin();
  for (int i = 0; i < 5000; ++i) {
    const Key key = KeyIn(1, std::to_string(i));
    if (!txn().stripes().Has(key.stripe())) Lock(key);
    txn().Delete(key.row());
  }
  Finish();
  Commit();
  ASSERT_TRUE(store().engines().CompactMemory().ok());
  EXPECT_LT(store().engines().MemoryTableBytes(), full / 10);
}

TEST_F(RowEnginesTest, AnIteratorOfASpaceHasTheRowsOfBothFamilies) {
  for (const int db : {0, 2}) {
    for (const char* const name : {"a", "b"}) Put(db, name, "value");
  }
  Commit();
  const auto rows = store().engine().NewIterator(rocksdb::ReadOptions(), Space::kKeys);
  std::string order;
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    order += ModeOfRow(Space::kKeys, {rows->key().data(), rows->key().size()}) == StorageMode::kHdd ? 'h' : 's';
  }
  EXPECT_EQ(order, "sshh");
  order.clear();
  for (rows->SeekToLast(); rows->Valid(); rows->Prev()) {
    order += ModeOfRow(Space::kKeys, {rows->key().data(), rows->key().size()}) == StorageMode::kHdd ? 'h' : 's';
  }
  EXPECT_EQ(order, "hhss");
}

}  // namespace
}  // namespace cairn
