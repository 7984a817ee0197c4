// SPDX-License-Identifier: BSD-3-Clause
//
// The write-ahead log is the replication log: what commands say they have done is read from it in the order of the
// commits, with a place to go on from, also after a restart.
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

  // One command that writes a key and says so `effects` times.
  void Write(const std::string& name, int effects = 1) {
    Begin();
    const Key key(txn().databases().keyspace(0), name);
    Lock(key);
    txn().Put(key.row(), "value");
    for (int i = 0; i < effects; ++i) Tell(name);
    Finish();
  }
  void Tell(std::string_view name) {
    const std::string_view argv[] = {"DEL", name};
    txn().replicated_commands().Add(0, argv);
  }

  // The keys that the entries name, marks as "(" and ")".
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

  // All that is left to read, batches in brackets.
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

TEST_F(LogReaderTest, BatchesComeInTheOrderOfTheirCommits) {
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

// Between the two a commit waits for its fsync.
TEST_F(LogReaderTest, WhatIsAppendedIsReadAndSeenOnceItIsDurableAndPublished) {
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

// They happen as one for whoever reads them, unless the command says otherwise.
TEST_F(LogReaderTest, SeveralEffectsOfACommandAreAGroup) {
  LogReader reader(store(), store().log().LatestSequence() + 1);
  Write("a", 2);
  Write("b");
  Commit();
  EXPECT_EQ(ReadAll(reader), "[(aa)b]");
  Begin();
  txn().replicated_commands().SetApart();
  Tell("x");
  Tell("y");
  Finish();
  Commit();
  EXPECT_EQ(ReadAll(reader), "[xy]");
}

TEST_F(LogReaderTest, WhatIsTakenBackIsNotTold) {
  LogReader reader(store(), store().log().LatestSequence() + 1);
  Write("a");
  Begin();
  Tell("b");
  txn().AbandonCommand();
  Begin();
  Tell("c");
  const Transaction::Savepoint savepoint = txn().MakeSavepoint();
  Tell("d");
  txn().RollbackTo(savepoint);
  Finish();
  Commit();
  EXPECT_EQ(ReadAll(reader), "[ac]");
}

// A message that is published changes no row, and yet it has its place in the log.
TEST_F(LogReaderTest, AnEffectWithoutRowsHasAPlaceOfItsOwn) {
  LogReader reader(store(), store().log().LatestSequence() + 1);
  for (const char* name : {"a", "b"}) {
    Begin();
    Tell(name);
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

// Then it must be learnt in another way; nothing is passed over in silence.
TEST_F(LogReaderTest, ALogThatIsNotKeptIsGone) {
  KeepLogs(false);
  Reopen();
  const uint64_t start = store().log().LatestSequence() + 1;
  Write("a");
  Commit();
  Reopen();
  LogReader reader(store(), start);
  EXPECT_EQ(ReadAll(reader), "gone");
}

TEST_F(LogReaderTest, AReaderGoesOnWhereAnotherStopped) {
  LogReader first(store(), store().log().LatestSequence() + 1);
  Write("a");
  Commit();
  EXPECT_EQ(ReadAll(first), "[a]");
  Write("b");
  Commit();
  LogReader second(store(), first.sequence());
  EXPECT_EQ(ReadAll(second), "[b]");
}

// Without the switch nothing is told, and the log has batches without log data.
TEST_F(LogReaderTest, NobodyIsToldWhereNobodyAsks) {
  store().interests().Set(kInterestInReplication, 0);
  Begin();
  EXPECT_EQ(txn().replicated_commands().interest(), 0u);
  Finish();
}

// PUBLISH holds no stripe: who locks all of them to end the log is not kept from it, and finds nothing there later.
TEST_F(LogReaderTest, EffectsWithoutKeysEndWithTheLog) {
  LogReader reader(store(), store().log().LatestSequence() + 1);
  for (const bool ends : {false, true}) {
    Begin();
    Tell("m");
    Finish();
    if (ends) store().interests().EndReplication();
    Commit();
    EXPECT_EQ(ReadAll(reader), ends ? "" : "[m]");
  }
}

// Who waits for a lock hears of what others want to be told, and of the rest nothing.
TEST_F(LogReaderTest, WhatIsToldIsKnownWithTheLock) {
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

// Of the end of a key that a command does not hold somebody else tells: it may have a new value by then.
TEST_F(LogReaderTest, OfKeysPastTheirTimeThoseThatAreHeldAreTold) {
  LogReader reader(store(), store().log().LatestSequence() + 1);
  Begin();
  const KeyspaceId keyspace = txn().databases().keyspace(0);
  Lock(Key(keyspace, "h"));
  for (const char* name : {"f", "h", "h"})
    txn().replicated_commands().NoteStaleKey(Key(keyspace, name).row().row(), 0, false);
  Tell("a");
  Finish();
  Commit();
  EXPECT_EQ(ReadAll(reader), "[(ha)]");
}

// What a command did before it met such a key may have been of that key, with a value that is past its time since.
TEST_F(LogReaderTest, OfKeysPastTheirTimeIsToldWhereTheyWereMet) {
  LogReader reader(store(), store().log().LatestSequence() + 1);
  Begin();
  const KeyspaceId keyspace = txn().databases().keyspace(0);
  Lock(Key(keyspace, "k"));
  const auto meet = [&] { txn().replicated_commands().NoteStaleKey(Key(keyspace, "k").row().row(), 0, false); };
  Tell("a");
  meet();
  Tell("b");
  const Transaction::Savepoint savepoint = txn().MakeSavepoint();
  Tell("longer than what comes after");
  meet();
  txn().RollbackTo(savepoint);
  Tell("c");
  meet();
  Finish();
  Commit();
  EXPECT_EQ(ReadAll(reader), "[(akbkck)]");
}

}  // namespace
}  // namespace cairn
