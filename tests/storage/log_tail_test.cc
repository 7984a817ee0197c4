// SPDX-License-Identifier: BSD-3-Clause
//
// The log's tail in memory: in commit order, whichever thread notes its batch first; without gaps; and with a size
// limit.
#include "storage/log_tail.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "storage/log_reader.h"
#include "store_fixture.h"

namespace cairn {
namespace {

constexpr uint64_t kBytes = 1 << 20;

// The log data from `sequence` on, as far as the tail has it.
std::string ReadFrom(const LogTail& tail, uint64_t sequence) {
  std::string all;
  LogTail::Batch batch;
  while (tail.Find(sequence, false, batch) == LogTail::Place::kHere) {
    if (batch.entries != nullptr) all += *batch.entries;
    sequence = batch.next;
  }
  return all;
}

TEST(LogTailTest, ABatchIsShownWhenAllEarlierOnesHaveArrived) {
  LogTail tail(kBytes);
  tail.Turn(true);
  tail.Note(10, 2, "a");
  tail.Note(15, 1, "c");
  EXPECT_EQ(ReadFrom(tail, 10), "a");
  tail.Note(12, 3, "b");
  EXPECT_EQ(ReadFrom(tail, 10), "abc");
  EXPECT_EQ(ReadFrom(tail, 12), "bc");
}

// Rows that are not replicated take sequence numbers too.
TEST(LogTailTest, BatchesWithoutLogDataAreSkipped) {
  LogTail tail(kBytes);
  tail.Turn(true);
  tail.Note(1, 1, "a");
  tail.Note(2, 5, "");
  tail.Note(7, 1, "b");
  tail.Note(8, 1, "");
  EXPECT_EQ(ReadFrom(tail, 1), "ab");
  LogTail::Batch batch;
  ASSERT_EQ(tail.Find(2, false, batch), LogTail::Place::kHere);
  EXPECT_EQ(batch.sequence, 7u);
}

// Also while an earlier batch is missing; the reader handles that.
TEST(LogTailTest, ABatchWakesAWaitingReader) {
  constexpr int64_t kLongUs = 60'000'000;
  LogTail tail(kBytes);
  tail.Turn(true);
  tail.Note(10, 2, "a");
  EXPECT_EQ(tail.newest(), 12u);
  for (const uint64_t sequence : {12u, 20u}) {
    std::thread writer([&tail, sequence] { tail.Note(sequence, 1, "b"); });
    EXPECT_TRUE(tail.news().Await(kLongUs, [&] { return tail.newest() > sequence; }));
    writer.join();
  }
  tail.Note(12, 1, "late");
  EXPECT_EQ(tail.newest(), 21u);
}

TEST(LogTailTest, TheOldestBatchesAreDroppedAboveTheLimit) {
  LogTail tail(1000);
  tail.Turn(true);
  for (uint64_t i = 1; i <= 100; ++i) tail.Note(i, 1, std::string(50, 'x'));
  EXPECT_LE(tail.bytes(), 1000u);
  LogTail::Batch batch;
  EXPECT_EQ(tail.Find(1, false, batch), LogTail::Place::kGone);
  EXPECT_EQ(tail.Find(100, false, batch), LogTail::Place::kHere);
  EXPECT_EQ(tail.Find(101, false, batch), LogTail::Place::kAhead);
}

// It would fall behind and read the files again at once.
TEST(LogTailTest, AReaderOfTheFilesDoesNotEnterAtTheOldestBatch) {
  LogTail tail(kBytes);
  tail.Turn(true);
  for (uint64_t i = 1; i <= 10; ++i) tail.Note(i, 1, "x");
  LogTail::Batch batch;
  EXPECT_EQ(tail.Find(2, true, batch), LogTail::Place::kGone);
  EXPECT_EQ(tail.Find(9, true, batch), LogTail::Place::kHere);
}

// A write without log, or one that failed half-way, has a number but never arrives.
TEST(LogTailTest, AMissingBatchIsNotAwaitedForEver) {
  LogTail tail(1000);
  tail.Turn(true);
  tail.Note(1, 1, "a");
  for (uint64_t i = 3; i <= 20; ++i) tail.Note(i, 1, std::string(50, 'x'));
  LogTail::Batch batch;
  EXPECT_EQ(tail.Find(2, false, batch), LogTail::Place::kGone);
  EXPECT_EQ(tail.Find(20, false, batch), LogTail::Place::kHere);
  tail.Note(2, 1, "too late");
  EXPECT_EQ(tail.Find(2, false, batch), LogTail::Place::kGone);
}

TEST(LogTailTest, WhileOffItHoldsNothing) {
  LogTail tail(kBytes);
  tail.Note(1, 1, "a");
  EXPECT_EQ(tail.bytes(), 0u);
  tail.Turn(true);
  tail.Note(2, 1, "b");
  EXPECT_GT(tail.bytes(), 0u);
  tail.Turn(false);
  LogTail::Batch batch;
  EXPECT_EQ(tail.bytes(), 0u);
  EXPECT_EQ(tail.Find(2, false, batch), LogTail::Place::kGone);
}

class LogTailReaderTest : public StoreFixture {
 protected:
  // Commits `count` ticks with one key and one replicated command each, on its own transaction.
  void Commit(uint32_t committer, int count) {
    Transaction txn(store(), committer);
    for (int i = 0; i < count; ++i) {
      const std::string name = std::to_string(committer) + "/" + std::to_string(i);
      txn.BeginCommand(Lane::kSlow, now_ms(), true);
      const Key key(txn.databases().keyspace(0), name);
      const uint32_t stripe = key.stripe();
      ASSERT_TRUE(txn.Lock({&stripe, 1}).ok());
      txn.Put(key.row(), "value");
      const std::string_view argv[] = {"DEL", name};
      txn.replicated_commands().Add(0, argv);
      ASSERT_TRUE(txn.FinishCommand().ok());
      ASSERT_TRUE(txn.Commit(CommitMode::kWait).ok());
    }
  }
  std::string ReadFiles(uint64_t sequence) {
    LogReader files(store(), sequence);
    LogReader::Batch batch;
    std::string all;
    for (;;) {
      const Result<LogReader::Outcome> outcome = files.Next(batch);
      EXPECT_TRUE(outcome.ok());
      if (!outcome.ok() || *outcome != LogReader::Outcome::kBatch) return all;
      all += *batch.entries;
    }
  }
};

// Reading from memory and reading the files give the same data. A position in memory is valid in the files too, even
// where RocksDB has written batches of several threads as one record.
TEST_F(LogTailReaderTest, MemoryHasWhatTheFilesHave) {
  store().interests().Set(kInterestInReplication, kInterestInReplication);
  store().log().tail().Turn(true);
  const uint64_t start = store().log().LatestSequence() + 1;
  constexpr uint32_t kWriters = 8;
  constexpr int kTicks = 250;
  std::atomic<bool> ended{false};
  std::string live;
  std::vector<std::pair<uint64_t, size_t>> places;  // sequence numbers, and the bytes read up to each
  std::thread reading([&] {
    LogReader reader(store(), start);
    LogReader::Batch batch;
    for (bool last = false;;) {
      const Result<LogReader::Outcome> outcome = reader.Next(batch);
      ASSERT_TRUE(outcome.ok());
      ASSERT_NE(*outcome, LogReader::Outcome::kGone);
      if (*outcome == LogReader::Outcome::kBatch) {
        live += *batch.entries;
        places.emplace_back(batch.next, live.size());
      }
      if (*outcome == LogReader::Outcome::kCaughtUp && std::exchange(last, ended.load())) return;
    }
  });
  std::vector<std::thread> writers;
  for (uint32_t i = 1; i <= kWriters; ++i) writers.emplace_back([this, i] { Commit(i, kTicks); });
  for (std::thread& writer : writers) writer.join();
  ended = true;
  reading.join();
  store().log().tail().Turn(false);
  places.emplace_back(start, 0);
  EXPECT_EQ(ReadFiles(start), live);
  for (size_t i = 0; i < places.size(); i += 3) {
    ASSERT_EQ(ReadFiles(places[i].first), live.substr(places[i].second)) << "from " << places[i].first;
  }
}

}  // namespace
}  // namespace cairn
