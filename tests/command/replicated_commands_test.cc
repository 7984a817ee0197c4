// SPDX-License-Identifier: BSD-3-Clause
//
// How commands are replicated: by their effect, in the words that redis-server would use. A replica that runs them must
// get the same data, so they do not depend on chance, the clock, waiting or a choice among keys.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "command/dispatcher_fixture.h"
#include "encoding/log_entry.h"
#include "storage/log_reader.h"

namespace cairn {
namespace {

class ReplicatedCommands : public DispatcherFixture {
 protected:
  void SetUp() override {
    StoreFixture::SetUp();
    store().interests().Set(kInterestInReplication, kInterestInReplication);
  }

  // Runs a command, words separated by blanks; REQUIRES: it succeeds.
  void Run(const std::string& line) {
    std::string out;
    const Outcome outcome = Dispatch(session_, Split(line), Lane::kSlow, out);
    EXPECT_FALSE(outcome.failed || outcome.rejected) << line << ": " << out;
    EXPECT_TRUE(outcome.verdict == Verdict::kDone) << line;
  }

  // The replicated commands, with " | " between commands, groups in brackets and times as MS.
  std::string Replicated(std::initializer_list<const char*> lines) {
    LogReader reader(store(), store().log().LatestSequence() + 1);
    for (const char* line : lines) Run(line);
    std::string replicated;
    LogReader::Batch batch;
    for (;;) {
      const Result<LogReader::Outcome> outcome = reader.Next(batch);
      EXPECT_TRUE(outcome.ok());
      if (!outcome.ok() || *outcome != LogReader::Outcome::kBatch) return replicated;
      Append(*batch.entries, replicated);
    }
  }
  std::string Replicated(const char* line) { return Replicated({line}); }

 private:
  static void Append(std::string_view entries, std::string& replicated) {
    LogEntryReader reader(entries);
    LogEntry entry;
    for (;;) {
      const Result<bool> more = reader.Next(entry);
      ASSERT_TRUE(more.ok());
      if (!*more) return;
      if (!replicated.empty() && !replicated.ends_with("["))
        replicated += entry.kind == LogEntryKind::kEnd ? "" : " | ";
      if (entry.kind == LogEntryKind::kBegin) replicated += "[";
      if (entry.kind == LogEntryKind::kEnd) replicated += "]";
      if (entry.kind == LogEntryKind::kCommand) replicated += InWords(entry);
    }
  }

  static std::string InWords(const LogEntry& entry) {
    std::istringstream lines{std::string(entry.command)};
    std::string text = entry.db == 0 ? "" : std::to_string(entry.db) + ":";
    std::string line;
    std::getline(lines, line);  // the count
    for (bool first = true; std::getline(lines, line); first = false) {
      std::getline(lines, line);  // after the size, the word
      line.pop_back();
      const bool is_time = line.size() == 13 && std::all_of(line.begin(), line.end(), isdigit);
      text += (first ? "" : " ") + (is_time ? "MS" : line);
    }
    return text;
  }
};

TEST_F(ReplicatedCommands, ACommandThatChangesDataIsReplicatedAsSent) {
  EXPECT_EQ(Replicated("SET k v"), "SET k v");
  EXPECT_EQ(Replicated("set k v nx"), "");
  EXPECT_EQ(Replicated("RPUSH l a b"), "RPUSH l a b");
  EXPECT_EQ(Replicated("SADD s a"), "SADD s a");
  EXPECT_EQ(Replicated("SADD s a"), "");
  EXPECT_EQ(Replicated("DEL nothing"), "");
  EXPECT_EQ(Replicated("DEL k nothing"), "DEL k nothing");
  EXPECT_EQ(Replicated("GET s1"), "");
}

TEST_F(ReplicatedCommands, DeadlinesBecomeAbsoluteTimes) {
  EXPECT_EQ(Replicated("SET k v EX 100"), "SET k v PXAT MS");
  EXPECT_EQ(Replicated("SETEX k 100 v"), "SET k v PXAT MS");
  EXPECT_EQ(Replicated("SET k w KEEPTTL"), "SET k w KEEPTTL");
  EXPECT_EQ(Replicated("EXPIRE k 100"), "PEXPIREAT k MS");
  EXPECT_EQ(Replicated("PEXPIRE k 5000 XX"), "PEXPIREAT k MS XX");
  EXPECT_EQ(Replicated("GETEX k EX 100"), "PEXPIREAT k MS");
  EXPECT_EQ(Replicated("GETEX k PERSIST"), "PERSIST k");
  EXPECT_EQ(Replicated("GETEX k"), "");
  EXPECT_EQ(Replicated("EXPIRE k -1"), "DEL k");
}

TEST_F(ReplicatedCommands, ReadingPartsAreLeftOut) {
  EXPECT_EQ(Replicated("SET k v GET"), "SET k v");
  EXPECT_EQ(Replicated("GETSET k w"), "SET k w");
  EXPECT_EQ(Replicated("GETDEL k"), "DEL k");
}

TEST_F(ReplicatedCommands, FloatIncrementsBecomeTheirSums) {
  EXPECT_EQ(Replicated("INCRBYFLOAT f 0.1"), "SET f 0.1 KEEPTTL");
  EXPECT_EQ(Replicated("HINCRBYFLOAT h f 0.1"), "HSET h f 0.1");
  EXPECT_EQ(Replicated("INCRBY n 5"), "INCRBY n 5");
}

TEST_F(ReplicatedCommands, RandomChoicesBecomeTheirResults) {
  Run("SADD s a");
  EXPECT_EQ(Replicated("SPOP s"), "SREM s a");
  Run("SADD s a b");
  EXPECT_EQ(Replicated("SPOP s 5"), "DEL s");
  Run("SADD s a a2 a3 a4 a5 a6 a7 a8 a9 a10");
  const std::string replicated = Replicated("SPOP s 2");
  EXPECT_EQ(replicated.substr(0, 7), "[SREM s");
  EXPECT_EQ(std::count(replicated.begin(), replicated.end(), '|'), 1);
}

TEST_F(ReplicatedCommands, AChoiceAmongKeysBecomesTheChosenKey) {
  Run("RPUSH l a b c d");
  EXPECT_EQ(Replicated("BLPOP none l 0"), "LPOP l");
  EXPECT_EQ(Replicated("LMPOP 2 none l RIGHT COUNT 2"), "RPOP l 2");
  EXPECT_EQ(Replicated("BLMOVE l m LEFT RIGHT 0"), "LMOVE l m LEFT RIGHT");
  EXPECT_EQ(Replicated("BRPOPLPUSH m l 0"), "RPOPLPUSH m l");
  Run("ZADD z 1 a 2 b 3 c");
  EXPECT_EQ(Replicated("BZPOPMIN none z 0"), "ZPOPMIN z");
  EXPECT_EQ(Replicated("ZPOPMIN z 0"), "");
  EXPECT_EQ(Replicated("ZMPOP 2 none z MAX COUNT 9"), "ZPOPMAX z 2");
}

// Replicas of Redis 7.0 have neither LMOVEM nor BLMOVEM.
TEST_F(ReplicatedCommands, AMoveOfManyElementsBecomesPushesAndAPop) {
  Run("RPUSH l a b c d e f g h");
  EXPECT_EQ(Replicated("LMOVEM l m LEFT RIGHT"), "LMOVE l m LEFT RIGHT");
  EXPECT_EQ(Replicated("BLMOVEM l m RIGHT LEFT 0 COUNT 1 OBO"), "LMOVE l m RIGHT LEFT");
  EXPECT_EQ(Replicated("LMOVEM l m LEFT LEFT COUNT 2 BULK"), "[LPUSH m c b | LPOP l 2]");
  EXPECT_EQ(Replicated("BLMOVEM l m RIGHT RIGHT 0 EXACTLY 2 OBO"), "[RPUSH m g f | RPOP l 2]");
  EXPECT_EQ(Replicated("LMOVEM l m LEFT LEFT EXACTLY 3 BULK"), "");
  EXPECT_EQ(Replicated("LMOVEM m m LEFT RIGHT COUNT 2 OBO"), "[RPUSH m b c | LPOP m 2]");
  EXPECT_EQ(Replicated("LMOVEM m m LEFT LEFT COUNT 2 OBO"), "[LPOP m 2 | LPUSH m h a]");
}

// A list that is emptied in between would lose its expiry on the replica.
TEST_F(ReplicatedCommands, AReversedListIsNeverEmptyOnAReplica) {
  Run("RPUSH l a b c");
  EXPECT_EQ(Replicated("LMOVEM l l LEFT LEFT COUNT 9 OBO"), "[LPUSH l a b c | LTRIM l 0 2]");
  EXPECT_EQ(Replicated("LMOVEM l l RIGHT RIGHT COUNT 9 OBO"), "[RPUSH l a b c | LTRIM l -3 -1]");
  EXPECT_EQ(Replicated("LMOVEM l l RIGHT LEFT COUNT 9 OBO"), "");
  EXPECT_EQ(Replicated("LMOVEM l l LEFT LEFT COUNT 2 BULK"), "");
}

TEST_F(ReplicatedCommands, PlacesBecomeScores) {
  EXPECT_EQ(Replicated("GEOADD g NX 13.361389 38.115556 Palermo"), "ZADD g NX 3479099956230698 Palermo");
}

TEST_F(ReplicatedCommands, StreamEntriesHaveTheirIds) {
  EXPECT_EQ(Replicated("XADD s 5-* a b"), "XADD s 5-0 a b");
  EXPECT_EQ(Replicated("XADD s 6-1 a b"), "XADD s 6-1 a b");
  EXPECT_EQ(Replicated("XADD s MAXLEN ~ 1 LIMIT 100 7-1 a b"), "XADD s MAXLEN = 3 7-1 a b");
  EXPECT_EQ(Replicated("XTRIM s MAXLEN 2"), "XTRIM s MAXLEN 2");
  EXPECT_EQ(Replicated("XGROUP CREATE s g 0"), "XGROUP CREATE s g 0");
  EXPECT_EQ(Replicated("XREADGROUP GROUP g c COUNT 1 STREAMS s >"),
            "[XGROUP CREATECONSUMER s g c | XCLAIM s g c 0 6-1 TIME MS RETRYCOUNT 1 FORCE JUSTID LASTID 6-1 | "
            "XGROUP SETID s g 6-1 ENTRIESREAD 2]");
  EXPECT_EQ(Replicated("XCLAIM s g c 0 6-1"), "XCLAIM s g c 0 6-1 TIME MS RETRYCOUNT 2 FORCE JUSTID LASTID 6-1");
  EXPECT_EQ(Replicated("XREADGROUP GROUP g c STREAMS s 0"), "");
  EXPECT_EQ(Replicated("XREADGROUP GROUP g c CLAIM 0 COUNT 1 STREAMS s >"),
            "XCLAIM s g c 0 6-1 TIME MS RETRYCOUNT 4 FORCE JUSTID LASTID 6-1");
  EXPECT_EQ(Replicated("XREADGROUP GROUP g c CLAIM 1000000 STREAMS s >"),
            "[XCLAIM s g c 0 7-1 TIME MS RETRYCOUNT 1 FORCE JUSTID LASTID 7-1 | XGROUP SETID s g 7-1 ENTRIESREAD 3]");
  EXPECT_EQ(Replicated("XREADGROUP GROUP g c CLAIM 1000000 STREAMS s >"), "");
  EXPECT_EQ(Replicated("XNACK s g SILENT IDS 2 6-1 9-9"), "XNACK s g FAIL RETRYCOUNT 3 FORCE IDS 1 6-1");
  EXPECT_EQ(Replicated("XACK s g 6-1"), "XACK s g 6-1");
  const std::string added = Replicated("XADD t IDMP p i MAXLEN ~ 5 * f v");
  EXPECT_TRUE(added.starts_with("XADD t IDMP p i MAXLEN = 1 1") && added.ends_with("-0 f v")) << added;
  EXPECT_EQ(Replicated("XADD t IDMP p i * f v"), "");
  EXPECT_EQ(Replicated({"XCFGSET t IDMP-MAXSIZE 100", "XCFGSET t IDMP-MAXSIZE 5"}), "XCFGSET t IDMP-MAXSIZE 5");
}

TEST_F(ReplicatedCommands, ATransactionIsAGroup) {
  EXPECT_EQ(Replicated({"MULTI", "SET a 1", "GET a", "SET b 2", "EXEC"}), "[SET a 1 | SET b 2]");
  EXPECT_EQ(Replicated({"MULTI", "SET a 1", "EXEC"}), "SET a 1");
  EXPECT_EQ(Replicated({"MULTI", "GET a", "EXEC"}), "");
  EXPECT_EQ(Replicated({"MULTI", "SET a 1", "SELECT 3", "SET a 2", "EXEC", "SELECT 0"}), "[SET a 1 | 3:SET a 2]");
}

TEST_F(ReplicatedCommands, ExpiredKeysAreDeleted) {
  Run("SET k v PX 1");
  Run("SET l v PX 1");
  Run("SET m v PX 1");
  usleep(5000);
  EXPECT_EQ(Replicated("GET k"), "DEL k");
  EXPECT_EQ(Replicated("INCR l"), "[DEL l | INCR l]");
  store().interests().Set(kUnlinksExpired, kUnlinksExpired);
  EXPECT_EQ(Replicated("EXISTS m"), "UNLINK m");
}

TEST_F(ReplicatedCommands, FlushesAndSwapsAreReplicated) {
  EXPECT_EQ(Replicated("FLUSHDB"), "FLUSHDB");
  EXPECT_EQ(Replicated("FLUSHALL ASYNC"), "FLUSHALL ASYNC");
  EXPECT_EQ(Replicated("SWAPDB 0 1"), "SWAPDB 0 1");
}

TEST_F(ReplicatedCommands, ACachedCountIsReplicated) {
  Run("PFADD h a b c");
  EXPECT_EQ(Replicated("PFCOUNT h"), "PFCOUNT h");
  EXPECT_EQ(Replicated("PFCOUNT h"), "");
}

// Without the switch a command has no extra cost, and the log is unchanged.
TEST_F(ReplicatedCommands, NothingIsLoggedWithoutReplicas) {
  store().interests().Set(kInterestInReplication, 0);
  EXPECT_EQ(Replicated({"SET k v EX 100", "SPOP none", "MULTI", "SET a 1", "SET b 2", "EXEC"}), "");
}

}  // namespace
}  // namespace cairn
