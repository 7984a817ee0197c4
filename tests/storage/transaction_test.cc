// SPDX-License-Identifier: BSD-3-Clause
//
// A command that holds all stripes sees the databases as they are once it does.
#include "storage/transaction.h"

#include <atomic>
#include <string>
#include <thread>

#include "store_fixture.h"

namespace cairn {
namespace {

class TransactionTest : public StoreFixture {
 protected:
  // Another transaction waits until this one has swapped two databases; how its command then ends.
  template <typename Begin>
  Status EndOfOneThatWaited(Begin begin) {
    EXPECT_TRUE(txn().BeginAlone(now_ms()).ok());
    txn().SwapKeyspaces(0, 1);
    Finish();
    Transaction other(store(), 1);
    std::atomic<bool> begun = false;
    Status end;
    std::thread waiting([&] {
      Status status = begin(other, begun);
      end = status.ok() ? other.FinishCommand() : std::move(status);
      seen_ = other.keyspace(0);
    });
    while (!begun) std::this_thread::yield();
    Commit();
    waiting.join();
    return end;
  }

  KeyspaceId seen_ = 0;
};

TEST_F(TransactionTest, WhoIsAloneHasSeenWhatItWaitedFor) {
  const KeyspaceId second = txn().keyspace(1);
  const Status end = EndOfOneThatWaited([](Transaction& other, std::atomic<bool>& begun) {
    begun = true;
    return other.BeginAlone(now_ms());
  });
  EXPECT_TRUE(end.ok()) << end.text();
  EXPECT_EQ(seen_, second);
}

// It may have looked at a database before.
TEST_F(TransactionTest, WhoBeganBeforeADatabaseChangedIsRefused) {
  const Status end = EndOfOneThatWaited([](Transaction& other, std::atomic<bool>& begun) {
    other.BeginCommand(Lane::kSlow, now_ms(), false);
    begun = true;
    return other.LockAll();
  });
  EXPECT_TRUE(end.Is(Code::kWouldWait));
}

}  // namespace
}  // namespace cairn
