// SPDX-License-Identifier: BSD-3-Clause
//
// nodes.conf: the files in tests/topology/golden/ were written by redis-server 7.0.15 and 7.2.4. They are read, and
// written again with the same lines; damaged ones are refused with the number of the line. The .txt files there are
// replies of CLUSTER NODES.
#include "topology/nodes_conf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "fuzz/damage.h"
#include "topology/node_line.h"

namespace cairn {
namespace {

const std::filesystem::path kGolden = CAIRN_SOURCE_DIR "/tests/topology/golden";

constexpr char kMe[] = "1111111111111111111111111111111111111111";
constexpr char kOther[] = "2222222222222222222222222222222222222222";
constexpr char kThird[] = "3333333333333333333333333333333333333333";
constexpr char kVars[] = "vars currentEpoch 5 lastVoteEpoch 4\n";

std::string Read(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(kGolden / name, std::ios::binary).rdbuf();
  return text.str();
}

// The names of the golden files that start with `start`.
std::vector<std::string> Names(const std::string& start) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kGolden)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(start) && name.ends_with(".conf")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The lines, sorted: Redis writes the nodes in the order of its hash table.
std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

Topology Parse(const std::string& text) {
  Result<Topology> topology = ParseNodesConf(text);
  EXPECT_TRUE(topology.ok()) << topology.status().text();
  return topology.ok() ? std::move(*topology) : Topology(Node(NodeId()));
}

// The line of a node with these fields behind its id, and a correct line of vars.
std::string File(const std::string& fields) { return std::string(kMe) + ' ' + fields + '\n' + kVars; }

std::string ErrorOf(const std::string& text) {
  const Result<Topology> topology = ParseNodesConf(text);
  return topology.ok() ? "accepted" : std::string(topology.status().text());
}

const Node& NodeAtPort(const Topology& topology, uint16_t port) {
  for (const Node* node : topology.Nodes()) {
    if (node->port == port) return *node;
  }
  ADD_FAILURE() << "no node at port " << port;
  return topology.myself();
}

TEST(NodesConfTest, FilesOfRedis72AreWrittenAsTheyWereRead) {
  const std::vector<std::string> names = Names("redis-7.2");
  ASSERT_EQ(names.size(), 4u);
  for (const std::string& name : names) {
    EXPECT_EQ(Lines(WriteNodesConf(Parse(Read(name)))), Lines(Read(name))) << name;
  }
}

// A line of Redis 7.0's file is a line of CLUSTER NODES.
TEST(NodesConfTest, FilesOfRedis70AreReadCompletely) {
  const std::vector<std::string> names = Names("redis-7.0");
  ASSERT_EQ(names.size(), 6u);
  for (const std::string& name : names) {
    const Topology topology = Parse(Read(name));
    std::string lines = NodeLines(topology, NodeLineReader::kPlainClient);
    lines += "vars currentEpoch " + std::to_string(topology.current_epoch) + " lastVoteEpoch " +
             std::to_string(topology.last_vote_epoch) + '\n';
    EXPECT_EQ(Lines(lines), Lines(Read(name))) << name;
    EXPECT_EQ(NodeLines(Parse(WriteNodesConf(topology)), NodeLineReader::kPlainClient),
              NodeLines(topology, NodeLineReader::kPlainClient))
        << name;
  }
}

TEST(NodesConfTest, ClientsSeeNoFieldsThatAreForTheFileOnly) {
  const Topology topology = Parse(Read("redis-7.2-migrating.conf"));
  EXPECT_EQ(Lines(NodeLines(topology, NodeLineReader::kPlainClient)), Lines(Read("redis-7.2-migrating.txt")));
}

TEST(NodesConfTest, HandshakesAreShownButNotSaved) {
  const std::string shown = Read("redis-7.0-handshake.txt");
  const Topology topology = Parse(shown + "vars currentEpoch 0 lastVoteEpoch 0\n");
  EXPECT_EQ(Lines(NodeLines(topology, NodeLineReader::kPlainClient)), Lines(shown));
  EXPECT_EQ(Parse(WriteNodesConf(topology)).node_count(), 1u);
}

TEST(NodesConfTest, FieldsHaveTheirMeaning) {
  const Topology topology = Parse(Read("redis-7.2-migrating.conf"));
  EXPECT_EQ(topology.node_count(), 5u);
  EXPECT_EQ(topology.current_epoch, 4u);
  EXPECT_EQ(topology.last_vote_epoch, 0u);
  EXPECT_TRUE(topology.CoversAllSlots());
  EXPECT_EQ(topology.Size(), 3);
  const Node& myself = topology.myself();
  EXPECT_EQ(myself.port, 24002);
  EXPECT_EQ(myself.cport, 26002);
  EXPECT_EQ(myself.slots().Ranges(), (std::vector<SlotRange>{{5460, 10921}, {10923, 10923}, {16383, 16383}}));
  EXPECT_EQ(topology.OpenSlots(), (std::vector<int>{300, 6000, 16383}));
  EXPECT_EQ(topology.ImportingFrom(300)->port, 24001);
  EXPECT_EQ(topology.MigratingTo(6000)->port, 24003);
  const Node& master = NodeAtPort(topology, 24001);
  const Node& replica = NodeAtPort(topology, 24004);
  EXPECT_EQ(master.ip, "127.0.0.1");
  EXPECT_EQ(master.hostname, "node-0.example.com");
  EXPECT_EQ(master.human_name, "first-node");
  EXPECT_EQ(master.config_epoch, 1u);
  EXPECT_EQ(master.shard_id, replica.shard_id);
  EXPECT_TRUE(master.is_connected);
  EXPECT_EQ(topology.MasterOf(replica), &master);
  EXPECT_EQ(replica.config_epoch, 0u);
  EXPECT_EQ(topology.ConfigEpoch(replica), 1u);
  EXPECT_EQ(replica.pong_received_ms, 1795757446000);
  EXPECT_TRUE(NodeAtPort(topology, 24005).flags.Has(NodeFlags::kNoFailover));
}

TEST(NodesConfTest, FailuresAreRead) {
  const Topology failed = Parse(Read("redis-7.0-failed.conf"));
  EXPECT_TRUE(NodeAtPort(failed, 24004).flags.Has(NodeFlags::kFailed));
  const Topology possibly = Parse(Read("redis-7.0-possibly-failing.conf"));
  EXPECT_TRUE(NodeAtPort(possibly, 24004).flags.Has(NodeFlags::kPossiblyFailing));
  EXPECT_EQ(possibly.CountSlots().pfail, 5459);
  const Topology without = Parse(Read("redis-7.0-no-address.conf"));
  EXPECT_TRUE(NodeAtPort(without, 0).flags.Has(NodeFlags::kNoAddress));
  EXPECT_EQ(NodeAtPort(without, 0).ip, "");
}

TEST(NodesConfTest, PortsOfOldAndTlsClusters) {
  const std::string old = File("10.0.0.1:7000 myself,master - 0 0 1 connected");
  EXPECT_EQ(Parse(old).myself().port, 7000);
  EXPECT_EQ(Parse(old).myself().cport, 17000);
  const Result<Topology> tls = ParseNodesConf(old, NodesConfPort::kTls);
  ASSERT_TRUE(tls.ok());
  EXPECT_EQ(tls->myself().port, 0);
  EXPECT_EQ(tls->myself().tls_port, 7000);
  const Topology both = Parse(File("::1:7000@17000,,tls-port=7100 myself,master - 0 0 1 connected"));
  EXPECT_EQ(both.myself().ip, "::1");
  EXPECT_EQ(both.myself().port, 7000);
  EXPECT_EQ(both.myself().tls_port, 7100);
  EXPECT_EQ(NodeLines(both, NodeLineReader::kTlsClient),
            std::string(kMe) + " ::1:7100@17000 myself,master - 0 0 1 connected\n");
  const Topology primary_tls = Parse(File("10.0.0.1:7100@17100,,tcp-port=7000 myself,master - 0 0 1 connected"));
  EXPECT_EQ(primary_tls.myself().port, 7000);
  EXPECT_EQ(primary_tls.myself().tls_port, 7100);
}

TEST(NodesConfTest, ANodeWithoutALineIsAddedAsInRedis) {
  const Topology topology =
      Parse(File(std::string("a:1@2 myself,slave ") + kOther + " 0 0 1 connected [7->-" + kThird + ']'));
  EXPECT_EQ(topology.node_count(), 3u);
  EXPECT_EQ(topology.MasterOf(topology.myself())->id().text(), kOther);
  EXPECT_EQ(topology.MigratingTo(7)->id().text(), kThird);
  EXPECT_EQ(FlagNames(topology.MigratingTo(7)->flags), "noflags");
}

// Redis saves the lines of a master and its replica at different times.
TEST(NodesConfTest, AReplicaFollowsItsMastersShard) {
  const std::string shard = ",,shard-id=";
  const Topology topology = Parse(std::string(kOther) + " a:1@2" + shard + kOther + " master - 0 0 1 connected\n" +
                                  File("a:3@4" + shard + kThird + " myself,slave " + kOther + " 0 0 1 connected"));
  EXPECT_EQ(topology.myself().shard_id->text(), kOther);
}

TEST(NodesConfTest, TheCurrentEpochIsAtLeastThatOfEveryNode) {
  EXPECT_EQ(Parse(File("a:1@2 myself,master - 0 0 9 connected")).current_epoch, 9u);
}

TEST(NodesConfTest, EmptyLinesAndUnknownVariablesAreSkipped) {
  const Topology topology = Parse(std::string(kMe) + " a:1@2 MYSELF,master - 0 0 1 connected\n\n" +
                                  "VARS currentepoch 6 later 1 lastVoteEpoch 2\n\n\n");
  EXPECT_EQ(topology.current_epoch, 6u);
  EXPECT_EQ(topology.last_vote_epoch, 2u);
}

// Else a node would take part in elections again after a restart, against its controller.
TEST(NodesConfTest, AControllerIsNoted) {
  Topology topology = Parse(File("a:1@2 myself,master - 0 0 1 connected"));
  EXPECT_FALSE(topology.is_controlled);
  topology.is_controlled = true;
  EXPECT_TRUE(Parse(WriteNodesConf(topology)).is_controlled);
}

TEST(NodesConfTest, DamageIsRefusedWithItsLine) {
  const std::string good = "a:1@2 myself,master - 0 0 1 connected";
  ASSERT_EQ(ErrorOf(File(good)), "accepted");
  const std::string me = std::string(kMe) + ' ' + good + '\n';
  const std::string other = std::string(kOther) + " a:3@4 master - 0 0 1 connected";
  const std::pair<std::string, std::string> cases[] = {
      {me, "line 1: the file ends without a line of vars"},
      {kVars, "line 1: the file ends without a node with the flag myself"},
      {me + kVars + kVars, "line 3: a second line of vars"},
      {me + "vars currentEpoch 5\n", "line 2: no currentEpoch or no lastVoteEpoch"},
      {me + "vars currentEpoch 5 lastVoteEpoch\n", "line 2: a variable without a value"},
      {me + "vars currentEpoch 5 lastVoteEpoch 1", "line 2: the line has no end"},
      {me + "vars currentEpoch x lastVoteEpoch 1\n",
       "line 2: the currentEpoch is not a number up to 18446744073709551615: x"},
      {me + me + kVars, "line 2: a second line of the same node"},
      {me + std::string(kOther) + ' ' + good + '\n' + kVars, "line 2: a second node with the flag myself"},
      {me + other + " 7\n" + kVars, "accepted"},
      {me + other + " [7->-" + kMe + "]\n" + kVars, "line 2: open slots of a node without the flag myself"},
      {File(good + " 7") + other + " 3-8\n", "line 3: slot 7 has an owner already"},
      {"x" + File(good), "line 1: the id is not 40 hex digits: x1111111111111111111111111111111111111111"},
      {File("a:1@2 myself,master - 0 0 1"), "line 1: 7 fields, a node has at least 8"},
      {File("\"a:1@2 myself,master - 0 0 1 connected"), "line 1: unbalanced quotes"},
      {File("a myself,master - 0 0 1 connected"), "line 1: no port in the address: a"},
      {File("a*:1@2 myself,master - 0 0 1 connected"), "line 1: no IP address: a*"},
      {File("a:65536@2 myself,master - 0 0 1 connected"), "line 1: the port is not a number up to 65535: 65536"},
      {File("a:1@x myself,master - 0 0 1 connected"), "line 1: the bus port is not a number up to 65535: x"},
      {File("a:60000 myself,master - 0 0 1 connected"), "line 1: the bus port is not a number up to 65535: 70000"},
      {File("a:1@2,h_ myself,master - 0 0 1 connected"), "line 1: no hostname: h_"},
      {File("a:1@2,,zone=1 myself,master - 0 0 1 connected"), "line 1: an unknown field of the address: zone=1"},
      {File("a:1@2,,shard-id=1 myself,master - 0 0 1 connected"), "line 1: the shard id is not 40 hex digits: 1"},
      {File("a:1@2 myself,primary - 0 0 1 connected"), "line 1: an unknown flag primary"},
      {File("a:1@2 myself,slave x 0 0 1 connected"), "line 1: the master is not 40 hex digits: x"},
      {File(std::string("a:1@2 myself,slave ") + kMe + " 0 0 1 connected"), "line 1: a node is its own master"},
      {File(std::string("a:1@2 myself,master ") + kOther + " 0 0 1 connected"),
       "line 1: a node without the flag slave has a master"},
      {File("a:1@2 myself,master - -1 0 1 connected"),
       "line 1: the time of the ping is not a number up to 9223372036854775807: -1"},
      {File("a:1@2 myself,master - 0 0 1 up"), "line 1: an unknown state of the link: up"},
      {File(good + " 16384"), "line 1: the slot is not a number up to 16383: 16384"},
      {File(good + " 7-"), "line 1: the slot is not a number up to 16383: \"\""},
      {File(good + " 8-7"), "line 1: a range of slots that ends before it starts: 8-7"},
      {File(good + " ["), "line 1: no open slot: ["},
      {File(good + " [7->-]"), "line 1: the peer of an open slot is not 40 hex digits: \"\""},
      {File(good + " [7=>-" + kOther + "]"), std::string("line 1: no open slot: [7=>-") + kOther + "]"},
      {File(good) + std::string("\n\0\n", 3), "line 4: a zero byte"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(ErrorOf(text), error) << text;
}

// Every prefix of a file is refused, so a file that was cut never starts a node with a part of its topology.
TEST(NodesConfTest, ACutFileIsRefused) {
  const std::string text = Read("redis-7.2-migrating.conf");
  for (size_t size = 0; size < text.size(); ++size) EXPECT_NE(ErrorOf(text.substr(0, size)), "accepted") << size;
}

TEST(NodesConfTest, RandomDamageIsRefusedOrReadAsItIsWritten) {
  std::vector<std::string> corpus;
  for (const std::string& name : Names("redis-")) corpus.push_back(Read(name));
  Random random(20261127);
  Damage damage(random, corpus);
  for (int round = 0; round < 3000; ++round) {
    std::string text = corpus[random.Below(corpus.size())];
    for (uint64_t left = 1 + random.Below(3); left > 0; --left) damage.Apply(text);
    const Result<Topology> topology = ParseNodesConf(text);
    if (!topology.ok()) {
      EXPECT_TRUE(topology.status().text().starts_with("line ")) << topology.status().text();
      continue;
    }
    const std::string written = WriteNodesConf(*topology);
    EXPECT_EQ(WriteNodesConf(Parse(written)), written);
  }
}

class NodesConfFileTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() / "cairn-test-nodes-conf";
  const std::filesystem::path path_ = folder_ / "nodes.conf";
};

TEST_F(NodesConfFileTest, ASavedFileIsLoaded) {
  const Topology topology = Parse(Read("redis-7.2-migrating.conf"));
  ASSERT_TRUE(SaveNodesConf(path_, WriteNodesConf(topology)).ok());
  const Result<std::optional<Topology>> loaded = LoadNodesConf(path_);
  ASSERT_TRUE(loaded.ok() && loaded->has_value());
  EXPECT_EQ(WriteNodesConf(**loaded), WriteNodesConf(topology));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);  // no temporary file is left
}

TEST_F(NodesConfFileTest, AMissingOrEmptyFileIsANewNode) {
  Result<std::optional<Topology>> loaded = LoadNodesConf(path_);
  EXPECT_TRUE(loaded.ok() && !loaded->has_value());
  std::ofstream(path_).close();
  loaded = LoadNodesConf(path_);
  EXPECT_TRUE(loaded.ok() && !loaded->has_value());
}

TEST_F(NodesConfFileTest, ErrorsNameTheFile) {
  std::ofstream(path_) << "damaged\n";
  const Result<std::optional<Topology>> damaged = LoadNodesConf(path_);
  EXPECT_TRUE(damaged.status().Is(Code::kCorruption));
  EXPECT_EQ(damaged.status().text(), path_.string() + ", line 1: 1 fields, a node has at least 8");
  EXPECT_TRUE(LoadNodesConf(folder_).status().Is(Code::kIo));
  const Status status = SaveNodesConf(folder_ / "missing" / "nodes.conf", "");
  EXPECT_TRUE(status.Is(Code::kIo));
  EXPECT_TRUE(status.text().starts_with((folder_ / "missing" / "nodes.conf").string() + ": "));
}

}  // namespace
}  // namespace cairn
