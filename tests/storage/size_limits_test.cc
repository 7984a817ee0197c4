// SPDX-License-Identifier: BSD-3-Clause
//
// RocksDB's lengths have 32 bits: larger data is refused before anything is written, and others are not affected.
#include <rocksdb/write_batch.h>
#include <sys/mman.h>

#include <string_view>

#include "storage/batch.h"
#include "store_fixture.h"

namespace cairn {
namespace {

constexpr uint64_t kFourGigabytes = uint64_t{4} << 30;

class SizeLimitsTest : public StoreFixture {
 protected:
  void SetUp() override {
    StoreFixture::SetUp();
    void* const zeros = mmap(nullptr, kMappedBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(zeros, MAP_FAILED);
    zeros_ = static_cast<const char*>(zeros);
  }
  void TearDown() override {
    munmap(const_cast<char*>(zeros_), kMappedBytes);
    StoreFixture::TearDown();
  }

  // Zero bytes that take no memory unless they are copied.
  std::string_view Zeros(uint64_t bytes) const { return {zeros_, bytes}; }

  void Put(std::string_view name, std::string_view value) {
    Begin();
    const Key key(txn().databases().keyspace(0), name);
    Lock(key);
    txn().Put(key.row(), value);
  }
  std::string Stored(std::string_view name) {
    Begin();
    const auto row = txn().Get(Key(txn().databases().keyspace(0), name).row());
    EXPECT_TRUE(row.ok());
    return row.ok() && *row ? std::string(row->bytes()) : "none";
  }

 private:
  static constexpr uint64_t kMappedBytes = kFourGigabytes + 4096;
  const char* zeros_ = nullptr;
};

TEST_F(SizeLimitsTest, ATooLargeRowRefusesOnlyItsCommand) {
  Put("before", "x");
  Finish();
  Put("large", Zeros(kFourGigabytes));
  EXPECT_EQ(txn().FinishCommand().text(), kRowTooLarge);
  txn().AbandonCommand();
  Put("after", "y");
  Finish();
  Commit();
  EXPECT_EQ(Stored("before"), "x");
  EXPECT_EQ(Stored("large"), "none");
  EXPECT_EQ(Stored("after"), "y");
}

// The memtable adds their sizes in 32 bits.
TEST_F(SizeLimitsTest, AKeyAndItsValueCountTogether) {
  Put(std::string(2 << 20, 'k'), Zeros(kMostRowBytes - (1 << 20)));
  EXPECT_EQ(txn().command().TakeRefusal().text(), kRowTooLarge);
  EXPECT_TRUE(txn().command().TakeRefusal().ok());
  txn().AbandonCommand();
}

// A part of a transaction or a script is refused without refusing the rest.
TEST_F(SizeLimitsTest, ARolledBackPartIsNotRefused) {
  Begin();
  const Key key(txn().databases().keyspace(0), "k");
  Lock(key);
  const Transaction::Savepoint savepoint = txn().MakeSavepoint();
  txn().Put(key.row(), Zeros(kFourGigabytes));
  txn().RollbackTo(savepoint);
  txn().Put(key.row(), "small");
  Finish();
  Commit();
  EXPECT_EQ(Stored("k"), "small");
}

TEST_F(SizeLimitsTest, TooLargeReplicatedCommandsRefuseOnlyTheirCommand) {
  store().interests().Set(kInterestInReplication, kInterestInReplication);
  Put("large", "x");
  const std::string_view words[] = {"SET", "large", Zeros(kFourGigabytes - 100)};
  txn().replicated_commands().Add(0, words);
  EXPECT_EQ(txn().FinishCommand().text(), kReplicatedTooLarge);
  txn().AbandonCommand();
  Put("small", "y");
  const std::string_view small[] = {"SET", "small", "y"};
  txn().replicated_commands().Add(0, small);
  Finish();
  Commit();
  EXPECT_EQ(Stored("large"), "none");
  EXPECT_EQ(Stored("small"), "y");
}

// Log data of 2^32 + 3 bytes would be written with a length of 3.
TEST_F(SizeLimitsTest, ABatchRefusesLengthsAbove32Bits) {
  rocksdb::WriteBatch batch;
  rocksdb::ColumnFamilyHandle* const family = store().engine().family(Space::kKeys);
  EXPECT_TRUE(PutLogData(batch, Zeros(kFourGigabytes + 3)).Is(Code::kIo));
  EXPECT_TRUE(PutRow(batch, family, "k", Zeros(kFourGigabytes)).Is(Code::kIo));
  EXPECT_TRUE(PutRow(batch, family, Zeros(kFourGigabytes), "v").Is(Code::kIo));
  EXPECT_TRUE(DeleteRow(batch, family, Zeros(kFourGigabytes)).Is(Code::kIo));
  EXPECT_EQ(batch.Count(), 0u);
  EXPECT_TRUE(PutRow(batch, family, "k", "v").ok());
}

}  // namespace
}  // namespace cairn
