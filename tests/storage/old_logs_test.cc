// SPDX-License-Identifier: BSD-3-Clause
//
// Old write-ahead logs are kept as long as a reader may need them, and no longer.
#include "storage/old_logs.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "storage/log_reader.h"
#include "store_fixture.h"

namespace cairn {
namespace {

class OldLogsTest : public StoreFixture {
 protected:
  void SetUp() override {
    StoreFixture::SetUp();
    store().interests().Set(kInterestInReplication, kInterestInReplication);
  }

  // Writes a key and makes its log an old one. Returns the key's sequence number.
  uint64_t WriteLog(const std::string& name) {
    const uint64_t before = store().log().LatestSequence() + 1;
    Begin();
    const Key key(txn().databases().keyspace(0), name);
    Lock(key);
    txn().Put(key.row(), "value");
    const std::string_view argv[] = {"DEL", name};
    txn().replicated_commands().Add(0, argv);
    Finish();
    Commit();
    EXPECT_TRUE(store().engine().Flush().ok());
    return before;
  }

  size_t CountOld() const {
    size_t count = 0;
    const std::filesystem::path folder = std::filesystem::path(dir()) / "archive";
    if (!std::filesystem::exists(folder)) return 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) count += entry.path().extension() == ".log";
    return count;
  }

  bool CanRead(uint64_t sequence) {
    LogReader reader(store(), sequence);
    LogReader::Batch batch;
    const Result<LogReader::Outcome> outcome = reader.Next(batch);
    return outcome.ok() && *outcome == LogReader::Outcome::kBatch && batch.sequence == sequence;
  }
};

TEST_F(OldLogsTest, AreDeletedWithoutReaders) {
  WriteLog("a");
  WriteLog("b");
  ASSERT_GT(CountOld(), 0u);
  ASSERT_TRUE(DropOldLogs(store(), [] { return kNothingNeeded; }).ok());
  EXPECT_EQ(CountOld(), 0u);
  // Without old logs it succeeds too.
  EXPECT_TRUE(DropOldLogs(store(), [] { return kNothingNeeded; }).ok());
}

TEST_F(OldLogsTest, AreKeptFromTheFirstNeededOne) {
  const uint64_t first = WriteLog("a");
  const uint64_t second = WriteLog("b");
  const uint64_t third = WriteLog("c");
  ASSERT_TRUE(DropOldLogs(store(), [first] { return first; }).ok());
  EXPECT_TRUE(CanRead(first));
  ASSERT_TRUE(DropOldLogs(store(), [second] { return second; }).ok());
  EXPECT_FALSE(CanRead(first));
  EXPECT_TRUE(CanRead(second));
  EXPECT_TRUE(CanRead(third));
}

// A reader that starts at the log's end while the folder is being listed finds everything from there on.
TEST_F(OldLogsTest, AreListedBeforeReadersAreAsked) {
  WriteLog("a");
  uint64_t begin = 0;
  ASSERT_TRUE(DropOldLogs(store(), [&] {
                begin = WriteLog("b");  // becomes old after the listing
                return kNothingNeeded;
              }).ok());
  EXPECT_TRUE(CanRead(begin));
}

// RocksDB looks at all logs when it is asked for one of them; logs deleted meanwhile must not cause an error.
TEST_F(OldLogsTest, AreDeletedDuringReads) {
  std::atomic<bool> over{false};
  std::string error;
  WriteLog("first");
  std::atomic<uint64_t> needed{store().log().LatestSequence() + 1};
  const std::jthread reader([&] {
    while (!over && error.empty()) {
      LogReader log(store(), needed);
      LogReader::Batch batch;
      const Result<LogReader::Outcome> outcome = log.Next(batch);
      if (!outcome.ok()) error = outcome.status().text();
    }
  });
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 20; ++i) WriteLog("a");
    needed = WriteLog("b");
    EXPECT_TRUE(DropOldLogs(store(), [&needed] { return needed.load(); }).ok());
  }
  over = true;
  EXPECT_EQ(error, "");
}

// A killed process has left logs that were already renamed for deletion.
TEST_F(OldLogsTest, RenamedLogsOfAKilledProcessAreDeleted) {
  WriteLog("a");
  const std::filesystem::path left = std::filesystem::path(dir()) / "archive" / "000001.log.dropped";
  std::ofstream(left) << "log";
  ASSERT_TRUE(DropOldLogs(store(), [] { return uint64_t{1}; }).ok());
  EXPECT_FALSE(std::filesystem::exists(left));
}

}  // namespace
}  // namespace cairn
