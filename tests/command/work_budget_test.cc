// SPDX-License-Identifier: BSD-3-Clause
//
// The work budget of the fast lane. A command that would delay the other connections of its I/O thread leaves the fast
// lane before it does the work, and has the same reply on the slow lane. Small keys stay on the fast lane.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "command/dispatcher_fixture.h"
#include "types/cuckoo_shape.h"

namespace cairn {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view kWouldWait = "would wait";

// A client whose replies may have this many bytes.
class SmallRoom : public ReplyRoom {
 public:
  explicit SmallRoom(uint64_t bytes) : bytes_(bytes) {}
  bool MayHold(uint64_t bytes) override { return bytes <= bytes_; }

 private:
  uint64_t bytes_;
};

class WorkBudget : public DispatcherFixture {
 protected:
  // The words of `line`, and behind them `count` times the words of `tail`.
  static Words Repeat(const std::string& line, const std::string& tail, size_t count) {
    Words words = Split(line);
    const Words repeated = Split(tail);
    for (size_t i = 0; i < count; ++i) words.insert(words.end(), repeated.begin(), repeated.end());
    return words;
  }
  // The words of `line`, and behind them `count` members with this prefix.
  static Words WithMembers(const std::string& line, const std::string& prefix, size_t count) {
    Words words = Split(line);
    for (size_t i = 0; i < count; ++i) words.push_back(prefix + std::to_string(i));
    return words;
  }

  // The text of an array of `count` zeros, or of as many equal indexes.
  static std::string Zeros(size_t count) {
    std::string text = "[0";
    for (size_t i = 1; i < count; ++i) text += ",0";
    return text + "]";
  }

  std::string Execute(const Words& words, Lane lane, ReplyRoom* room = nullptr) {
    std::string out;
    const Outcome outcome = Dispatch(session_, words, lane, out, false, room);
    return outcome.verdict == Verdict::kWouldWait ? std::string(kWouldWait) : out;
  }
  std::string Fast(const std::string& line) { return Execute(Split(line), Lane::kFast); }
  std::string Slow(const std::string& line) { return Execute(Split(line), Lane::kSlow); }

  // The command needs the slow lane; returns its reply there.
  std::string Moves(const Words& words) {
    EXPECT_EQ(kWouldWait, Execute(words, Lane::kFast)) << words[0];
    return Execute(words, Lane::kSlow);
  }

  // Runs the command this many times in one transaction.
  std::string MovesInExec(const std::string& line, size_t times) {
    EXPECT_EQ("+OK\r\n", Fast("MULTI"));
    for (size_t i = 0; i < times; ++i) EXPECT_EQ("+QUEUED\r\n", Fast(line));
    return Moves({"EXEC"});
  }
};

TEST_F(WorkBudget, MergesOfLargeDigestsMove) {
  EXPECT_EQ("+OK\r\n", Slow("TDIGEST.CREATE large COMPRESSION 10000"));
  EXPECT_EQ("+OK\r\n", Execute(WithMembers("TDIGEST.ADD large", "", 12'000), Lane::kSlow));
  EXPECT_EQ("+OK\r\n", Slow("TDIGEST.CREATE small"));
  EXPECT_EQ("+OK\r\n", Execute(WithMembers("TDIGEST.ADD small", "", 500), Lane::kSlow));
  EXPECT_EQ("+OK\r\n", Moves(Split("TDIGEST.MERGE target 4 large large large large")));
  EXPECT_EQ("$1\r\n0\r\n", Fast("TDIGEST.MIN target"));
  EXPECT_EQ("+OK\r\n", Fast("TDIGEST.MERGE target 3 small small small OVERRIDE"));
}

// Each source makes the target sort its nodes again.
TEST_F(WorkBudget, MergesOfManySmallDigestsIntoALargeOneMove) {
  EXPECT_EQ("+OK\r\n", Slow("TDIGEST.CREATE large COMPRESSION 10000"));
  EXPECT_EQ("+OK\r\n", Execute(WithMembers("TDIGEST.ADD large", "", 12'000), Lane::kSlow));
  EXPECT_EQ("+OK\r\n", Slow("TDIGEST.CREATE tiny"));
  EXPECT_EQ("+OK\r\n", Slow("TDIGEST.ADD tiny 1"));
  EXPECT_EQ("+OK\r\n", Fast("TDIGEST.MERGE large 1 tiny"));
  EXPECT_EQ("+OK\r\n", Moves(Repeat("TDIGEST.MERGE large 200", "tiny", 200)));
  EXPECT_EQ("+OK\r\n", Moves(Repeat("TDIGEST.MERGE large 3000", "tiny", 3000)));
}

// A compaction looks for a free slot in all older sub-filters, for each item.
TEST_F(WorkBudget, CompactionsOfManySubFiltersMove) {
  const CuckooShape shape = {
      .buckets = 1, .items = 1024, .filters = 1024, .bucket_size = 1, .max_iterations = 1, .expansion = 1};
  EXPECT_EQ("+OK\r\n", Execute({"CF.LOADCHUNK", "c", "1", shape.EncodeDump()}, Lane::kSlow));
  for (uint64_t i = 0; i < shape.filters; ++i) {
    EXPECT_EQ("+OK\r\n", Execute({"CF.LOADCHUNK", "c", std::to_string(i + 2), "x"}, Lane::kSlow));
  }
  EXPECT_EQ("+OK\r\n", Moves(Split("CF.COMPACT c")));
}

TEST_F(WorkBudget, ManyEstimatesOfALargeDigestMove) {
  EXPECT_EQ("+OK\r\n", Slow("TDIGEST.CREATE large COMPRESSION 10000"));
  EXPECT_EQ("+OK\r\n", Execute(WithMembers("TDIGEST.ADD large", "", 12'000), Lane::kSlow));
  EXPECT_EQ("*1\r\n$1\r\n0\r\n", Fast("TDIGEST.QUANTILE large 0"));
  for (const char* line : {"TDIGEST.QUANTILE large", "TDIGEST.CDF large", "TDIGEST.RANK large", "TDIGEST.REVRANK large",
                           "TDIGEST.BYRANK large", "TDIGEST.BYREVRANK large"}) {
    EXPECT_TRUE(Moves(Repeat(line, "1", 1000)).starts_with("*1000\r\n")) << line;
  }
}

TEST_F(WorkBudget, MergesOfManySketchesMove) {
  EXPECT_EQ("+OK\r\n", Slow("CMS.INITBYDIM sketch 500 4"));
  EXPECT_EQ("*1\r\n:1\r\n", Slow("CMS.INCRBY sketch item 1"));
  EXPECT_EQ("+OK\r\n", Fast("CMS.MERGE sketch 2 sketch sketch"));
  EXPECT_EQ("*1\r\n:2\r\n", Fast("CMS.QUERY sketch item"));
  EXPECT_EQ("+OK\r\n", Moves(Repeat("CMS.MERGE sketch 1000", "sketch", 1000)));
  EXPECT_EQ("*1\r\n:2000\r\n", Fast("CMS.QUERY sketch item"));
}

TEST_F(WorkBudget, AlgebraOfManyPackedSetsMoves) {
  EXPECT_EQ(":1000\r\n", Execute(WithMembers("SADD s", "m", 1000), Lane::kSlow));
  EXPECT_EQ(":3\r\n", Execute(WithMembers("SADD few", "m", 3), Lane::kSlow));
  Words add = {"ZADD", "z"};
  for (int i = 0; i < 600; ++i) add.insert(add.end(), {"1", "m" + std::to_string(i)});
  EXPECT_EQ(":600\r\n", Execute(add, Lane::kSlow));

  EXPECT_EQ(":3\r\n", Fast("SINTERCARD 2 s few"));
  EXPECT_EQ(":3\r\n", Fast("ZINTERCARD 2 z few"));
  EXPECT_TRUE(Fast("SUNION s s").starts_with("*1000\r\n"));
  EXPECT_EQ(":1000\r\n", Fast("ZUNIONSTORE target 2 z s"));

  EXPECT_TRUE(Moves(Repeat("SUNION", "s", 50)).starts_with("*1000\r\n"));
  EXPECT_TRUE(Moves(Repeat("SINTER few", "s", 50)).starts_with("*3\r\n"));
  EXPECT_TRUE(Moves(Repeat("ZUNION 60", "z", 60)).starts_with("*600\r\n"));
  EXPECT_EQ(":3\r\n", Moves(Repeat("ZINTERCARD 51 few", "s", 50)));
}

// The result has rows of its own although its sources have none.
TEST_F(WorkBudget, StoringALargeSortedSetMoves) {
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(":1000\r\n", Execute(WithMembers(std::string("SADD ") + name, name, 1000), Lane::kSlow));
  }
  EXPECT_EQ(":3000\r\n", Moves(Split("ZUNIONSTORE target 3 a b c")));
  EXPECT_EQ(":3000\r\n", Fast("ZCARD target"));
}

TEST_F(WorkBudget, PassesOverManyBytesMove) {
  const std::string text(100'000, 'a');  // three bits of each byte are set
  EXPECT_EQ("+OK\r\n", Execute({"SET", "k", text}, Lane::kSlow));
  EXPECT_EQ(":300000\r\n", Fast("BITCOUNT k"));
  EXPECT_TRUE(MovesInExec("BITCOUNT k", 11).starts_with("*11\r\n:300000\r\n"));
  EXPECT_EQ("$16\r\n", Fast("DIGEST k").substr(0, 5));
  EXPECT_TRUE(MovesInExec("DIGEST k", 11).starts_with("*11\r\n$16\r\n"));
  EXPECT_TRUE(MovesInExec("DELEX k IFDEQ 0000000000000000", 11).starts_with("*11\r\n:0\r\n"));
  EXPECT_EQ(":100000\r\n", Fast("BITOP OR target k k"));
  EXPECT_EQ(":100000\r\n", Moves(Repeat("BITOP OR target", "k", 11)));
  EXPECT_EQ(":100000\r\n", Moves(Repeat("BITOP OR target k", "nokey", 11)));

  EXPECT_EQ("+OK\r\n", Execute({"SET", "zeros", std::string(100'000, '\0')}, Lane::kSlow));
  EXPECT_EQ(":-1\r\n", Fast("BITPOS zeros 1"));
  EXPECT_EQ(":1\r\n", Fast("BITPOS k 1"));
  EXPECT_TRUE(MovesInExec("BITPOS zeros 1", 11).starts_with("*11\r\n:-1\r\n"));
}

// A fragmented string may be large although no client sent that many bytes, and a read of it leaves the fast lane.
// These commands need only its size.
TEST_F(WorkBudget, ComparisonsDoNotReadAStringOfAnotherSize) {
  EXPECT_EQ(":8000001\r\n", Slow("SETRANGE k 8000000 x"));
  EXPECT_EQ("$-1\r\n", Fast("SET k v IFEQ x"));
  EXPECT_EQ(":0\r\n", Fast("DELIFEQ k x"));
  EXPECT_EQ(":0\r\n", Fast("DELEX k IFEQ x"));
  EXPECT_EQ("-ERR value is not a valid float\r\n", Fast("INCRBYFLOAT k 1"));
  EXPECT_EQ("-ERR value is not a valid float\r\n", Fast("INCREX k BYFLOAT 1"));
  EXPECT_EQ("-ERR value is not an integer or out of range\r\n", Fast("INCREX k"));
  EXPECT_TRUE(Fast("LCS k k").starts_with("-ERR Insufficient memory, transient memory for LCS"));
  EXPECT_EQ("+OK\r\n", Fast("SET k v IFNE x"));
  EXPECT_EQ("$1\r\nv\r\n", Fast("GET k"));
  EXPECT_EQ("+OK\r\n", Fast("SET k w IFEQ v"));
}

// Each element may name the same large string.
TEST_F(WorkBudget, SortKeepsALimitedNumberOfBytes) {
  limits_.proto_max_bulk_len = 1 << 20;
  EXPECT_EQ(":800000\r\n", Slow("SETRANGE w_a 799999 x"));
  EXPECT_EQ(":2\r\n", Slow("RPUSH two a a"));
  EXPECT_EQ(":1\r\n", Slow("RPUSH one a"));
  const std::string refused =
      "-ERR Insufficient memory, the values of the patterns of SORT exceed proto-max-bulk-len\r\n";
  EXPECT_EQ(refused, Slow("SORT two BY nosort GET w_* STORE target"));
  EXPECT_EQ(refused, Slow("SORT two BY w_* ALPHA"));
  EXPECT_EQ(":0\r\n", Slow("EXISTS target"));
  EXPECT_EQ(":1\r\n", Slow("SORT one BY w_* ALPHA GET w_* STORE target"));
  EXPECT_EQ(":2\r\n", Slow("SORT two BY nosort GET # STORE target"));
  EXPECT_EQ("*2\r\n$1\r\na\r\n$1\r\na\r\n", Slow("LRANGE target 0 -1"));
}

// Without STORE the values go to the reply, which the client's room limits.
TEST_F(WorkBudget, SortStopsWhenItsReplyIsCut) {
  EXPECT_EQ(":800000\r\n", Slow("SETRANGE w_a 799999 x"));
  EXPECT_EQ(":800000\r\n", Slow("SETRANGE w_b 799999 x"));
  EXPECT_EQ(":2\r\n", Slow("RPUSH list a b"));
  SmallRoom room(200'000);
  EXPECT_LT(Execute(Split("SORT list BY nosort GET w_*"), Lane::kSlow, &room).size(), 200'000);
  SmallRoom enough(2'000'000);
  EXPECT_GT(Execute(Split("SORT list BY nosort GET w_*"), Lane::kSlow, &enough).size(), 1'600'000);
}

// COMMAND DOCS describes a command as often as it is named.
TEST_F(WorkBudget, DescriptionsOfCommandsStopWhenTheirReplyIsCut) {
  for (const std::string command : {"COMMAND DOCS", "COMMAND INFO"}) {
    EXPECT_EQ(kWouldWait, Execute(Repeat(command, "sort", 3000), Lane::kFast)) << command;
    EXPECT_EQ(kWouldWait, Execute(Repeat(command, "cluster", 200), Lane::kFast)) << command;
    const Words words = Repeat(command, "sort", 400'000);
    SmallRoom room(200'000);
    const int64_t start_us = MonotonicUs();
    EXPECT_LT(Execute(words, Lane::kSlow, &room).size(), 300'000) << command;
    EXPECT_LT(MonotonicUs() - start_us, 1'000'000) << command;
    EXPECT_LT(1000, Execute(Repeat(command, "sort", 10), Lane::kFast).size()) << command;
  }
}

// A pattern may be compared with each end of the element's name.
TEST_F(WorkBudget, MatchesOfLongPatternsMove) {
  const std::string name(40'000, 'a');
  const std::string pattern = "*" + std::string(20'000, 'a') + "b*";
  EXPECT_EQ(":1\r\n", Execute({"SADD", "set", name}, Lane::kSlow));
  EXPECT_EQ(":1\r\n", Execute({"HSET", "hash", name, "v"}, Lane::kSlow));
  EXPECT_EQ(":1\r\n", Execute({"ZADD", "zset", "1", name}, Lane::kSlow));
  for (const auto& [scan, key] : {std::pair("SSCAN", "set"), std::pair("HSCAN", "hash"), std::pair("ZSCAN", "zset")}) {
    EXPECT_EQ("*2\r\n$1\r\n0\r\n*0\r\n", Moves({scan, key, "0", "MATCH", pattern})) << scan;
    EXPECT_EQ("*2\r\n$1\r\n0\r\n*0\r\n", Execute({scan, key, "0", "MATCH", "*b*"}, Lane::kFast)) << scan;
  }
}

// A client that was evicted or killed may have asked for all keys, or for all elements of a large key.
TEST_F(WorkBudget, ScansStopWhenTheirRepliesAreCut) {
  EXPECT_EQ(":12000\r\n", Execute(WithMembers("SADD set", "member", 12'000), Lane::kSlow));
  for (const Words& words : {Split("MSET"), Split("HSET hash"), Split("ZADD zset")}) {
    const bool is_zset = words[0] == "ZADD";
    Words all = words;
    for (int i = 0; i < 12'000; ++i) {
      const std::string name = "member" + std::to_string(i);
      all.insert(all.end(), {is_zset ? "1" : name, is_zset ? name : "1"});
    }
    Execute(all, Lane::kSlow);
  }
  for (const std::string scan : {"SCAN", "SSCAN set", "HSCAN hash", "ZSCAN zset"}) {
    const Words words = Split(scan + " 0 COUNT 100000");
    SmallRoom room(100'000), enough(2'000'000);
    EXPECT_EQ("-ERR stopped\r\n", Execute(words, Lane::kSlow, &room)) << scan;
    EXPECT_GT(Execute(words, Lane::kSlow, &enough).size(), 180'000) << scan;
  }
}

// A packed collection has no rows of its own, but a walk over its elements takes time too.
TEST_F(WorkBudget, ManyLookUpsOfPackedCollectionsMove) {
  Words fields = Split("HSET h");
  Words scores = Split("ZADD z");
  for (int i = 0; i < 400; ++i) {
    fields.insert(fields.end(), {"m" + std::to_string(i), "v"});
    scores.insert(scores.end(), {std::to_string(i), "m" + std::to_string(i)});
  }
  EXPECT_EQ(":400\r\n", Execute(fields, Lane::kFast));
  EXPECT_EQ(":400\r\n", Execute(scores, Lane::kFast));
  EXPECT_EQ(":1000\r\n", Execute(WithMembers("SADD s", "m", 1000), Lane::kFast));
  EXPECT_EQ(":400\r\n", Execute(WithMembers("SADD integers", "", 400), Lane::kFast));

  EXPECT_TRUE(Execute(Repeat("SMISMEMBER s", "x", 100), Lane::kFast).starts_with("*100\r\n:0\r\n"));
  EXPECT_TRUE(Execute(Repeat("HMGET h", "x", 100), Lane::kFast).starts_with("*100\r\n$-1\r\n"));

  EXPECT_TRUE(Moves(Repeat("SMISMEMBER s", "x", 2000)).starts_with("*2000\r\n:0\r\n"));
  EXPECT_TRUE(Moves(Repeat("SMISMEMBER integers", "1000", 2000)).starts_with("*2000\r\n:0\r\n"));
  EXPECT_EQ(":0\r\n", Moves(Repeat("SREM s", "x", 2000)));
  EXPECT_EQ(":0\r\n", Moves(Repeat("SADD s", "m999", 2000)));
  EXPECT_TRUE(Moves(Repeat("HMGET h", "x", 2000)).starts_with("*2000\r\n$-1\r\n"));
  EXPECT_EQ(":0\r\n", Moves(Repeat("HDEL h", "x", 2000)));
  EXPECT_EQ(":0\r\n", Moves(Repeat("HSET h", "m399 v", 2000)));
  EXPECT_TRUE(Moves(Repeat("HTTL h FIELDS 2000", "x", 2000)).starts_with("*2000\r\n:-2\r\n"));
  EXPECT_TRUE(Moves(Repeat("ZMSCORE z", "x", 2000)).starts_with("*2000\r\n$-1\r\n"));
  EXPECT_EQ(":0\r\n", Moves(Repeat("ZREM z", "x", 2000)));
  EXPECT_EQ(":0\r\n", Moves(Repeat("ZADD z", "1 m0 2 m0", 500)));
}

// So do the bits of a Bloom filter, and the runs of a sparse HyperLogLog.
TEST_F(WorkBudget, ManyItemsOfSmallFiltersMove) {
  EXPECT_EQ("+OK\r\n", Fast("BF.RESERVE exact 1e-300 1 NONSCALING"));
  EXPECT_EQ(":1\r\n", Fast("BF.ADD exact a"));
  EXPECT_TRUE(Execute(Repeat("BF.MEXISTS exact", "a", 50), Lane::kFast).starts_with("*50\r\n:1\r\n"));
  EXPECT_TRUE(Moves(Repeat("BF.MEXISTS exact", "a", 200)).starts_with("*200\r\n:1\r\n"));
  EXPECT_TRUE(Moves(Repeat("BF.MADD exact", "a", 200)).starts_with("*200\r\n:0\r\n"));

  EXPECT_EQ(":1\r\n", Execute(WithMembers("PFADD counter", "element", 800), Lane::kFast));
  EXPECT_EQ(":0\r\n", Fast("PFADD counter element0"));
  EXPECT_EQ(":0\r\n", Moves(Repeat("PFADD counter", "element0", 10'000)));
}

// A key may be named many times, so one HyperLogLog is enough.
TEST_F(WorkBudget, MergesOfManyHyperLogLogsMove) {
  limits_.hll_sparse_max_bytes = 0;
  EXPECT_EQ(":1\r\n", Slow("PFADD dense element"));
  EXPECT_EQ(":12304\r\n", Fast("STRLEN dense"));
  EXPECT_EQ(":1\r\n", Execute(Repeat("PFCOUNT", "dense", 50), Lane::kFast));
  EXPECT_EQ(":1\r\n", Moves(Repeat("PFCOUNT", "dense", 100)));
  EXPECT_EQ("+OK\r\n", Moves(Repeat("PFMERGE target", "dense", 100)));
}

// A chunk of a stream is one row, but has a hundred entries.
TEST_F(WorkBudget, ReadsOfManyStreamEntriesMove) {
  for (int i = 1; i <= 1000; ++i) {
    const std::string id = std::to_string(i) + "-0";
    EXPECT_EQ("$" + std::to_string(id.size()) + "\r\n" + id + "\r\n", Slow("XADD s " + id + " f v"));
  }
  for (const char* line : {"XRANGE s - +", "XREVRANGE s + -"}) {
    EXPECT_TRUE(Fast(line).starts_with("*1000\r\n")) << line;
    EXPECT_TRUE(MovesInExec(line, 6).starts_with("*6\r\n*1000\r\n")) << line;
  }
  EXPECT_TRUE(MovesInExec("XREAD STREAMS s 0", 6).starts_with("*6\r\n*1\r\n"));
  EXPECT_TRUE(MovesInExec("XRANGE s - + COUNT 500", 12).starts_with("*12\r\n*500\r\n"));
}

TEST_F(WorkBudget, ParsesOfLargeDocumentsMove) {
  const std::string text = '"' + std::string(300'000, 'x') + '"';
  EXPECT_EQ("+OK\r\n", Fast("JSON.SET k $ []"));
  EXPECT_EQ("+OK\r\n", Moves({"JSON.SET", "large", "$", text}));
  EXPECT_EQ("*1\r\n:1\r\n", Moves({"JSON.ARRAPPEND", "k", "$", text}));
  EXPECT_EQ("+OK\r\n", Moves({"JSON.MSET", "k", "$", "[]", "large", "$", text}));
  EXPECT_EQ("*1\r\n:5000\r\n", Moves(Repeat("JSON.ARRAPPEND k $", "0", 5000)));
  std::string path = "$";
  for (int i = 0; i < 30'000; ++i) path += ".a";
  EXPECT_EQ("$-1\r\n", Moves({"JSON.TYPE", "nokey", path}));
}

// A path may match one large value many times, and a short command must not do the product of both on the fast lane.
TEST_F(WorkBudget, WorkOnManyMatchesOfALargeValueMoves) {
  const std::string zeros = Zeros(5000);
  std::string members = R"({"m0":0)";
  for (int i = 1; i < 1000; ++i) members += ",\"m" + std::to_string(i) + "\":0";
  members += "}";
  EXPECT_EQ("+OK\r\n", Slow("JSON.SET k $ [" + zeros + "]"));
  EXPECT_EQ("+OK\r\n", Slow("JSON.SET object $ [" + members + "]"));
  EXPECT_EQ("*1\r\n:-1\r\n", Fast("JSON.ARRINDEX k $[0] 1"));
  EXPECT_EQ("*1\r\n:5000\r\n", Fast("JSON.ARRLEN k $[0]"));
  EXPECT_EQ("*1\r\n:10001\r\n", Fast("JSON.DEBUG MEMORY k $[0]"));

  const std::string path = "$" + Zeros(300);
  EXPECT_TRUE(Moves({"JSON.ARRINDEX", "k", path, "1"}).starts_with("*300\r\n:-1\r\n"));
  EXPECT_TRUE(Moves({"JSON.DEBUG", "MEMORY", "k", path}).starts_with("*300\r\n:10001\r\n"));
  EXPECT_TRUE(Moves({"JSON.RESP", "k", path}).starts_with("*300\r\n*5001\r\n+[\r\n:0\r\n"));
  EXPECT_TRUE(Moves({"JSON.GET", "k", path}).starts_with("$3000601\r\n[[0,0,"));
  EXPECT_TRUE(Moves({"JSON.MGET", "k", path}).starts_with("*1\r\n$3000601\r\n[[0,0,"));
  EXPECT_TRUE(Moves({"JSON.OBJKEYS", "object", path}).starts_with("*300\r\n*1000\r\n$2\r\nm0\r\n"));
  EXPECT_TRUE(Moves({"JSON.ARRINSERT", "k", path, "0", "1"}).starts_with("*300\r\n:5001\r\n:5002\r\n"));
  EXPECT_TRUE(Moves({"JSON.ARRPOP", "k", path, "0"}).starts_with("*300\r\n$1\r\n1\r\n"));
  EXPECT_TRUE(Moves({"JSON.ARRTRIM", "k", path, "1", "-1"}).starts_with("*300\r\n:4999\r\n:4998\r\n"));
}

// A regular expression of a few bytes may take milliseconds, both to compile and to search.
TEST_F(WorkBudget, WorkOnRegularExpressionsMoves) {
  EXPECT_EQ("+OK\r\n", Slow(R"(JSON.SET k $ {"t":["a"],"p":")" + std::string(100, 'x') + "\"}"));
  EXPECT_EQ("*0\r\n", Moves(Split("JSON.TYPE k $.t[?(@=~$.p)]")));
  EXPECT_EQ("$-1\r\n", Moves(Split(R"(JSON.TYPE nokey $[?(@=~'((\pL|\PN){100}){10}|x{1000}')])")));
  EXPECT_EQ("*0\r\n", Fast("JSON.TYPE k $.t[?(@=~'b')]"));

  EXPECT_EQ("+OK\r\n", Slow(R"(JSON.SET text $ [")" + std::string(60'000, 'a') + "\"]"));
  EXPECT_EQ("*0\r\n", Moves(Split("JSON.TYPE text $[?(@=~'a{999}b')]")));
}

// The same path is not compiled for each of the keys.
TEST_F(WorkBudget, ParsesThePathOfManyKeysOnce) {
  EXPECT_EQ("+OK\r\n", Slow("JSON.SET k $ [\"a\"]"));
  Words words = Repeat("JSON.MGET", "k", 20);
  words.push_back("$[?(@=~'^a.*$')]");
  EXPECT_TRUE(Execute(words, Lane::kFast).starts_with("*20\r\n$5\r\n[\"a\"]\r\n"));
}

// Nothing else ends such a command on the slow lane.
TEST_F(WorkBudget, WorkOnMatchesIsLimited) {
  constexpr std::string_view kRefused = "-ERR the path matches too many values\r\n";
  EXPECT_EQ("+OK\r\n", Slow("JSON.SET k $ [" + Zeros(20'000) + "]"));
  const std::string path = "$" + Zeros(10'000);
  EXPECT_EQ(kRefused, Execute({"JSON.ARRINDEX", "k", path, "1"}, Lane::kSlow));
  SmallRoom room(200'000);
  EXPECT_EQ("-ERR stopped\r\n", Execute({"JSON.RESP", "k", path}, Lane::kSlow, &room));
}

// Each deletion alone would move all elements behind it.
TEST_F(WorkBudget, DeletesManyMatchesInOnePass) {
  constexpr int kElements = 200'000;
  std::string numbers = "[0";
  for (int i = 1; i < kElements; ++i) numbers += "," + std::to_string(i);
  EXPECT_EQ("+OK\r\n", Slow("JSON.SET k $ " + numbers + "]"));
  EXPECT_EQ(":100000\r\n", Slow("JSON.DEL k $[0:200000:2]"));
  EXPECT_EQ("+OK\r\n", Slow("JSON.MERGE k $[0:100000:2] null"));
  EXPECT_EQ("*1\r\n:50000\r\n", Slow("JSON.ARRLEN k $"));
  EXPECT_EQ("$8\r\n[3,7,11]\r\n", Slow("JSON.GET k $[0:3]"));
}

// The values of a short text may take more memory than the server has.
TEST_F(WorkBudget, ParsedDocumentsTakeALimitedMemory) {
  constexpr std::string_view kRefused = "-ERR the JSON values take too much memory\r\n";
  const std::string zeros = Zeros(10'000);
  EXPECT_EQ("+OK\r\n", Execute({"JSON.SET", "old", "$", zeros}, Lane::kSlow));
  const std::string dump = Slow("DUMP old");
  const size_t begin = dump.find('\n') + 1;
  const std::string payload = dump.substr(begin, dump.size() - begin - 2);

  limits_.json_max_memory = 100'000;
  EXPECT_EQ(kRefused, Execute({"JSON.SET", "k", "$", zeros}, Lane::kSlow));
  EXPECT_EQ(kRefused, Execute({"JSON.MSET", "k", "$", zeros}, Lane::kSlow));
  EXPECT_EQ(kRefused, Execute({"JSON.MERGE", "k", "$", zeros}, Lane::kSlow));
  EXPECT_EQ(kRefused, Slow("JSON.ARRLEN old $"));
  EXPECT_EQ("-ERR Bad data format\r\n", Execute({"RESTORE", "k", "0", payload}, Lane::kSlow));
  EXPECT_EQ("$" + std::to_string(zeros.size()) + "\r\n" + zeros + "\r\n", Slow("JSON.GET old"));

  // Neither several arguments together nor several commands get more.
  const std::string part = zeros.substr(0, 2 * 1500) + "]";
  EXPECT_EQ("+OK\r\n", Slow("JSON.SET k $ []"));
  EXPECT_EQ(kRefused, Execute({"JSON.ARRAPPEND", "k", "$", part, part}, Lane::kSlow));
  EXPECT_EQ("*1\r\n:1\r\n", Execute({"JSON.ARRAPPEND", "k", "$", part}, Lane::kSlow));
  EXPECT_EQ(kRefused, Execute({"JSON.ARRAPPEND", "k", "$", part}, Lane::kSlow));
  EXPECT_EQ("*1\r\n:1\r\n", Slow("JSON.ARRLEN k $"));

  // The matches of a path take memory too.
  const std::string path = "$" + Zeros(1000);
  EXPECT_EQ("+OK\r\n", Slow("JSON.SET one $ [1]"));
  EXPECT_EQ(kRefused, Execute({"JSON.TYPE", "one", path}, Lane::kSlow));
  EXPECT_EQ(kRefused, Execute({"JSON.NUMINCRBY", "one", path, "1"}, Lane::kSlow));

  // A replica does as its primary did.
  txn().command().KeepExpired(true);
  EXPECT_EQ("+OK\r\n", Execute({"JSON.SET", "k", "$", zeros}, Lane::kSlow));
  EXPECT_EQ("+OK\r\n", Execute({"RESTORE", "k", "0", payload, "REPLACE"}, Lane::kSlow));
  EXPECT_EQ("*1\r\n:10000\r\n", Slow("JSON.ARRLEN k $"));
  EXPECT_TRUE(Execute({"JSON.NUMINCRBY", "one", path, "1"}, Lane::kSlow).ends_with(",1001]\r\n"));
}

// More draws than one batch, in the order in which they were drawn.
TEST_F(WorkBudget, DrawsOfFieldsComeInBatches) {
  EXPECT_EQ(":3\r\n", Slow("HSET h a 1 b 2 c 3"));
  const std::string reply = Moves(Split("HRANDFIELD h -1100000 WITHVALUES"));
  EXPECT_TRUE(reply.starts_with("*2200000\r\n"));
  constexpr size_t kPairBytes = 14;
  EXPECT_EQ(reply.size(), std::string("*2200000\r\n").size() + 1'100'000 * kPairBytes);
  for (const char* pair : {"$1\r\na\r\n$1\r\n1\r\n", "$1\r\nb\r\n$1\r\n2\r\n", "$1\r\nc\r\n$1\r\n3\r\n"}) {
    EXPECT_NE(reply.find(pair), std::string::npos);
    EXPECT_NE(reply.rfind(pair), reply.find(pair));
  }
}

}  // namespace
}  // namespace cairn
