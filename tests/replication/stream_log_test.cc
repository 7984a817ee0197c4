// SPDX-License-Identifier: BSD-3-Clause
//
// The history of the stream while the store refuses writes. A replica must not resume where the log lacks a write, nor
// in a stream that another server may have continued with other bytes.
#include "replication/stream_log.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/dispatcher_fixture.h"
#include "config/config.h"
#include "storage/refused_writes.h"

namespace cairn {
namespace {

class StreamLogTest : public DispatcherFixture {
 protected:
  void SetUp() override {
    DispatcherFixture::SetUp();
    Start();
  }
  void TearDown() override {
    log_.reset();
    DispatcherFixture::TearDown();
  }

  void Start() {
    const StreamLog::Events events{.has_replicas = [] { return false; }, .on_stream_changed = [] {}};
    log_ = std::make_unique<StreamLog>(store(), config_.settings(), events);
    const Status started = log_->Start();
    ASSERT_TRUE(started.ok()) << started.text();
  }
  // Ends like a killed process, without a last save, and starts again.
  void Crash() {
    RefuseWrites(store());
    log_.reset();
    AcceptWrites(store());
    Reopen();
    Start();
  }

  void Set(const std::string& key) {
    std::string reply;
    const Outcome outcome = Dispatch(session_, {"SET", key, "value"}, Lane::kSlow, reply);
    EXPECT_FALSE(outcome.failed) << reply;
  }
  uint64_t End() {
    const Result<uint64_t> end = log_->ReadOffset();
    EXPECT_TRUE(end.ok());
    return end.ok() ? *end : 0;
  }

  // Whether a replica that has stream `id` up to the byte `end` gets the write of `key` when it asks for the rest.
  bool Gets(const std::string& id, uint64_t end, const std::string& key) {
    const Result<std::optional<Anchor>> start = log_->FindStart(id, end + 1);
    EXPECT_TRUE(start.ok());
    if (!start.ok() || !*start) return true;  // by a full transfer
    LogStream stream(store(), **start);
    std::string bytes;
    for (;;) {
      const Result<LogReader::Outcome> outcome = stream.Next(bytes);
      EXPECT_TRUE(outcome.ok());
      if (!outcome.ok() || *outcome != LogReader::Outcome::kBatch) return bytes.find(key) != std::string::npos;
    }
  }

  Config config_;
  std::unique_ptr<StreamLog> log_;
};

// repl-backlog-ttl passes while the disk is full.
TEST_F(StreamLogTest, AReplicaGetsTheWritesAfterAnEndOfTheLoggingThatCouldNotBeSaved) {
  ASSERT_TRUE(log_->BeginLogging().ok());
  Set("first");
  const std::string id = log_->history().id;
  const uint64_t end = End();
  RefuseWrites(store());
  log_->EndLogging();
  AcceptWrites(store());
  Set("second");
  Crash();
  EXPECT_TRUE(Gets(id, end, "second"));
}

TEST_F(StreamLogTest, TheEndOfTheLoggingIsTriedAgain) {
  ASSERT_TRUE(log_->BeginLogging().ok());
  RefuseWrites(store());
  log_->EndLogging();
  AcceptWrites(store());
  EXPECT_TRUE(log_->logs());
  log_->EndLogging();
  EXPECT_FALSE(log_->logs());
  EXPECT_EQ(0u, store().interests().wanted() & kInterestInReplication);
  Crash();
  EXPECT_FALSE(log_->logs());
}

// Database 1 has the durability `always`, and the other ones do not. A client that has its reply must not be told by
// WAIT that a replica has the write while readers of the log are kept before it.
TEST_F(StreamLogTest, WaitCoversACommitBehindOneThatIsNotSyncedYet) {
  ASSERT_TRUE(log_->BeginLogging().ok());
  std::vector<bool> syncs(17, false);
  syncs[2] = true;
  ASSERT_TRUE(store().log().SetSyncsCommits(syncs).ok());
  Transaction synced(store(), 1);
  synced.BeginCommand(Lane::kSlow, now_ms(), true);
  const Key key(synced.databases().keyspace(1), "synced");
  const uint32_t stripe = key.stripe();
  ASSERT_TRUE(synced.Lock({&stripe, 1}).ok());
  synced.Put(key.row(), "value");
  const std::string_view argv[] = {"DEL", "synced"};
  synced.replicated_commands().Add(1, argv);
  ASSERT_TRUE(synced.FinishCommand().ok());
  ASSERT_TRUE(synced.batch().Append(CommitMode::kWait).ok());
  Set("another stripe");
  const uint64_t before = End();
  const Result<uint64_t> end = log_->ReadOffset(LogReader::Patience::kLong);
  ASSERT_TRUE(end.ok());
  EXPECT_GT(*end, before);
  synced.batch().Publish();
  synced.EndTick(true);
  EXPECT_EQ(End(), *end);
}

// WAIT compares the offsets of replicas with the end of the stream. With an end of 0 it would count every replica.
TEST_F(StreamLogTest, ABeginOfTheLoggingThatCouldNotBeSavedIsTriedAgain) {
  RefuseWrites(store());
  EXPECT_FALSE(log_->BeginLogging().ok());
  AcceptWrites(store());
  EXPECT_FALSE(log_->logs());
  EXPECT_EQ(0u, store().interests().wanted() & kInterestInReplication);
  EXPECT_TRUE(log_->BeginLogging().ok());
  EXPECT_TRUE(log_->logs());
  Set("key");
  EXPECT_GT(End(), 0u);
}

// The restart gave the stream a new id, because others may have continued the former one.
TEST_F(StreamLogTest, AFailedDemotionKeepsTheIdOfTheStream) {
  ASSERT_TRUE(log_->BeginLogging().ok());
  Set("key");
  Crash();
  const History before = log_->history();
  ASSERT_EQ(before.former.size(), 1u);
  RefuseWrites(store());
  EXPECT_FALSE(log_->TurnReplica(false).ok());
  AcceptWrites(store());
  EXPECT_EQ(log_->history().id, before.id);
  EXPECT_FALSE(log_->history().is_replica);
  EXPECT_TRUE(log_->TurnReplica(false).ok());
  EXPECT_EQ(log_->history().id, before.former[0].id);
}

// A replica without a log that could not be promoted would otherwise take itself for a primary.
TEST_F(StreamLogTest, AFailedPromotionKeepsTheRole) {
  ASSERT_TRUE(log_->TurnReplica(false).ok());
  RefuseWrites(store());
  EXPECT_FALSE(log_->TurnPrimary().ok());
  AcceptWrites(store());
  EXPECT_TRUE(log_->history().is_replica);
  EXPECT_TRUE(log_->TurnPrimary().ok());
  EXPECT_FALSE(log_->history().is_replica);
  Crash();
  EXPECT_FALSE(log_->history().is_replica);
}

}  // namespace
}  // namespace cairn
