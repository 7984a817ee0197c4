// SPDX-License-Identifier: BSD-3-Clause
//
// The replication stream follows from the log alone: from whatever anchor it is read, the bytes are the same.
#include "replication/log_stream.h"

#include "storage/store_fixture.h"

namespace cairn {
namespace {

class LogStreamTest : public StoreFixture {
 protected:
  void SetUp() override {
    StoreFixture::SetUp();
    store().interests().Set(kInterestInReplication, kInterestInReplication);
  }

  // Commits a tick of one command, which has `effects` effects in database `db`.
  void Emit(int db, std::string_view name, int effects = 1) {
    Begin();
    const std::string_view argv[] = {"DEL", name};
    for (int i = 0; i < effects; ++i) txn().replicated_commands().Add(db, argv);
    Finish();
    Commit();
    Commit();
  }

  // Reads to the end; the place after each batch goes to `anchors`.
  std::string ReadAll(const Anchor& from, std::vector<Anchor>* anchors = nullptr) {
    LogStream stream(store(), from);
    std::string bytes;
    for (;;) {
      const Result<LogReader::Outcome> outcome = stream.Next(bytes);
      EXPECT_TRUE(outcome.ok());
      if (!outcome.ok() || *outcome != LogReader::Outcome::kBatch) return bytes;
      if (anchors != nullptr) anchors->push_back(stream.position());
    }
  }
};

constexpr std::string_view kDelA = "*2\r\n$3\r\nDEL\r\n$1\r\na\r\n";
constexpr std::string_view kSelect0 = "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n";
constexpr std::string_view kSelect3 = "*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n";

// SELECT stands where the database changes, MULTI and EXEC around the effects of one command.
TEST_F(LogStreamTest, SelectsAndGroups) {
  Emit(0, "a");
  Emit(0, "a");
  Emit(3, "a", 2);
  std::string expected(kSelect0);
  expected.append(kDelA).append(kDelA).append("*1\r\n$5\r\nMULTI\r\n").append(kSelect3);
  expected.append(kDelA).append(kDelA).append("*1\r\n$4\r\nEXEC\r\n");
  EXPECT_EQ(ReadAll({}), expected);
}

// What came from a primary is passed on as it came; the next command of our own selects its database.
TEST_F(LogStreamTest, PassesAStreamOn) {
  Emit(0, "a");
  Begin();
  txn().replicated_commands().AddStream("bytes of a primary");
  Finish();
  Commit();
  Emit(0, "a");
  std::string expected(kSelect0);
  expected.append(kDelA).append("bytes of a primary").append(kSelect0).append(kDelA);
  EXPECT_EQ(ReadAll({}), expected);
}

// Offsets mean the same from every anchor: what is read from it is the rest of the whole.
TEST_F(LogStreamTest, IsTheSameFromEveryAnchor) {
  for (int i = 0; i < 20; ++i) Emit(i % 3, "a", 1 + i % 2);
  std::vector<Anchor> anchors;
  const std::string whole = ReadAll({}, &anchors);
  ASSERT_EQ(anchors.size(), 20u);
  for (const Anchor& anchor : anchors) EXPECT_EQ(ReadAll(anchor), whole.substr(anchor.offset));
}

}  // namespace
}  // namespace cairn
