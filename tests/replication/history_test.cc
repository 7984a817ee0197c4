// SPDX-License-Identifier: BSD-3-Clause
#include "replication/history.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

History Example() {
  History history;
  history.id = std::string(kReplicationIdDigits, 'a');
  history.previous_id = std::string(kReplicationIdDigits, 'b');
  history.previous_end = 101;
  history.logs = history.follows = true;
  history.boot = "boot";
  history.anchors = {{0, 1, kNoDb}, {100, 7, 3}, {250, 9, 0}};
  return history;
}

// What a restart goes on with is what was written.
TEST(HistoryTest, ComesBackAsItWasWritten) {
  const History history = Example();
  const Result<History> read = DecodeHistory(EncodeHistory(history));
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_EQ(EncodeHistory(*read), EncodeHistory(history));
  EXPECT_EQ(read->anchors[1].db, 3);
  EXPECT_TRUE(read->follows);
}

// A row that is cut short anywhere is an error, never a shorter history.
TEST(HistoryTest, IsRefusedWhenCutShort) {
  const std::string whole = EncodeHistory(Example());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(DecodeHistory(std::string_view(whole).substr(0, size)).ok()) << size;
  }
}

// The stream before the fork is covered up to the fork, and not a byte further.
TEST(HistoryTest, CoversTheStreamBeforeItsFork) {
  History history = Example();
  const std::string old = history.id;
  history.Fork(300);
  EXPECT_NE(history.id, old);
  EXPECT_TRUE(history.Covers(old, 301));
  EXPECT_FALSE(history.Covers(old, 302));
  EXPECT_TRUE(history.Covers(history.id, 1000));
  EXPECT_FALSE(history.Covers(std::string(kReplicationIdDigits, 'b'), 1));
}

// A byte is reached from the last anchor before it.
TEST(HistoryTest, FindsTheAnchorBeforeAByte) {
  const History history = Example();
  EXPECT_EQ(history.AnchorBefore(99)->sequence, 1u);
  EXPECT_EQ(history.AnchorBefore(100)->sequence, 7u);
  EXPECT_EQ(history.AnchorBefore(5000)->sequence, 9u);
}

}  // namespace
}  // namespace cairn
