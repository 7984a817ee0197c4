// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers of keyspaces and collections are used once: the disk notes each number before its commit, and when they run
// out the store refuses.
#include <rocksdb/db.h>

#include "encoding/varint.h"
#include "storage/format.h"
#include "storage/slice.h"
#include "store_fixture.h"

namespace cairn {
namespace {

class NumbersTest : public StoreFixture {
 protected:
  void PutMeta(std::string_view name, const std::string& value) {
    ASSERT_TRUE(store().engine().db().Put({}, store().engine().family(Space::kMeta), ToSlice(name), value).ok());
  }
  // Sets the state after so many keyspaces were used.
  void SetNextKeyspace(KeyspaceId next) {
    std::vector<KeyspaceId> keyspaces;
    for (int db = 0; db < store().databases().size(); ++db) keyspaces.push_back(store().databases()[db].keyspace);
    PutMeta(kDatabasesRow, EncodeDatabases(keyspaces, next));
  }
  Status Flush() {
    EXPECT_TRUE(BeginAlone(txn(), now_ms()).ok());
    Status status = txn().databases().Replace(0);
    if (!status.ok()) {
      txn().AbandonCommand();
      txn().Discard();
      return status;
    }
    TRY(txn().FinishCommand());
    return txn().Commit(CommitMode::kWait);
  }
  CollectionId Reserved() {
    const auto note = store().ReadNote(kCollectionsRow);
    EXPECT_TRUE(note.ok());
    CollectionId reserved = 0;
    std::string_view bytes(*note);
    EXPECT_TRUE(ReadVarint(bytes, reserved));
    return reserved;
  }
  CollectionId MakeCollection() {
    Begin();
    const CollectionId id = txn().NewCollectionId(txn().databases().keyspace(0));
    const RowKey row = MakeElementRow(id, "member", 0);
    const uint32_t stripe = row.stripe();
    EXPECT_TRUE(txn().Lock({&stripe, 1}).ok());
    txn().Put(row, "value");
    Finish();
    Commit();
    return id;
  }
};

TEST_F(NumbersTest, ACommittedCollectionIdIsReservedOnDisk) {
  const CollectionId first = MakeCollection();
  EXPECT_GT(Reserved(), first);
  Reopen();
  const CollectionId second = MakeCollection();
  EXPECT_GT(second, first);
  EXPECT_GT(Reserved(), second);
}

// So a disk that refuses this write at that moment causes no other error.
TEST_F(NumbersTest, NumbersAreReservedInAdvance) {
  MakeCollection();
  const CollectionId reserved = Reserved();
  Begin();
  while (txn().NewCollectionId(txn().databases().keyspace(0)) < reserved - 1000) {
  }
  Finish();
  EXPECT_EQ(Reserved(), reserved);
  const CollectionId id = MakeCollection();
  EXPECT_LT(id, reserved);
  EXPECT_GT(Reserved(), reserved);
}

TEST_F(NumbersTest, WithoutKeyspacesLeftAFlushIsRefused) {
  SetNextKeyspace(kKeyspacesEnd - 1);
  Reopen();
  EXPECT_TRUE(Flush().ok());
  const KeyspaceId last = txn().databases().keyspace(0);
  EXPECT_EQ(last, kKeyspacesEnd - 1);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(Flush().Is(Code::kReply));
    EXPECT_EQ(txn().databases().keyspace(0), last);
    EXPECT_FALSE(store().staging().Begin(txn()).ok());
    EXPECT_FALSE(store().databases().is_staging());
    txn().Discard();
    Reopen();
  }
}

TEST_F(NumbersTest, ATooLargeNumberOnDiskIsNotTruncated) {
  std::string next;
  AppendVarint(next, uint64_t{1} << 32);
  AppendVarint(next, 1);
  AppendVarint(next, 1);
  std::vector<KeyspaceId> keyspaces;
  KeyspaceId read = 0;
  EXPECT_TRUE(DecodeDatabases(next, keyspaces, read).Is(Code::kCorruption));
  std::string keyspace;
  AppendVarint(keyspace, 2);
  AppendVarint(keyspace, 1);
  AppendVarint(keyspace, (uint64_t{1} << 32) + 1);
  EXPECT_TRUE(DecodeDatabases(keyspace, keyspaces, read).Is(Code::kCorruption));
}

TEST_F(NumbersTest, TooLargeCollectionIdsOfAnotherServerAreRefused) {
  std::vector<KeyspaceId> keyspaces;
  for (int db = 0; db < store().databases().size(); ++db) keyspaces.push_back(1000 + static_cast<KeyspaceId>(db));
  const RowNumbers first{1000, 1000};
  const RowNumbers next{2000, UINT64_MAX - 5};
  const auto staged = store().staging().Begin(txn(), keyspaces, first, next);
  ASSERT_FALSE(staged.ok());
  EXPECT_FALSE(store().databases().is_staging());
  txn().Discard();
  EXPECT_LT(MakeCollection(), 1000u);
}

}  // namespace
}  // namespace cairn
