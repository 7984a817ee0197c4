// SPDX-License-Identifier: BSD-3-Clause
//
// The checks of rows, and what salvage makes of rows that fail them.
#include "check/row_check.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "check/salvage.h"
#include "encoding/packed.h"
#include "encoding/varint.h"
#include "storage/format.h"
#include "storage/row_loader.h"
#include "types/stream.h"
#include "types/stream_group_rows.h"

namespace cairn {
namespace {

constexpr KeyspaceId kLive = 3;
constexpr KeyspaceId kDead = 2;
constexpr uint64_t kMembers = 5;

class RowCheckTest : public testing::Test {
 protected:
  RowCheckTest() {
    std::filesystem::remove_all(folder_);
    EXPECT_TRUE(loader_.Open(dir_).ok());
    Put(Space::kMeta, kFormatRow, EncodeFormat());
    Put(Space::kMeta, kDatabasesRow, EncodeDatabases({kLive}, kLive + 1));
    std::string collections;
    AppendVarint(collections, 1000);
    Put(Space::kMeta, kCollectionsRow, collections);
  }
  ~RowCheckTest() override { std::filesystem::remove_all(folder_); }

  void Put(Space space, std::string_view row, std::string_view value) {
    ASSERT_TRUE(loader_.Put(space, row, value).ok());
  }
  void PutCount(int64_t count) { Put(Space::kMeta, MakeCountRow(0, kLive).row(), EncodeCount(count)); }
  void PutString(std::string_view key, KeyspaceId keyspace = kLive) {
    std::string record;
    AppendRecordHeader(record, {.type = Type::kString});
    Put(Space::kKeys, MakeKeyRow(keyspace, key).row(), record + "value");
  }
  // A set of kMembers whose record says `count`.
  void PutSet(std::string_view key, CollectionId id, uint64_t count) {
    std::string record;
    AppendRecordHeader(record, {.type = Type::kSet, .encoding = Encoding::kSpread});
    AppendSpreadPayload(record, id, count);
    Put(Space::kKeys, MakeKeyRow(kLive, key).row(), record);
    for (uint64_t i = 0; i < kMembers; ++i) {
      Put(Space::kElements, MakeElementRow(id, "member" + std::to_string(i), 0).row(), {});
    }
  }
  // A sorted set whose record says that it has one member. Its rows are missing.
  void PutZsetRecord(std::string_view key, CollectionId id) {
    std::string record;
    AppendRecordHeader(record, {.type = Type::kZset, .encoding = Encoding::kSpread});
    AppendSpreadPayload(record, id, 1);
    Put(Space::kKeys, MakeKeyRow(kLive, key).row(), record);
    PutOwner(id, key);
  }
  void PutOwner(CollectionId id, std::string_view key, KeyspaceId keyspace = kLive) {
    Put(Space::kOwners, MakeOwnerRow(id, 0).row(), MakeKeyRow(keyspace, key).row());
  }

  // A stream without entries, with a group of two consumers and three pending entries, the last of them released by
  // XNACK. Rows of the kind `lost` (types/stream_rows.h) are left out.
  void PutStream(std::string_view key, CollectionId id, char lost) {
    std::string record;
    AppendRecordHeader(record, {.type = Type::kStream, .encoding = Encoding::kSpread});
    AppendStreamState(record, id, {.last_id = {3, 0}, .entries_added = 3, .groups = 1, .next_group = 1});
    Put(Space::kKeys, MakeKeyRow(kLive, key).row(), record);
    const StreamRows rows{.id = id};
    const auto put = [&](const RowKey& row, std::string_view value) {
      if (row.row()[sizeof(CollectionId)] != lost) Put(Space::kScores, row.row(), value);
    };
    put(rows.Group("workers"), EncodeStreamGroup({.last_id = {3, 0},
                                                  .pending = 3,
                                                  .consumers = 2,
                                                  .next_consumer = 2,
                                                  .is_timed = true,
                                                  .nacked = 1,
                                                  .next_nacked = 1}));
    for (uint32_t number = 0; number < 2; ++number) {
      const StreamConsumer consumer{
          .name = std::string(1, static_cast<char>('a' + number)), .number = number, .pending = 1};
      put(rows.Consumer(0, consumer.name), EncodeStreamConsumer(consumer));
      put(rows.Owned(0, number, {number + 1, 0}), {});
    }
    for (const PendingEntry& entry : {PendingEntry{.id = {1, 0}, .consumer = "a", .delivered_ms = 9, .deliveries = 1},
                                      PendingEntry{.id = {2, 0}, .consumer = "b", .delivered_ms = 8, .deliveries = 2},
                                      PendingEntry{.id = {3, 0}, .nacked = 0, .deliveries = 1}}) {
      put(rows.Pending(0, entry.id), EncodePendingEntry(entry));
      put(rows.Timed(0, TimeInRow(entry), entry.id), {});
    }
  }

  // The output of a check of `dir`.
  static std::string Check(const std::string& dir) {
    testing::internal::CaptureStdout();
    const auto database = OfflineDatabase::Open(dir);
    EXPECT_TRUE(database.ok()) << database.status().text();
    Findings findings(10);
    RowCheck(**database, findings, [](uint64_t) {}).Run();
    findings.Summarize();
    return testing::internal::GetCapturedStdout();
  }
  std::string Check() {
    EXPECT_TRUE(loader_.Finish().ok());
    return Check(dir_);
  }
  // Salvages, expects that the copy is clean, and returns the number of keys.
  uint64_t Salvaged() {
    const auto database = OfflineDatabase::Open(dir_);
    Findings findings(10);
    testing::internal::CaptureStdout();
    const auto keys = Salvage(**database, findings, [](uint64_t) {}).CopyTo(folder_ + "/to");
    last_salvage_ = testing::internal::GetCapturedStdout();
    EXPECT_TRUE(keys.ok()) << keys.status().text();
    EXPECT_EQ(Check(folder_ + "/to").find("Damage"), std::string::npos);
    return *keys;
  }
  // The row's value in the salvaged directory; empty if it does not exist.
  std::string SalvagedValue(Space space, const RowKey& row) const {
    const auto database = OfflineDatabase::Open(folder_ + "/to");
    EXPECT_TRUE(database.ok()) << database.status().text();
    const auto value = (*database)->Get(space, row.row());
    return value.ok() && *value ? **value : std::string();
  }
  static testing::AssertionResult Says(const std::string& output, std::string_view text) {
    if (output.find(text) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "no '" << text << "' in: " << output;
  }

  const std::string folder_ = testing::TempDir() + "/row_check_test." + std::to_string(getpid());
  const std::string dir_ = folder_ + "/data";
  std::string last_salvage_;  // its output
  RowLoader loader_;
};

TEST_F(RowCheckTest, GarbageIsNoDamage) {
  PutString("k");
  PutString("dead", kDead);
  PutOwner(8, "dead", kDead);
  Put(Space::kElements, MakeElementRow(8, "member", 0).row(), {});
  Put(Space::kElements, MakeElementRow(9, "member", 0).row(), {});
  Put(Space::kExpiries, MakeExpiryRow(1000, MakeKeyRow(kDead, "dead").row(), 0).row(), {});
  PutCount(1);
  const std::string output = Check();
  EXPECT_EQ(output.find("Damage"), std::string::npos) << output;
  EXPECT_TRUE(Says(output, "5 rows are garbage"));
  EXPECT_EQ(Salvaged(), 1u);
}

// A power loss may take everything that was written to a new directory, and then no row is missing.
TEST_F(RowCheckTest, OnlyADirectoryWithRowsNeedsARowThatNamesItsFormat) {
  for (const bool has_rows : {false, true}) {
    const std::string dir = folder_ + (has_rows ? "/unnamed" : "/empty");
    RowLoader loader;
    ASSERT_TRUE(loader.Open(dir).ok());
    if (has_rows) {
      ASSERT_TRUE(loader.Put(Space::kMeta, kDatabasesRow, EncodeDatabases({kLive}, kLive + 1)).ok());
    }
    ASSERT_TRUE(loader.Finish().ok());
    const std::string output = Check(dir);
    EXPECT_EQ(output.find("Meta row format is missing") != std::string::npos, has_rows) << output;
    EXPECT_EQ(output.find("Damage") != std::string::npos, has_rows) << output;
  }
}

TEST_F(RowCheckTest, ARecordThatDoesNotDecodeIsNamed) {
  PutString("k");
  Put(Space::kKeys, MakeKeyRow(kLive, "b\nd").row(), "\x77\x77");
  PutCount(2);
  EXPECT_TRUE(Says(Check(), "The key \"b\\nd\" of database 0 is damaged"));
  EXPECT_EQ(Salvaged(), 1u);
}

TEST_F(RowCheckTest, AWrongCountOfACollectionIsNamedAndCorrected) {
  PutSet("s", 7, kMembers + 1);
  PutOwner(7, "s");
  PutCount(1);
  EXPECT_TRUE(
      Says(Check(), "The record of the key s of database 0 does not fit its rows: its count is 6, the rows have 5"));
  EXPECT_EQ(Salvaged(), 1u);
}

TEST_F(RowCheckTest, OwnersAndCollectionsBelongTogether) {
  PutSet("without owner", 7, kMembers);
  PutOwner(8, "missing");
  PutCount(1);
  const std::string output = Check();
  EXPECT_TRUE(Says(output, "Collection 7 of the key \"without owner\" of database 0 has no owner row"));
  EXPECT_TRUE(Says(output, "Collection 8 is owned by the key missing of database 0"));
  EXPECT_EQ(Salvaged(), 1u);
}

TEST_F(RowCheckTest, ExpiriesAndRecordsMatch) {
  std::string record;
  AppendRecordHeader(record, {.type = Type::kString, .expire_ms = 5000});
  Put(Space::kKeys, MakeKeyRow(kLive, "k").row(), record + "value");
  Put(Space::kExpiries, MakeExpiryRow(6000, MakeKeyRow(kLive, "k").row(), 0).row(), {});
  PutCount(1);
  const std::string output = Check();
  EXPECT_TRUE(Says(output, "The key k of database 0 has no row that expires it at 5000"));
  EXPECT_TRUE(Says(output, "An expiry row names the key k of database 0, which does not expire at 6000"));
  EXPECT_EQ(Salvaged(), 1u);
}

// Such a key is deleted without a look at its record.
TEST_F(RowCheckTest, AnExpiryRowSaysOneRowOnlyOfAValueThatIsOne) {
  PutSet("s", 7, kMembers);
  PutOwner(7, "s");
  std::string record;
  AppendRecordHeader(record, {.type = Type::kSet, .encoding = Encoding::kSpread, .expire_ms = 5000});
  AppendSpreadPayload(record, 7, kMembers);
  Put(Space::kKeys, MakeKeyRow(kLive, "s").row(), record);
  Put(Space::kExpiries, MakeExpiryRow(5000, MakeKeyRow(kLive, "s").row(), 0).row(), kExpiresOneRow);
  PutCount(1);
  EXPECT_TRUE(Says(Check(), "The value of an expiry row does not fit the key s of database 0"));
  EXPECT_EQ(Salvaged(), 1u);
}

// A node of a cluster hides the keys of these slots. Without the row they would appear after a salvage.
TEST_F(RowCheckTest, ASalvageKeepsTheListOfUnservedSlots) {
  const std::string list = std::string(40, 'a') + " 5-7\n";
  Put(Space::kMeta, kUnservedRow, list);
  PutString("k");
  PutCount(1);
  Check();
  EXPECT_EQ(Salvaged(), 1u);
  const auto database = OfflineDatabase::Open(folder_ + "/to");
  ASSERT_TRUE(database.ok());
  std::string found;
  OfflineRows rows(**database, Space::kMeta, [](Space, std::string_view, std::string_view, std::string_view) {});
  for (; rows.Valid(); rows.Next()) {
    if (rows.row() == kUnservedRow) found = rows.value();
  }
  EXPECT_EQ(found, list);
}

TEST_F(RowCheckTest, ScoreRowsMatchTheMembers) {
  PutZsetRecord("z", 7);
  std::string score;
  AppendScore(score, 1.5);
  Put(Space::kElements, MakeElementRow(7, "m", 0).row(), score);
  Put(Space::kScores, MakeScoreRow(7, 2.5, "lost element row", 0).row(), {});
  PutCount(1);
  EXPECT_TRUE(Says(Check(), "The key z of database 0 is damaged: the score rows differ"));
  EXPECT_EQ(Salvaged(), 1u);
  EXPECT_TRUE(Says(last_salvage_, "has 2 elements of the 1 that it had"));
}

// XREADGROUP, XACK and XCLAIM fail on a group whose rows disagree.
class StreamGroupCheckTest : public RowCheckTest, public testing::WithParamInterface<char> {};

TEST_P(StreamGroupCheckTest, LostRowsOfAGroupAreNamedAndItsOtherRowsAgreeInTheCopy) {
  const char lost = GetParam();
  PutStream("s", 7, lost);
  PutOwner(7, "s");
  PutCount(1);
  EXPECT_TRUE(Says(Check(), "The key s of database 0 is damaged: "));
  EXPECT_EQ(Salvaged(), 1u);
  EXPECT_TRUE(Says(last_salvage_, "The key s of database 0 has damaged rows: "));
  const StreamRows rows{.id = 7};
  const auto group = DecodeStreamGroup(SalvagedValue(Space::kScores, rows.Group("workers")));
  EXPECT_EQ(group.ok(), lost != 'g');
  if (lost == 'g') return;
  EXPECT_EQ(group->last_id, (StreamId{3, 0}));
  EXPECT_EQ(group->pending, lost == 'p' ? 0u : 3u);
  EXPECT_EQ(group->nacked, lost == 'p' ? 0u : 1u);
  EXPECT_EQ(group->consumers, 2u);
  const auto consumer = DecodeStreamConsumer("a", SalvagedValue(Space::kScores, rows.Consumer(0, "a")));
  ASSERT_TRUE(consumer.ok()) << consumer.status().text();
  EXPECT_EQ(consumer->pending, lost == 'p' ? 0u : 1u);
}

INSTANTIATE_TEST_SUITE_P(Rows, StreamGroupCheckTest, testing::Values('c', 'g', 'p', 'q'));

TEST_F(RowCheckTest, ARowByTimeOfNoPendingEntryIsNamed) {
  PutStream("s", 7, 't');
  for (const int64_t time : {4, 5, 6}) Put(Space::kScores, StreamRows{.id = 7}.Timed(0, time, {1, 0}).row(), {});
  PutOwner(7, "s");
  PutCount(1);
  EXPECT_TRUE(Says(Check(), "The key s of database 0 is damaged: the rows of its consumer group workers disagree"));
}

// The server deletes the rows by time of entries that are no longer in the stream.
class WholeGroupCheckTest : public RowCheckTest, public testing::WithParamInterface<char> {};

TEST_P(WholeGroupCheckTest, AGroupIsNoDamageWithOrWithoutRowsByTime) {
  PutStream("s", 7, GetParam());
  PutOwner(7, "s");
  PutCount(1);
  const std::string output = Check();
  EXPECT_EQ(output.find("Damage"), std::string::npos) << output;
  EXPECT_EQ(Salvaged(), 1u);
  EXPECT_EQ(last_salvage_.find("Damage"), std::string::npos) << last_salvage_;
  EXPECT_EQ(last_salvage_.find("key s"), std::string::npos) << last_salvage_;
}

INSTANTIATE_TEST_SUITE_P(Rows, WholeGroupCheckTest, testing::Values('-', 't'));

// The rows do not say which of two scores is the member's, and a member has one.
TEST_F(RowCheckTest, AMemberWithTwoScoresAndNoElementRowIsOneMember) {
  PutZsetRecord("z", 7);
  Put(Space::kScores, MakeScoreRow(7, 1.5, "m", 0).row(), {});
  Put(Space::kScores, MakeScoreRow(7, 2.5, "m", 0).row(), {});
  PutCount(1);
  EXPECT_TRUE(Says(Check(), "The key z of database 0 is damaged: the score rows differ"));
  EXPECT_EQ(Salvaged(), 1u);
  EXPECT_EQ(last_salvage_.find("elements of the"), std::string::npos) << last_salvage_;
}

TEST_F(RowCheckTest, AWrongCountOfADatabaseIsNamed) {
  PutString("k");
  PutCount(2);
  EXPECT_TRUE(Says(Check(), "Database 0 has 1 keys, but its count says 2"));
  EXPECT_EQ(Salvaged(), 1u);
}

}  // namespace
}  // namespace cairn
