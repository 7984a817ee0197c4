// SPDX-License-Identifier: BSD-3-Clause
//
// The memory of a command (storage/command_memory.h): one that would need too much ends with an error and changes
// nothing, whether it writes rows or collects elements.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "command/dispatcher_fixture.h"

namespace cairn {
namespace {

using Words = std::vector<std::string>;

constexpr int kMembers = 20'000;
constexpr int64_t kMostBytes = 1 << 20;

class CommandMemory : public DispatcherFixture {
 protected:
  Outcome Run(const Words& words, Lane lane, std::string& out) { return Dispatch(session_, words, lane, out); }
  std::string Execute(const Words& words) {
    std::string out;
    Run(words, Lane::kSlow, out);
    return out;
  }
  std::string Execute(const std::string& line) { return Execute(Split(line)); }

  // `count` members with these names, behind the words of `line`; each behind a score if there are scores.
  static Words WithMembers(const std::string& line, const std::string& prefix, int count, bool has_scores) {
    Words words = Split(line);
    for (int i = 0; i < count; ++i) {
      if (has_scores) words.push_back(std::to_string(i));
      words.push_back(prefix + std::to_string(i));
    }
    return words;
  }

  void Fill() {
    EXPECT_EQ(":20000\r\n", Execute(WithMembers("SADD set", "member", kMembers, false)));
    EXPECT_EQ(":20000\r\n", Execute(WithMembers("ZADD zset", "member", kMembers, true)));
    EXPECT_EQ(":20000\r\n", Execute(WithMembers("HSET hash", "field", kMembers, true)));
    EXPECT_EQ(":20000\r\n", Execute(WithMembers("RPUSH list", "item", kMembers, false)));
  }
  void Limit(int64_t bytes = kMostBytes) { limits_.command_max_memory = bytes; }

  static bool IsRefused(const std::string& reply) {
    return reply == "-OOM the command needs more memory than its part of memory-budget\r\n";
  }
};

TEST_F(CommandMemory, CommandsThatWriteManyRowsAreRefused) {
  Fill();
  Limit();
  for (const char* const line : {"COPY set to", "COPY zset to", "COPY hash to"}) {
    EXPECT_TRUE(IsRefused(Execute(line))) << line;
    EXPECT_EQ(":0\r\n", Execute("EXISTS to")) << line;
  }
  EXPECT_TRUE(IsRefused(Execute("ZREMRANGEBYRANK zset 0 18000")));
  EXPECT_TRUE(IsRefused(Execute("ZREMRANGEBYSCORE zset -inf (18000")));
  EXPECT_TRUE(IsRefused(Execute("SPOP set 9000")));
  EXPECT_EQ(":20000\r\n", Execute("ZCARD zset"));
  EXPECT_EQ(":20000\r\n", Execute("SCARD set"));
}

TEST_F(CommandMemory, CommandsThatCollectManyElementsAreRefused) {
  Fill();
  Limit();
  for (const char* const line :
       {"SUNIONSTORE to set", "SINTERSTORE to set set", "SDIFFSTORE to set none", "SUNION set", "SDIFF set none",
        "SUNIONCARD 1 set", "ZUNIONSTORE to 1 zset", "ZINTERSTORE to 2 zset zset", "ZUNION 1 zset",
        "ZRANGESTORE to zset 0 -1", "SORT list ALPHA STORE to", "SORT set ALPHA", "SORT_RO zset BY nosort ALPHA",
        "DUMP set", "DUMP zset"}) {
    EXPECT_TRUE(IsRefused(Execute(line))) << line << ": " << Execute(line).substr(0, 100);
    EXPECT_EQ(":0\r\n", Execute("EXISTS to")) << line;
  }
}

TEST_F(CommandMemory, TheSameCommandsRunWithinTheLimit) {
  Fill();
  Limit(16 * kMostBytes);
  EXPECT_EQ(":1\r\n", Execute("COPY zset to"));
  EXPECT_EQ(":18001\r\n", Execute("ZREMRANGEBYRANK to 0 18000"));
  EXPECT_EQ(":20000\r\n", Execute("SUNIONSTORE to set"));
  EXPECT_EQ(":20000\r\n", Execute("ZUNIONSTORE to 1 zset"));
  EXPECT_EQ(":20000\r\n", Execute("SORT list ALPHA STORE to"));
}

TEST_F(CommandMemory, ALargeRequestMayBeStored) {
  Fill();
  std::string bulk = Execute("DUMP zset");
  const std::string payload = bulk.substr(bulk.find('\n') + 1, bulk.size() - bulk.find('\n') - 3);
  Limit();
  EXPECT_EQ("+OK\r\n", Execute(Words{"RESTORE", "restored", "0", payload}));
  EXPECT_EQ(":20000\r\n", Execute("ZCARD restored"));
  EXPECT_EQ(":20000\r\n", Execute(WithMembers("SADD other", "member", kMembers, false)));
  EXPECT_EQ("+OK\r\n", Execute(Words{"SET", "text", std::string(3 * kMostBytes, 'x')}));
}

TEST_F(CommandMemory, TheRestOfATransactionIsRefused) {
  Fill();
  Limit();
  EXPECT_EQ("+OK\r\n", Execute("MULTI"));
  for (const char* const line : {"SET a 1", "COPY set to", "SET b 2"}) EXPECT_EQ("+QUEUED\r\n", Execute(line));
  const std::string replies = Execute("EXEC");
  EXPECT_TRUE(replies.starts_with("*3\r\n+OK\r\n-OOM ")) << replies;
  EXPECT_EQ(":1\r\n", Execute("EXISTS a b to"));
}

// A compressed payload of a few kilobytes holds megabytes. The texts, and the rows made of them, are counted.
TEST_F(CommandMemory, ASmallPayloadOfLargeValuesIsRefused) {
  const std::string zeros(kMostBytes / 4, '\0');
  for (int i = 0; i < 16; ++i) {
    const std::string name = std::to_string(i);
    Execute(Words{"HSET", "hash", name, zeros});
    Execute(Words{"RPUSH", "list", zeros});
    Execute(Words{"SADD", "set", name + zeros});
    Execute(Words{"ZADD", "zset", name, name + zeros});
    Execute(Words{"XADD", "stream", name + "-1", "field", zeros});
  }
  std::vector<std::string> payloads;
  for (const char* const key : {"hash", "list", "set", "zset", "stream"}) {
    const std::string bulk = Execute(Words{"DUMP", key});
    payloads.push_back(bulk.substr(bulk.find('\n') + 1, bulk.size() - bulk.find('\n') - 3));
  }
  Limit();
  for (const std::string& payload : payloads) {
    EXPECT_TRUE(IsRefused(Execute(Words{"RESTORE", "to", "0", payload}))) << payload.size();
    EXPECT_EQ(":0\r\n", Execute("EXISTS to"));
  }
  Limit(16 * kMostBytes);
  for (const std::string& payload : payloads) {
    EXPECT_EQ("+OK\r\n", Execute(Words{"RESTORE", "to", "0", payload, "REPLACE"})) << payload.size();
  }
}

// Their items take twelve times the bytes of their list.
TEST_F(CommandMemory, ASmallPayloadOfManySmallElementsIsRefused) {
  Words words = Split("RPUSH list");
  words.insert(words.end(), 200'000, "1");
  Execute(words);
  const std::string bulk = Execute("DUMP list");
  const std::string payload = bulk.substr(bulk.find('\n') + 1, bulk.size() - bulk.find('\n') - 3);
  EXPECT_LT(payload.size(), 10'000);
  Limit();
  EXPECT_TRUE(IsRefused(Execute(Words{"RESTORE", "to", "0", payload})));
}

// SETBIT made the string: no client sent that many bytes.
TEST_F(CommandMemory, CommandsThatReadALargeStringAreRefused) {
  Execute("SETBIT large 268435455 1");  // 32 MB
  Execute(Words{"SETRANGE", "sketch", "0", std::string("HYLL\x01") + std::string(11, '\0')});
  Execute("SETBIT sketch 268435455 1");
  Execute("RPUSH list large large");
  Limit();
  for (const char* const line :
       {"BITOP NOT to large", "BITOP OR to set large", "SORT list BY * ALPHA", "SORT list BY *", "DUMP large"}) {
    EXPECT_TRUE(IsRefused(Execute(line))) << line;
    EXPECT_EQ(":0\r\n", Execute("EXISTS to")) << line;
  }
  for (const char* const line : {"PFCOUNT sketch", "PFMERGE to sketch", "PFADD sketch a", "PFDEBUG ENCODING sketch"}) {
    EXPECT_EQ("-INVALIDOBJ Corrupted HLL object detected\r\n", Execute(line)) << line;
  }
  EXPECT_EQ("$16\r\n", Execute("DIGEST large").substr(0, 5));
  EXPECT_EQ(":1\r\n", Execute("BITCOUNT large"));
  EXPECT_EQ("$33554432\r\n", Execute("GET large").substr(0, 11));
}

TEST_F(CommandMemory, TextsThatSortStoresAreCounted) {
  Words words = Split("RPUSH list");
  words.insert(words.end(), 5'000, "1");
  Execute(words);
  Limit();
  std::string line = "SORT list BY nosort";
  EXPECT_EQ(":5000\r\n", Execute(line + " STORE to"));
  EXPECT_EQ(":1\r\n", Execute("DEL to"));
  for (int i = 0; i < 10; ++i) line += " GET #";
  EXPECT_TRUE(IsRefused(Execute(line + " STORE to")));
  EXPECT_EQ(":0\r\n", Execute("EXISTS to"));
}

// They are faster with their members in memory, but do not need that.
TEST_F(CommandMemory, CommandsThatMayReadMembersIntoMemoryRunWithinAnyLimit) {
  Fill();
  EXPECT_EQ(":1\r\n", Execute("COPY set set2"));
  EXPECT_EQ(":1\r\n", Execute("COPY zset zset2"));
  Limit(kMostBytes / 4);
  EXPECT_EQ(":20000\r\n", Execute("SINTERCARD 2 set set2"));
  EXPECT_EQ("*0\r\n", Execute("SDIFF set set2"));
  EXPECT_EQ(":20000\r\n", Execute("ZINTERCARD 2 zset zset2"));
  EXPECT_EQ("*1500\r\n", Execute("SRANDMEMBER set -1500").substr(0, 7));
}

// A replica must have what its primary has.
TEST_F(CommandMemory, ThePrimarysCommandsHaveNoLimit) {
  Fill();
  Limit();
  session_.is_primary = true;
  EXPECT_EQ(":1\r\n", Execute("COPY set to"));
}

TEST_F(CommandMemory, TheFastLaneLeavesLargeChangesToTheSlowLane) {
  EXPECT_EQ(":300\r\n", Execute(WithMembers("SADD few", std::string(100, 'x'), 300, false)));
  Limit(10'000);
  std::string out;
  EXPECT_EQ(Verdict::kWouldWait, Run({"COPY", "few", "to"}, Lane::kFast, out).verdict);
  Limit(1 << 20);
  out.clear();
  EXPECT_EQ(Verdict::kDone, Run({"COPY", "few", "to"}, Lane::kFast, out).verdict);
  EXPECT_EQ(":1\r\n", out);
}

}  // namespace
}  // namespace cairn
