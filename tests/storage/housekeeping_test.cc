// SPDX-License-Identifier: BSD-3-Clause
//
// The rows that O(1) deletes leave behind do not accumulate and delay no other work; and only the loader sees a data
// set that is being loaded.
#include <rocksdb/db.h>
#include <rocksdb/statistics.h>

#include <string>

#include "encoding/row_key.h"
#include "storage/format.h"
#include "store_fixture.h"

namespace cairn {
namespace {

class HousekeepingTest : public StoreFixture {
 protected:
  void AddKey(const std::string& name) {
    Begin();
    const Key key(txn().databases().keyspace(0), name);
    Lock(key);
    txn().Put(key.row(), std::string("\x01\x00v", 3));
    txn().databases().AddKeys(txn().databases().keyspace(0), 1);
    Finish();
    Commit();
  }
  void Flush() {
    ASSERT_TRUE(BeginAlone(txn(), now_ms()).ok());
    ASSERT_TRUE(txn().databases().Replace(0).ok());
    Finish();
    Commit();
  }
  int CountRows() {
    const std::string prefix(kCountRowPrefix);
    const std::unique_ptr<rocksdb::Iterator> rows(
        store().engine().db().NewIterator(rocksdb::ReadOptions(), store().engine().family(Space::kMeta)));
    int count = 0;
    for (rows->Seek(prefix); rows->Valid() && rows->key().starts_with(prefix); rows->Next()) ++count;
    return count;
  }
  bool HasKeyRow() {
    const std::unique_ptr<rocksdb::Iterator> rows(
        store().engine().db().NewIterator(rocksdb::ReadOptions(), store().engine().family(Space::kKeys)));
    rows->SeekToFirst();
    return rows->Valid();
  }
  // The number of syncs of the log so far.
  uint64_t Syncs() { return store().engine().Ticker(rocksdb::WAL_FILE_SYNCED); }
};

// Each commit that adds keys scans the sums, and each snapshot reads their rows.
TEST_F(HousekeepingTest, CountsOfFlushedDatabasesAreDeleted) {
  for (int i = 0; i < 100; ++i) {
    AddKey("k");
    Flush();
  }
  AddKey("a");
  AddKey("b");
  EXPECT_LE(CountRows(), store().databases().size());
  EXPECT_EQ(store().databases()[0].keys, 2);
  Reopen();
  EXPECT_EQ(store().databases()[0].keys, 2);
}

// A power loss may take a commit that is not synced. What it has dropped must still be there then.
TEST_F(HousekeepingTest, ACompactionSyncsTheLogBeforeItDropsRows) {
  AddKey("k");
  ASSERT_TRUE(store().engine().Flush().ok());
  Flush();
  const uint64_t before = Syncs();
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  rocksdb::ColumnFamilyHandle* const keys = store().engine().family(Space::kKeys);
  ASSERT_TRUE(store().engine().db().CompactRange(options, keys, nullptr, nullptr).ok());
  EXPECT_FALSE(HasKeyRow());
  EXPECT_GT(Syncs(), before);
}

TEST_F(HousekeepingTest, FilesOfAFlushedDatabaseAreRemovedAfterASyncOfTheLog) {
  AddKey("k");
  ASSERT_TRUE(store().engine().Flush().ok());
  Flush();
  const uint64_t before = Syncs();
  ASSERT_TRUE(store().lazy_free().Run(store()).ok());
  EXPECT_GT(Syncs(), before);
}

TEST_F(HousekeepingTest, TwoStagingsAtATimeAreRefused) {
  ASSERT_TRUE(store().staging().Begin(txn()).ok());
  const KeyspaceId staged = store().databases().staged(0);
  Transaction other(store(), 1);
  EXPECT_TRUE(store().staging().Begin(other).Is(Code::kIo));
  other.AbandonCommand();
  other.Discard();
  EXPECT_TRUE(store().databases().is_staging());
  EXPECT_EQ(store().databases().staged(0), staged);
  EXPECT_TRUE(store().databases().IsLive(staged));
  store().staging().End();
  EXPECT_TRUE(store().staging().Begin(other).ok());
}

// The cron thread has other work between the runs.
TEST_F(HousekeepingTest, ALargeCollectionIsFreedInSteps) {
  constexpr int kRows = 40000;
  const CollectionId id = txn().NewCollectionId(txn().databases().keyspace(0));
  Begin();
  const Key key(txn().databases().keyspace(0), "k");
  Lock(key);
  for (int i = 0; i < kRows; ++i) txn().Put(MakeElementRow(id, std::to_string(i), key.stripe()), "");
  txn().on_commit().NoteDeadCollection(id);
  Finish();
  Commit();
  LazyFree& lazy_free = store().lazy_free();
  int runs = 0;
  for (; lazy_free.pending() > 0 && runs < 10; ++runs) ASSERT_TRUE(lazy_free.Run(store()).ok());
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(store().counters().lazyfreed_objects.load(), 1u);
}

}  // namespace
}  // namespace cairn
