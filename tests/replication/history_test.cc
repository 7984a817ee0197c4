// SPDX-License-Identifier: BSD-3-Clause
#include "replication/history.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

History Example() {
  History history;
  history.id = std::string(kReplicationIdDigits, 'a');
  history.former = {{std::string(kReplicationIdDigits, 'b'), 101}};
  history.logs = history.is_replica = true;
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
  EXPECT_TRUE(read->is_replica);
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
}

// A replica that was away while its primary was started several times goes on where it was.
TEST(HistoryTest, CoversStreamsBeforeTheLastOne) {
  History history = Example();
  history.Fork(300);
  const std::string before = std::string(kReplicationIdDigits, 'b');
  EXPECT_TRUE(history.Covers(before, 101));
  EXPECT_FALSE(history.Covers(before, 102));
  history.StartAnew();
  EXPECT_FALSE(history.Covers(before, 1));
}

// What comes after a fork that lies before an earlier one was never of the streams before it.
TEST(HistoryTest, AForkFurtherBackShortensAll) {
  History history = Example();
  history.Fork(300);
  const std::string lost = history.id;
  history.Fork(50);
  EXPECT_TRUE(history.Covers(std::string(kReplicationIdDigits, 'a'), 51));
  EXPECT_FALSE(history.Covers(std::string(kReplicationIdDigits, 'a'), 52));
  EXPECT_FALSE(history.Covers(std::string(kReplicationIdDigits, 'b'), 52));
  EXPECT_FALSE(history.Covers(lost, 52));
}

// Who was a primary and has told nothing goes on under the name that its primary knows; its replicas know the other.
TEST(HistoryTest, AForkInVainIsTakenBack) {
  History history = Example();
  history.Fork(300);
  const std::string forked = history.id;
  history.TakeForkBack(301);
  EXPECT_EQ(history.id, forked);
  history.TakeForkBack(300);
  EXPECT_EQ(history.id, Example().id);
  EXPECT_TRUE(history.Covers(forked, 301));
  EXPECT_FALSE(history.Covers(forked, 302));
}

// A directory that an earlier version wrote is taken over.
TEST(HistoryTest, ReadsVersion1) {
  std::string bytes("\x01", 1);
  bytes += std::string(kReplicationIdDigits, 'a') + std::string(kReplicationIdDigits, 'b');
  bytes += "\x14";  // zigzag of 10: where they forked
  bytes += std::string(
      "\x03\x04"
      "boot\x01\x00\x01\x01",
      10);  // flags, boot, an anchor
  const Result<History> read = DecodeHistory(bytes);
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_TRUE(read->logs && read->is_replica);
  ASSERT_EQ(read->former.size(), 1u);
  EXPECT_EQ(read->former[0].end, 10u);
  ASSERT_EQ(read->anchors.size(), 1u);
  EXPECT_EQ(read->anchors[0].db, kNoDb);
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
