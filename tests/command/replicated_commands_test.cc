// SPDX-License-Identifier: BSD-3-Clause
//
// What a replica is told of a command: its effect, in the words redis-server would use for it. A replica that does as
// it is told must come to the same data, so chance, the clock, waiting and the choice among keys are gone from it.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "command/dispatch.h"
#include "encoding/log_entry.h"
#include "server/families.h"
#include "storage/log_reader.h"
#include "storage/store_fixture.h"

namespace cairn {
namespace {

class ReplicatedCommands : public StoreFixture {
 protected:
  void SetUp() override {
    StoreFixture::SetUp();
    store().interests().Set(kInterestInReplication, kInterestInReplication);
  }

  // Runs a command, words separated by blanks; REQUIRES: it succeeds.
  void Run(const std::string& line) {
    std::istringstream words(line);
    std::vector<std::string> owned;
    for (std::string word; words >> word;) owned.push_back(word);
    const std::vector<std::string_view> argv(owned.begin(), owned.end());
    std::string out;
    Reply reply(out, 2);
    CommandWorker worker{txn(), random_, Lane::kSlow, positions_, stripes_};
    const Outcome outcome = dispatcher_.Execute(worker, session_, argv, reply, false);
    EXPECT_FALSE(outcome.failed || outcome.rejected) << line << ": " << out;
    EXPECT_TRUE(outcome.verdict == Verdict::kDone) << line;
    Commit();
  }

  // What the commands are told as, with " | " between commands, groups in brackets and times as MS.
  std::string Told(std::initializer_list<const char*> lines) {
    LogReader reader(store(), store().log().LatestSequence() + 1);
    for (const char* line : lines) Run(line);
    std::string told;
    LogReader::Batch batch;
    for (;;) {
      const Result<LogReader::Outcome> outcome = reader.Next(batch);
      EXPECT_TRUE(outcome.ok());
      if (!outcome.ok() || *outcome != LogReader::Outcome::kBatch) return told;
      Append(*batch.entries, told);
    }
  }
  std::string Told(const char* line) { return Told({line}); }

 private:
  static void Append(std::string_view entries, std::string& told) {
    LogEntryReader reader(entries);
    LogEntry entry;
    for (;;) {
      const Result<bool> more = reader.Next(entry);
      ASSERT_TRUE(more.ok());
      if (!*more) return;
      if (!told.empty() && !told.ends_with("[")) told += entry.kind == LogEntryKind::kEnd ? "" : " | ";
      if (entry.kind == LogEntryKind::kBegin) told += "[";
      if (entry.kind == LogEntryKind::kEnd) told += "]";
      if (entry.kind == LogEntryKind::kCommand) told += InWords(entry);
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

  CommandTable table_{AllFamilies()};
  Limits limits_;
  Waiters waiters_;
  Dispatcher dispatcher_{table_, limits_, waiters_};
  Session session_{1};
  Random random_{1};
  std::vector<uint32_t> positions_;
  std::vector<uint32_t> stripes_;
};

TEST_F(ReplicatedCommands, ACommandThatChangesSomethingIsToldAsItWasSaid) {
  EXPECT_EQ(Told("SET k v"), "SET k v");
  EXPECT_EQ(Told("set k v nx"), "");
  EXPECT_EQ(Told("RPUSH l a b"), "RPUSH l a b");
  EXPECT_EQ(Told("SADD s a"), "SADD s a");
  EXPECT_EQ(Told("SADD s a"), "");
  EXPECT_EQ(Told("DEL nothing"), "");
  EXPECT_EQ(Told("DEL k nothing"), "DEL k nothing");
  EXPECT_EQ(Told("GET s1"), "");
}

TEST_F(ReplicatedCommands, DeadlinesAreMoments) {
  EXPECT_EQ(Told("SET k v EX 100"), "SET k v PXAT MS");
  EXPECT_EQ(Told("SETEX k 100 v"), "SET k v PXAT MS");
  EXPECT_EQ(Told("SET k w KEEPTTL"), "SET k w KEEPTTL");
  EXPECT_EQ(Told("EXPIRE k 100"), "PEXPIREAT k MS");
  EXPECT_EQ(Told("PEXPIRE k 5000 XX"), "PEXPIREAT k MS XX");
  EXPECT_EQ(Told("GETEX k EX 100"), "PEXPIREAT k MS");
  EXPECT_EQ(Told("GETEX k PERSIST"), "PERSIST k");
  EXPECT_EQ(Told("GETEX k"), "");
  EXPECT_EQ(Told("EXPIRE k -1"), "DEL k");
}

TEST_F(ReplicatedCommands, ReadingPartsAreLeftOut) {
  EXPECT_EQ(Told("SET k v GET"), "SET k v");
  EXPECT_EQ(Told("GETSET k w"), "SET k w");
  EXPECT_EQ(Told("GETDEL k"), "DEL k");
}

TEST_F(ReplicatedCommands, FloatsAreTheirSums) {
  EXPECT_EQ(Told("INCRBYFLOAT f 0.1"), "SET f 0.1 KEEPTTL");
  EXPECT_EQ(Told("HINCRBYFLOAT h f 0.1"), "HSET h f 0.1");
  EXPECT_EQ(Told("INCRBY n 5"), "INCRBY n 5");
}

TEST_F(ReplicatedCommands, ChanceIsWhatItDrew) {
  Run("SADD s a");
  EXPECT_EQ(Told("SPOP s"), "SREM s a");
  Run("SADD s a b");
  EXPECT_EQ(Told("SPOP s 5"), "DEL s");
  Run("SADD s a a2 a3 a4 a5 a6 a7 a8 a9 a10");
  const std::string told = Told("SPOP s 2");
  EXPECT_EQ(told.substr(0, 7), "[SREM s");
  EXPECT_EQ(std::count(told.begin(), told.end(), '|'), 1);
}

TEST_F(ReplicatedCommands, AChoiceAmongKeysIsTheOneThatWasMade) {
  Run("RPUSH l a b c d");
  EXPECT_EQ(Told("BLPOP none l 0"), "LPOP l");
  EXPECT_EQ(Told("LMPOP 2 none l RIGHT COUNT 2"), "RPOP l 2");
  EXPECT_EQ(Told("BLMOVE l m LEFT RIGHT 0"), "LMOVE l m LEFT RIGHT");
  EXPECT_EQ(Told("BRPOPLPUSH m l 0"), "RPOPLPUSH m l");
  Run("ZADD z 1 a 2 b 3 c");
  EXPECT_EQ(Told("BZPOPMIN none z 0"), "ZPOPMIN z");
  EXPECT_EQ(Told("ZPOPMIN z 0"), "");
  EXPECT_EQ(Told("ZMPOP 2 none z MAX COUNT 9"), "ZPOPMAX z 2");
}

TEST_F(ReplicatedCommands, PlacesAreScores) {
  EXPECT_EQ(Told("GEOADD g NX 13.361389 38.115556 Palermo"), "ZADD g NX 3479099956230698 Palermo");
}

TEST_F(ReplicatedCommands, StreamsHaveTheirIds) {
  EXPECT_EQ(Told("XADD s 5-* a b"), "XADD s 5-0 a b");
  EXPECT_EQ(Told("XADD s 6-1 a b"), "XADD s 6-1 a b");
  EXPECT_EQ(Told("XADD s MAXLEN ~ 1 LIMIT 100 7-1 a b"), "XADD s MAXLEN = 3 7-1 a b");
  EXPECT_EQ(Told("XTRIM s MAXLEN 2"), "XTRIM s MAXLEN 2");
  EXPECT_EQ(Told("XGROUP CREATE s g 0"), "XGROUP CREATE s g 0");
  EXPECT_EQ(Told("XREADGROUP GROUP g c COUNT 1 STREAMS s >"),
            "[XGROUP CREATECONSUMER s g c | XCLAIM s g c 0 6-1 TIME MS RETRYCOUNT 1 FORCE JUSTID LASTID 6-1 | "
            "XGROUP SETID s g 6-1 ENTRIESREAD 2]");
  EXPECT_EQ(Told("XCLAIM s g c 0 6-1"), "XCLAIM s g c 0 6-1 TIME MS RETRYCOUNT 2 FORCE JUSTID LASTID 6-1");
  EXPECT_EQ(Told("XREADGROUP GROUP g c STREAMS s 0"), "");
  EXPECT_EQ(Told("XACK s g 6-1"), "XACK s g 6-1");
}

TEST_F(ReplicatedCommands, ATransactionIsAGroup) {
  EXPECT_EQ(Told({"MULTI", "SET a 1", "GET a", "SET b 2", "EXEC"}), "[SET a 1 | SET b 2]");
  EXPECT_EQ(Told({"MULTI", "SET a 1", "EXEC"}), "SET a 1");
  EXPECT_EQ(Told({"MULTI", "GET a", "EXEC"}), "");
  EXPECT_EQ(Told({"MULTI", "SET a 1", "SELECT 3", "SET a 2", "EXEC", "SELECT 0"}), "[SET a 1 | 3:SET a 2]");
}

TEST_F(ReplicatedCommands, ExpiredKeysAreDeleted) {
  Run("SET k v PX 1");
  Run("SET l v PX 1");
  Run("SET m v PX 1");
  usleep(5000);
  EXPECT_EQ(Told("GET k"), "DEL k");
  EXPECT_EQ(Told("INCR l"), "[DEL l | INCR l]");
  store().interests().Set(kUnlinksExpired, kUnlinksExpired);
  EXPECT_EQ(Told("EXISTS m"), "UNLINK m");
}

TEST_F(ReplicatedCommands, DatabasesAreEmptiedAndExchanged) {
  EXPECT_EQ(Told("FLUSHDB"), "FLUSHDB");
  EXPECT_EQ(Told("FLUSHALL ASYNC"), "FLUSHALL ASYNC");
  EXPECT_EQ(Told("SWAPDB 0 1"), "SWAPDB 0 1");
}

TEST_F(ReplicatedCommands, ACountThatIsKeptIsToldToo) {
  Run("PFADD h a b c");
  EXPECT_EQ(Told("PFCOUNT h"), "PFCOUNT h");
  EXPECT_EQ(Told("PFCOUNT h"), "");
}

// Without the switch a command pays nothing and the log stays as it was.
TEST_F(ReplicatedCommands, NothingIsToldToNobody) {
  store().interests().Set(kInterestInReplication, 0);
  EXPECT_EQ(Told({"SET k v EX 100", "SPOP none", "MULTI", "SET a 1", "SET b 2", "EXEC"}), "");
}

}  // namespace
}  // namespace cairn
