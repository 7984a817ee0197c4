// SPDX-License-Identifier: BSD-3-Clause
//
// What a reader of the log finds after a start that did not replay all of it.
#include "storage/unreplayed_logs.h"

#include <memory>

#include "damaged_log_fixture.h"
#include "storage/log_reader.h"

namespace cairn {
namespace {

class UnreplayedLogsTest : public DamagedLogFixture {
 protected:
  // Opens the copy and writes a row. Returns how many batches a reader finds from `sequence` on; `last` is what comes
  // then.
  size_t CountBatches(uint64_t sequence, LogReader::Outcome& last) {
    Reopen(image());
    Write("d", "value");
    LogReader reader(store(), sequence);
    LogReader::Batch batch;
    for (size_t count = 0;; ++count) {
      const Result<LogReader::Outcome> outcome = reader.Next(batch);
      EXPECT_TRUE(outcome.ok()) << outcome.status().text();
      last = outcome.ok() ? *outcome : LogReader::Outcome::kGone;
      if (last != LogReader::Outcome::kBatch) return count;
    }
  }
};

TEST_F(UnreplayedLogsTest, ALogBehindATornOneIsNotRead) {
  MakeTornImage();
  LogReader::Outcome last{};
  EXPECT_EQ(CountBatches(after_a(), last), 1u);  // d
  EXPECT_EQ(last, LogReader::Outcome::kCaughtUp);
}

TEST_F(UnreplayedLogsTest, ALogBehindATornOneMayBeUnreadable) {
  const uint64_t start = store().log().LatestSequence() + 1;
  MakeTornAndDamagedImage();
  LogReader::Outcome last{};
  EXPECT_EQ(CountBatches(start, last), 0u);
  EXPECT_EQ(last, LogReader::Outcome::kGone);
}

TEST_F(UnreplayedLogsTest, ADamagedLogIsNotRead) {
  const uint64_t start = store().log().LatestSequence() + 1;
  MakeDamagedImage();
  LogReader::Outcome last{};
  EXPECT_EQ(CountBatches(start, last), 0u);
  EXPECT_EQ(last, LogReader::Outcome::kGone);
}

}  // namespace
}  // namespace cairn
