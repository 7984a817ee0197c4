// SPDX-License-Identifier: BSD-3-Clause
//
// Values of a megabyte or more: only the slow lane writes them, the commit moves them into its batch, and transactions
// with very large ones take turns.
#include <chrono>
#include <future>
#include <string>
#include <string_view>

#include "base/pages.h"
#include "storage/large_commits.h"
#include "store_fixture.h"

namespace cairn {
namespace {

// No two parts are alike, so a part that is lost or moved shows.
std::string Text(size_t bytes, uint64_t seed) {
  std::string text;
  for (uint64_t i = seed; text.size() < bytes; ++i) text += std::to_string(i) + ' ';
  text.resize(bytes);
  return text;
}

class LargeValuesTest : public StoreFixture {
 protected:
  Key Name(int db, std::string_view name) { return {txn().databases().keyspace(db), name}; }
  void Put(int db, std::string_view name, std::string_view value, std::string_view rest = {}) {
    Begin();
    const Key key = Name(db, name);
    Lock(key);
    txn().Put(key.row(), value, rest);
    txn().databases().AddKeys(txn().databases().keyspace(db), 1);  // a store without keys reads no rows
    Finish();
  }
  std::string Stored(int db, std::string_view name) {
    Begin();
    const auto row = txn().Get(Name(db, name).row());
    EXPECT_TRUE(row.ok());
    return row.ok() && *row ? std::string(row->bytes()) : "none";
  }
};

TEST_F(LargeValuesTest, TheFastLaneDoesNotWriteThem) {
  const std::string large = Text(kLargeValueBytes, 0);
  Begin(Lane::kFast);
  const Key key = Name(0, "k");
  Lock(key);
  txn().Put(key.row(), large);
  EXPECT_TRUE(txn().FinishCommand().Is(Code::kWouldWait));
  txn().AbandonCommand();
  txn().Discard();
  EXPECT_EQ(Stored(0, "k"), "none");

  Begin(Lane::kFast);
  Lock(key);
  txn().Put(key.row(), std::string_view(large).substr(1));
  Finish();
  Commit();
  EXPECT_TRUE(Stored(0, "k") == large.substr(1));
}

// The batch grows after a value was moved into it, and rows of two engines are in two batches.
TEST_F(LargeValuesTest, TheCommitKeepsThemWhole) {
  SetModes({StorageMode::kSsd, StorageMode::kMemory});
  Reopen();
  const std::string first = Text(3 * kLargeValueBytes, 1);
  const std::string second = Text(kLargeValueBytes, 2);
  for (const int db : {0, 1}) {
    Put(db, "a", "small");
    Put(db, "first", "head", first);
    Put(db, "b", Text(1000, 3));
    Put(db, "second", second);
    Put(db, "c", "small");
    EXPECT_TRUE(Stored(db, "first") == "head" + first) << "before the commit";
  }
  Commit();
  for (const int db : {0, 1}) {
    EXPECT_TRUE(Stored(db, "first") == "head" + first) << db;
    EXPECT_TRUE(Stored(db, "second") == second) << db;
    EXPECT_TRUE(Stored(db, "b") == Text(1000, 3)) << db;
  }
  Reopen();
  EXPECT_TRUE(Stored(0, "first") == "head" + first) << "from the log";
  EXPECT_TRUE(Stored(0, "second") == second) << "from the log";
}

TEST_F(LargeValuesTest, TransactionsWithVeryLargeOnesTakeTurns) {
  const std::string large = Text(4 * kLargeValueBytes, 1);
  ASSERT_TRUE(store().large_commits().Includes(large.size()));
  ASSERT_FALSE(store().large_commits().Includes(1000));
  Put(0, "k", large);
  std::future<Status> other = std::async(std::launch::async, [&] {
    Transaction txn(store());
    txn.BeginCommand(Lane::kSlow, now_ms(), true);
    const Key key(txn.databases().keyspace(0), "other");
    const uint32_t stripe = key.stripe();
    Status status = txn.Lock({&stripe, 1});
    txn.Put(key.row(), large);
    if (status.ok()) status = txn.FinishCommand();
    return status.ok() ? txn.Commit(CommitMode::kWait) : std::move(status);
  });
  EXPECT_EQ(other.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  Commit();
  EXPECT_TRUE(other.get().ok());
  EXPECT_TRUE(Stored(0, "k") == large);
  EXPECT_TRUE(Stored(0, "other") == large);
}

// The pages at both ends are not whole, and others use them.
TEST(DiscardPagesTest, BytesOutsideStay) {
  std::string bytes(64 << 10, 'x');
  DiscardPages(std::string_view(bytes).substr(100, bytes.size() - 200));
  EXPECT_EQ(bytes.substr(0, 100), std::string(100, 'x'));
  EXPECT_EQ(bytes.substr(bytes.size() - 100), std::string(100, 'x'));
  EXPECT_EQ(bytes[bytes.size() / 2], '\0');
  DiscardPages(std::string_view(bytes).substr(0, 10));
  EXPECT_EQ(bytes[0], 'x');
}

}  // namespace
}  // namespace cairn
