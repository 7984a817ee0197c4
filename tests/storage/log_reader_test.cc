// SPDX-License-Identifier: BSD-3-Clause
//
// The write-ahead log is the replication log: replicated commands are read from it in commit order, and a reader can
// continue at any batch, also after a restart.
#include "storage/log_reader.h"

#include "encoding/log_entry.h"
#include "store_fixture.h"

namespace cairn {
namespace {

class LogReaderTest : public StoreFixture {
 protected:
  void SetUp() override {
    StoreFixture::SetUp();
    store().interests().Set(kInterestInReplication, kInterestInReplication);
  }

  // Runs one command that writes a key and replicates itself `times` times.
  void Write(const std::string& name, int times = 1) {
    Begin();
    const Key key(txn().databases().keyspace(0), name);
    Lock(key);
    txn().Put(key.row(), "value");
    for (int i = 0; i < times; ++i) Replicate(name);
    Finish();
  }
  void Replicate(std::string_view name) {
    const std::string_view argv[] = {"DEL", name};
    txn().replicated_commands().Add(0, argv);
  }

  // The keys in the entries, with begin and end marks as "(" and ")".
  static std::string KeysOf(std::string_view entries) {
    LogEntryReader reader(entries);
    LogEntry entry;
    std::string keys;
    for (;;) {
      Result<bool> more = reader.Next(entry);
      EXPECT_TRUE(more.ok());
      if (!more.ok() || !*more) return keys;
      if (entry.kind == LogEntryKind::kBegin) keys += '(';
      if (entry.kind == LogEntryKind::kEnd) keys += ')';
      if (entry.kind == LogEntryKind::kCommand) keys += entry.command[entry.command.size() - 3];
    }
  }

  // All unread batches, each in brackets.
  static std::string ReadAll(LogReader& reader) {
    std::string all;
    LogReader::Batch batch;
    for (;;) {
      const Result<LogReader::Outcome> outcome = reader.Next(batch);
      EXPECT_TRUE(outcome.ok());
      if (!outcome.ok() || *outcome == LogReader::Outcome::kGone) return all + "gone";
      if (*outcome == LogReader::Outcome::kCaughtUp) return all;
      all += '[' + KeysOf(*batch.entries) + ']';
    }
  }
};

TEST_F(LogReaderTest, BatchesComeInCommitOrder) {
  LogReader reader(store(), store().log().LatestSequence() + 1);
  EXPECT_EQ(ReadAll(reader), "");
  Write("a");
  Write("b");
  Commit();
  Write("c");
  Commit();
  EXPECT_EQ(ReadAll(reader), "[ab][c]");
  Write("d");
  Commit();
  EXPECT_EQ(ReadAll(reader), "[d]");
}

// Between append and publish, a commit waits for its fsync.
TEST_F(LogReaderTest, ACommitIsReadOnceDurableAndVisibleOncePublished) {
  ASSERT_TRUE(store().log().SetSyncsCommits(true).ok());
  LogReader reader(store(), store().log().LatestSequence() + 1);
  Write("a");
  ASSERT_TRUE(txn().batch().Append(CommitMode::kWait).ok());
  ASSERT_NE(txn().batch().unsynced_sequence(), 0u);
  EXPECT_GT(store().log().LatestSequence(), store().log().ReadableSequence());
  EXPECT_EQ(ReadAll(reader), "");
  Transaction other(store(), 1);
  const Key key(txn().databases().keyspace(0), "a");
  other.BeginCommand(Lane::kFast, now_ms(), true);
  EXPECT_TRUE(other.Get(key.row()).status().Is(Code::kWouldWait));
  other.AbandonCommand();
  other.BeginCommand(Lane::kFast, now_ms(), true);
  const KeyspaceId keyspace = txn().databases().keyspace(0);
  EXPECT_FALSE(other.Scan(MakeKeyBound(keyspace, 0), MakeKeyBound(keyspace + 1, 0)).Valid());
  other.AbandonCommand();
  store().log().MakeDurable(txn().batch().unsynced_sequence());
  EXPECT_EQ(ReadAll(reader), "[a]");
  txn().batch().Publish();
  txn().EndTick(true);
  other.BeginCommand(Lane::kFast, now_ms(), true);
  const auto row = other.Get(key.row());
  ASSERT_TRUE(row.ok());
  EXPECT_TRUE(*row);
}

// With `durability always` of database 1 alone, commits of database 0 do not wait; but no reader passes over an
// earlier commit that may be lost.
TEST_F(LogReaderTest, OnlyCommitsOfASyncedDatabaseWait) {
  std::vector<bool> syncs(17, false);
  syncs[2] = true;  // of database 1
  ASSERT_TRUE(store().log().SetSyncsCommits(syncs).ok());
  LogReader reader(store(), store().log().LatestSequence() + 1);
  Write("a");
  EXPECT_FALSE(txn().batch().must_sync());
  Commit();
  EXPECT_EQ(ReadAll(reader), "[a]");

  Begin();
  const Key key(txn().databases().keyspace(1), "b");
  Lock(key);
  txn().Put(key.row(), "value");
  Replicate("b");
  Finish();
  EXPECT_TRUE(txn().batch().must_sync());
  ASSERT_TRUE(txn().batch().Append(CommitMode::kWait).ok());

  Transaction other(store(), 1);
  other.BeginCommand(Lane::kSlow, now_ms(), true);
  const Key later(other.databases().keyspace(0), "c");
  const uint32_t stripe = later.stripe();
  ASSERT_TRUE(other.Lock({&stripe, 1}).ok());
  other.Put(later.row(), "value");
  ASSERT_TRUE(other.FinishCommand().ok());
  ASSERT_TRUE(other.Commit(CommitMode::kWait).ok());
  EXPECT_EQ(ReadAll(reader), "");

  store().log().MakeDurable(txn().batch().unsynced_sequence());
  txn().batch().Publish();
  txn().EndTick(true);
  EXPECT_EQ(ReadAll(reader), "[b]");
}

// Readers run them as one unit, unless the command says otherwise.
TEST_F(LogReaderTest, SeveralReplicatedCommandsOfOneCommandAreAGroup) {
  LogReader reader(store(), store().log().LatestSequence() + 1);
  Write("a", 2);
  Write("b");
  Commit();
  EXPECT_EQ(ReadAll(reader), "[(aa)b]");
  Begin();
  txn().replicated_commands().SetApart();
  Replicate("x");
  Replicate("y");
  Finish();
  Commit();
  EXPECT_EQ(ReadAll(reader), "[xy]");
}

TEST_F(LogReaderTest, RolledBackCommandsAreNotReplicated) {
  LogReader reader(store(), store().log().LatestSequence() + 1);
  Write("a");
  Begin();
  Replicate("b");
  txn().AbandonCommand();
  Begin();
  Replicate("c");
  const Transaction::Savepoint savepoint = txn().MakeSavepoint();
  Replicate("d");
  txn().RollbackTo(savepoint);
  Finish();
  Commit();
  EXPECT_EQ(ReadAll(reader), "[ac]");
}

// A published message changes no row, but needs a position in the log.
TEST_F(LogReaderTest, AReplicatedCommandWithoutRowsHasItsOwnPosition) {
  LogReader reader(store(), store().log().LatestSequence() + 1);
  for (const char* name : {"a", "b"}) {
    Begin();
    Replicate(name);
    Finish();
    Commit();
  }
  EXPECT_EQ(ReadAll(reader), "[a][b]");
}

TEST_F(LogReaderTest, TheLogOutlivesARestart) {
  const uint64_t start = store().log().LatestSequence() + 1;
  Write("a");
  Commit();
  Reopen();
  LogReader reader(store(), start);
  EXPECT_EQ(ReadAll(reader), "[a]");
}

// The reader must learn of the gap; no batch is skipped silently.
TEST_F(LogReaderTest, ADeletedLogIsReportedAsGone) {
  KeepLogs(false);
  Reopen();
  const uint64_t start = store().log().LatestSequence() + 1;
  Write("a");
  Commit();
  Reopen();
  LogReader reader(store(), start);
  std::string read;
  for (int i = 0; i < 1000 && read.empty(); ++i) read = ReadAll(reader);  // RocksDB deletes the log in the background
  EXPECT_EQ(read, "gone");
}

TEST_F(LogReaderTest, AReaderContinuesWhereAnotherStopped) {
  LogReader first(store(), store().log().LatestSequence() + 1);
  Write("a");
  Commit();
  EXPECT_EQ(ReadAll(first), "[a]");
  Write("b");
  Commit();
  LogReader second(store(), first.sequence());
  EXPECT_EQ(ReadAll(second), "[b]");
}

// Without interest nothing is replicated, and batches have no log data.
TEST_F(LogReaderTest, NothingIsReplicatedWithoutInterest) {
  store().interests().Set(kInterestInReplication, 0);
  Begin();
  EXPECT_EQ(txn().replicated_commands().interest(), 0u);
  Finish();
}

// PUBLISH holds no stripe, so a thread that locks all stripes to end the log does not wait for it. The log must not
// get its message later.
TEST_F(LogReaderTest, CommandsWithoutKeysEndWithTheLog) {
  LogReader reader(store(), store().log().LatestSequence() + 1);
  for (const bool ends : {false, true}) {
    Begin();
    Replicate("m");
    Finish();
    if (ends) store().interests().EndReplication();
    Commit();
    EXPECT_EQ(ReadAll(reader), ends ? "" : "[m]");
  }
}

// A command that waits for a lock gets the interest as it is when it has the lock.
TEST_F(LogReaderTest, TheInterestIsReadWithTheLock) {
  store().interests().Set(kInterestInReplication, 0);
  for (const bool muted : {false, true}) {
    txn().replicated_commands().Mute(muted);
    Begin();
    store().interests().Set(kInterestInReplication, kInterestInReplication);
    txn().replicated_commands().Silence(true);
    Lock(Key(txn().databases().keyspace(0), "a"));
    EXPECT_FALSE(txn().replicated_commands().interest() & kInterestInReplication);
    txn().replicated_commands().Silence(false);
    EXPECT_EQ((txn().replicated_commands().interest() & kInterestInReplication) != 0, !muted);
    Finish();
    Commit();
    store().interests().Set(kInterestInReplication, 0);
  }
}

// The deletion of an expired key without its lock is left to others: the key may have a new value by then.
TEST_F(LogReaderTest, OnlyLockedExpiredKeysAreReplicatedAsDeleted) {
  LogReader reader(store(), store().log().LatestSequence() + 1);
  Begin();
  const KeyspaceId keyspace = txn().databases().keyspace(0);
  Lock(Key(keyspace, "h"));
  for (const char* name : {"f", "h", "h"})
    txn().replicated_commands().NoteStaleKey(Key(keyspace, name).row().row(), 0, false);
  Replicate("a");
  Finish();
  Commit();
  EXPECT_EQ(ReadAll(reader), "[(ha)]");
}

// Earlier commands of the same transaction may have set the key, with a deadline that is in the past by now.
TEST_F(LogReaderTest, ExpiredKeysAreDeletedWhereTheCommandMetThem) {
  LogReader reader(store(), store().log().LatestSequence() + 1);
  Begin();
  const KeyspaceId keyspace = txn().databases().keyspace(0);
  Lock(Key(keyspace, "k"));
  const auto meet = [&] { txn().replicated_commands().NoteStaleKey(Key(keyspace, "k").row().row(), 0, false); };
  Replicate("a");
  meet();
  Replicate("b");
  const Transaction::Savepoint savepoint = txn().MakeSavepoint();
  Replicate("longer than what comes after");
  meet();
  txn().RollbackTo(savepoint);
  Replicate("c");
  meet();
  Finish();
  Commit();
  EXPECT_EQ(ReadAll(reader), "[(akbkck)]");
}

}  // namespace
}  // namespace cairn
