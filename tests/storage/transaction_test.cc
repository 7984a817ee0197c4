// SPDX-License-Identifier: BSD-3-Clause
//
// A command that holds all stripes sees the databases as they are then; and rows read by an overtaken command do not
// enter the cache.
#include "storage/transaction.h"

#include <atomic>
#include <string>
#include <thread>

#include "store_fixture.h"

namespace cairn {
namespace {

class TransactionTest : public StoreFixture {
 protected:
  // Another transaction waits until this one has swapped two databases. Returns how its command ends.
  template <typename Begin>
  Status EndOfOneThatWaited(Begin begin) {
    EXPECT_TRUE(BeginAlone(txn(), now_ms()).ok());
    txn().databases().Swap(0, 1);
    Finish();
    Transaction other(store(), 1);
    std::atomic<bool> begun = false;
    Status end;
    std::thread waiting([&] {
      Status status = begin(other, begun);
      end = status.ok() ? other.FinishCommand() : std::move(status);
      seen_ = other.databases().keyspace(0);
    });
    while (!begun) std::this_thread::yield();
    Commit();
    waiting.join();
    return end;
  }

  KeyspaceId seen_ = 0;
};

TEST_F(TransactionTest, ACommandWithAllStripesSeesTheChangesItWaitedFor) {
  const KeyspaceId second = txn().databases().keyspace(1);
  const Status end = EndOfOneThatWaited([](Transaction& other, std::atomic<bool>& begun) {
    begun = true;
    return BeginAlone(other, now_ms());
  });
  EXPECT_TRUE(end.ok()) << end.text();
  EXPECT_EQ(seen_, second);
}

TEST_F(TransactionTest, ACommandThatReadAChangedMappingIsRefused) {
  for (const bool looks : {true, false}) {
    const Status end = EndOfOneThatWaited([looks](Transaction& other, std::atomic<bool>& begun) {
      other.BeginCommand(Lane::kSlow, now_ms(), false);
      if (looks) (void)other.databases().keyspace(0);
      begun = true;
      return other.LockAll();
    });
    EXPECT_EQ(end.Is(Code::kWouldWait), looks);
  }
}

// Between the reader's first look at the stripe and its read, the collection was given to a key of another stripe,
// whose writers do not meet the reader.
TEST_F(TransactionTest, RowsReadByAnOvertakenReaderAreNotCached) {
  constexpr CollectionId kCollection = 7;
  constexpr uint32_t kStripe = 1;
  const RowKey element = MakeElementRow(kCollection, "m", kStripe);
  const auto put = [&](std::string_view member) {
    Begin();
    ASSERT_TRUE(txn().Lock({&kStripe, 1}).ok());
    txn().Put(MakeElementRow(kCollection, member, kStripe), "old");
    txn().databases().AddKeys(txn().databases().keyspace(0), 1);  // a store without keys would know that it has no rows
    Finish();
    Commit();
  };
  put("m");
  for (const bool overtaken : {true, false}) {
    Reopen();
    Transaction reader(store(), 1);
    reader.BeginCommand(Lane::kSlow, now_ms(), true);
    ASSERT_TRUE(reader.Get(MakeElementRow(kCollection, "first", kStripe)).ok());
    if (overtaken) put("another");
    const Result<RowRef> read = reader.Get(element);
    ASSERT_TRUE(read.ok() && *read);
    EXPECT_EQ(reader.FinishCommand().ok(), !overtaken);
    const uint64_t hash = Overlay::HashOf(element.tagged());
    EXPECT_EQ(static_cast<bool>(store().cache().Lookup(element.tagged(), hash, false, 0)), !overtaken);
  }
}

}  // namespace
}  // namespace cairn
