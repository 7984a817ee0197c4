// SPDX-License-Identifier: BSD-3-Clause
//
// What max-data-size counts: a deleted key frees its bytes before a compaction has dropped its rows.
#include "storage/live_size.h"

#include <rocksdb/db.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "store_fixture.h"

namespace cairn {
namespace {

constexpr int kCollections = 20;
constexpr int kRows = 500;
constexpr int kKeys = 400;

class LiveSizeTest : public StoreFixture {
 protected:
  // Bytes that do not compress.
  std::string Noise(size_t size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random_.Next());
    return bytes;
  }

  CollectionId AddCollection(const std::string& name) {
    const KeyspaceId keyspace = txn().databases().keyspace(0);
    const CollectionId id = txn().NewCollectionId(keyspace);
    Begin();
    const Key key(keyspace, name);
    Lock(key);
    txn().Put(MakeOwnerRow(id, key.stripe()), key.row().row());
    for (int i = 0; i < kRows; ++i) txn().Put(MakeElementRow(id, std::to_string(i), key.stripe()), Noise(100));
    Finish();
    Commit();
    return id;
  }

  // What DEL does to a spread value.
  void DropCollection(const std::string& name, CollectionId id) {
    Begin();
    const Key key(txn().databases().keyspace(0), name);
    Lock(key);
    txn().Delete(MakeOwnerRow(id, key.stripe()));
    txn().on_commit().NoteDeadCollection(id);
    Finish();
    Commit();
  }

  // Drops three quarters of some collections whose rows are in tables.
  void DropMostCollections() {
    std::vector<CollectionId> ids;
    for (int i = 0; i < kCollections; ++i) ids.push_back(AddCollection("k" + std::to_string(i)));
    ASSERT_TRUE(store().engine().Flush().ok());
    for (int i = 0; i < kCollections * 3 / 4; ++i) {
      DropCollection("k" + std::to_string(i), ids[static_cast<size_t>(i)]);
    }
  }

  void FreeDropped() {
    for (int i = 0; i < 100 && store().lazy_free().pending() > 0; ++i) {
      ASSERT_TRUE(store().lazy_free().Run(store()).ok());
    }
    ASSERT_EQ(store().lazy_free().pending(), 0u);
  }

  void WriteKeys(bool exist) {
    for (int i = 0; i < kKeys; ++i) {
      Begin();
      Keyspace keys(txn(), 0, limits_);
      const std::string name = "key:" + std::to_string(i);
      const Key key = keys.Name(name);
      Lock(key);
      const auto entry = keys.Find(key);
      ASSERT_TRUE(entry.ok());
      ASSERT_TRUE(
          (exist ? keys.Write(key, *entry, {.type = Type::kString}, Noise(5000)) : keys.Remove(key, *entry)).ok());
      Finish();
      Commit();
    }
  }

  uint64_t InFiles(const LiveSize& size) { return size.Bytes(store()) - LiveSize::MemtableBytes(store()); }

  const Limits limits_;
  Random random_{7};
};

// With max-data-size all keys were evicted, because none of them seemed to free anything.
TEST_F(LiveSizeTest, RowsOfDroppedCollectionsAreGarbageOnceTheyAreCounted) {
  DropMostCollections();
  LiveSize size;
  size.Refresh(store());
  const uint64_t before = InFiles(size);
  EXPECT_GT(before, uint64_t{kCollections * kRows * 100});
  FreeDropped();
  EXPECT_LT(InFiles(size), before * 3 / 10);
  EXPECT_GT(size.GarbageBytes(store()), before * 7 / 10);
}

// The evictor must not stop, nor delete too much, during BGSAVE.
TEST_F(LiveSizeTest, RowsOfDroppedCollectionsAreCountedWhileASnapshotIsHeld) {
  DropMostCollections();
  store().lazy_free().Hold();
  FreeDropped();
  EXPECT_EQ(store().lazy_free().orphans_on_disk(), uint64_t{kCollections * kRows * 3 / 4});
  store().lazy_free().Release();
}

TEST_F(LiveSizeTest, ACompactionOfTheElementsLeavesNoGarbage) {
  DropMostCollections();
  FreeDropped();
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  rocksdb::ColumnFamilyHandle* const elements = store().engine().family(Space::kElements);
  ASSERT_TRUE(store().engine().db().CompactRange(options, elements, nullptr, nullptr).ok());
  EXPECT_EQ(store().lazy_free().orphans_on_disk(), 0u);
  LiveSize size;
  size.Refresh(store());
  EXPECT_EQ(size.GarbageBytes(store()), 0u);
  EXPECT_GT(InFiles(size), uint64_t{kCollections / 4 * kRows * 100});
}

// RocksDB does not tell how many rows a table has that was opened at a start.
TEST_F(LiveSizeTest, DeletedKeysDoNotCountAfterARestart) {
  WriteKeys(true);
  ASSERT_TRUE(store().engine().Flush().ok());
  Reopen();
  LiveSize size;
  size.SampleTables(store());
  size.Refresh(store());
  const uint64_t before = InFiles(size);
  EXPECT_GT(before, uint64_t{kKeys * 5000});
  WriteKeys(false);
  EXPECT_LT(InFiles(size), before / 10);
}

}  // namespace
}  // namespace cairn
