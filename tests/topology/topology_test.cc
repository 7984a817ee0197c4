// SPDX-License-Identifier: BSD-3-Clause
//
// The topology of a cluster: each slot has one owner whatever happens to its nodes, and the state follows from the
// nodes as Redis computes it.
#include "topology/topology.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace cairn {
namespace {

// The id that consists of this letter.
NodeId Id(char letter) { return *NodeId::Parse(std::string(NodeId::kSize, letter)); }

Node Master(char letter) {
  Node node(Id(letter));
  node.flags.Add(NodeFlags::kMaster);
  return node;
}

// Assigns the slots from `first` to `last`.
void Assign(Topology& topology, int first, int last, char letter) {
  for (int slot = first; slot <= last; ++slot) ASSERT_TRUE(topology.AssignSlot(slot, Id(letter)));
}

// This node is a; a, b and c are masters with all slots, d is a replica of a.
Topology ThreeMasters() {
  Topology topology(Master('a'));
  for (const char letter : {'c', 'b', 'd'}) topology.AddNode(Master(letter));
  Assign(topology, 0, 5000, 'a');
  Assign(topology, 5001, 10000, 'b');
  Assign(topology, 10001, kSlotCount - 1, 'c');
  topology.MakeReplica(Id('d'), Id('a'));
  return topology;
}

std::string Letters(const std::vector<const Node*>& nodes) {
  std::string letters;
  for (const Node* node : nodes) letters += node->id().text()[0];
  return letters;
}

TEST(TopologyTest, NodesAreFoundByIdAndListedInItsOrder) {
  Topology topology = ThreeMasters();
  EXPECT_EQ(Letters(topology.Nodes()), "abcd");
  EXPECT_EQ(topology.node_count(), 4u);
  EXPECT_EQ(topology.Find(Id('b'))->id(), Id('b'));
  EXPECT_EQ(topology.Find(Id('e')), nullptr);
  EXPECT_TRUE(topology.myself().is_myself());
}

TEST(TopologyTest, ASlotHasOneOwner) {
  Topology topology = ThreeMasters();
  EXPECT_FALSE(topology.AssignSlot(0, Id('b')));
  EXPECT_EQ(topology.SlotOwner(0)->id(), Id('a'));
  EXPECT_TRUE(topology.UnassignSlot(0));
  EXPECT_FALSE(topology.UnassignSlot(0));
  EXPECT_EQ(topology.SlotOwner(0), nullptr);
  EXPECT_TRUE(topology.AssignSlot(0, Id('b')));
  EXPECT_EQ(topology.Find(Id('a'))->slots().Ranges(), (std::vector<SlotRange>{{1, 5000}}));
  EXPECT_EQ(topology.Find(Id('b'))->slots().Ranges(), (std::vector<SlotRange>{{0, 0}, {5001, 10000}}));
}

TEST(TopologyTest, ARemovedNodeLeavesNothingBehind) {
  Topology topology = ThreeMasters();
  topology.MakeReplica(Id('d'), Id('b'));
  topology.SetMigrating(1, Id('b'));
  topology.SetImporting(10001, Id('c'));
  topology.SetImporting(6000, Id('b'));
  topology.RemoveNode(*topology.Find(Id('d'))->master());  // an id that is a field of a node that changes
  EXPECT_EQ(Letters(topology.Nodes()), "acd");
  EXPECT_EQ(topology.SlotOwner(6000), nullptr);
  EXPECT_EQ(topology.OpenSlots(), std::vector<int>{10001});
  EXPECT_FALSE(topology.Find(Id('d'))->master());
  EXPECT_FALSE(topology.CoversAllSlots());
  // Its place is used again, without its slots.
  topology.AddNode(Master('e'));
  EXPECT_TRUE(topology.Find(Id('e'))->slots().empty());
  EXPECT_EQ(topology.SlotOwner(0)->id(), Id('a'));
}

TEST(TopologyTest, ARenamedNodeKeepsItsSlotsAndReplicas) {
  Topology topology = ThreeMasters();
  topology.SetMigrating(1, Id('b'));
  topology.MakeReplica(Id('d'), Id('b'));
  topology.RenameNode(Id('b'), Id('x'));
  EXPECT_EQ(topology.Find(Id('b')), nullptr);
  EXPECT_EQ(topology.SlotOwner(5001)->id(), Id('x'));
  EXPECT_EQ(topology.MigratingTo(1)->id(), Id('x'));
  EXPECT_EQ(Letters(topology.ReplicasOf(Id('x'))), "d");
  topology.RenameNode(Id('a'), Id('m'));
  EXPECT_EQ(topology.myself().id(), Id('m'));
}

TEST(TopologyTest, ACopyIsIndependent) {
  Topology topology = ThreeMasters();
  const Topology copy = topology;
  topology.Find(Id('b'))->ip = "10.0.0.1";
  topology.UnassignSlots(Id('b'));
  EXPECT_EQ(copy.SlotOwner(5001)->id(), Id('b'));
  EXPECT_EQ(copy.SlotOwner(5001)->ip, "");
  EXPECT_TRUE(copy.CoversAllSlots());
}

TEST(TopologyTest, AReplicaHasNoSlotsAndNoOpenSlots) {
  Topology topology = ThreeMasters();
  EXPECT_EQ(topology.MasterOf(*topology.Find(Id('d')))->id(), Id('a'));
  topology.SetMigrating(7, Id('b'));
  topology.SetImporting(6000, Id('b'));
  topology.MakeReplica(Id('b'), Id('c'));
  EXPECT_EQ(topology.OpenSlots(), (std::vector<int>{7, 6000}));  // another node's change does not end them
  topology.MakeReplica(Id('a'), std::nullopt);
  EXPECT_TRUE(topology.myself().is_replica());
  EXPECT_FALSE(topology.myself().is_master());
  EXPECT_EQ(topology.SlotOwner(0), nullptr);
  EXPECT_TRUE(topology.OpenSlots().empty());
  EXPECT_EQ(topology.MasterOf(topology.myself()), nullptr);
  topology.MakeMaster(Id('b'));
  EXPECT_TRUE(topology.Find(Id('b'))->is_master());
  EXPECT_EQ(topology.MasterOf(*topology.Find(Id('b'))), nullptr);
}

TEST(TopologyTest, OpenSlotsAreSetAndEnded) {
  Topology topology = ThreeMasters();
  topology.SetMigrating(3, Id('b'));
  topology.SetImporting(6000, Id('c'));
  EXPECT_EQ(topology.MigratingTo(3)->id(), Id('b'));
  EXPECT_EQ(topology.ImportingFrom(6000)->id(), Id('c'));
  EXPECT_EQ(topology.ImportingFrom(3), nullptr);
  topology.SetMigrating(3, std::nullopt);
  EXPECT_EQ(topology.OpenSlots(), std::vector<int>{6000});
  topology.CloseSlots();
  EXPECT_EQ(topology.ImportingFrom(6000), nullptr);
}

TEST(TopologyTest, AReplicaCountsWithItsMastersEpoch) {
  Topology topology = ThreeMasters();
  topology.Find(Id('a'))->config_epoch = 7;
  topology.Find(Id('d'))->config_epoch = 2;
  EXPECT_EQ(topology.ConfigEpoch(*topology.Find(Id('d'))), 7u);
  EXPECT_EQ(topology.MaxEpoch(), 7u);
  topology.current_epoch = 9;
  EXPECT_EQ(topology.MaxEpoch(), 9u);
}

TEST(TopologyTest, FullCoverageNeedsEverySlotOnANodeThatHasNotFailed) {
  Topology topology = ThreeMasters();
  EXPECT_EQ(topology.ComputeState(true), ClusterState::kOk);
  topology.Find(Id('b'))->flags.Add(NodeFlags::kPossiblyFailing);
  EXPECT_EQ(topology.ComputeState(true), ClusterState::kOk);  // two of three are reachable
  topology.Find(Id('b'))->flags.Add(NodeFlags::kFailed);
  EXPECT_EQ(topology.ComputeState(true), ClusterState::kFail);
  EXPECT_EQ(topology.ComputeState(false), ClusterState::kOk);
  topology.Find(Id('b'))->flags.Remove(NodeFlags::kFailed | NodeFlags::kPossiblyFailing);
  topology.UnassignSlot(9000);
  EXPECT_EQ(topology.ComputeState(true), ClusterState::kFail);
  EXPECT_EQ(topology.ComputeState(false), ClusterState::kOk);
}

TEST(TopologyTest, AMinorityFails) {
  Topology topology = ThreeMasters();
  topology.Find(Id('b'))->flags.Add(NodeFlags::kPossiblyFailing);
  topology.Find(Id('c'))->flags.Add(NodeFlags::kPossiblyFailing);
  EXPECT_EQ(topology.Size(), 3);
  EXPECT_EQ(topology.ComputeState(false), ClusterState::kFail);
  topology.UnassignSlots(Id('c'));  // a master without slots has no vote
  topology.Find(Id('b'))->flags.Remove(NodeFlags::kPossiblyFailing);
  EXPECT_EQ(topology.Size(), 2);
  EXPECT_EQ(topology.ComputeState(false), ClusterState::kOk);
}

TEST(TopologyTest, ANewClusterHasFailedAsInRedis) {
  const Topology topology(Master('a'));
  EXPECT_EQ(topology.Size(), 0);
  EXPECT_EQ(topology.ComputeState(false), ClusterState::kFail);
}

TEST(TopologyTest, SlotsAreCountedByTheStateOfTheirOwners) {
  Topology topology = ThreeMasters();
  topology.Find(Id('b'))->flags.Add(NodeFlags::kPossiblyFailing);
  topology.Find(Id('c'))->flags.Add(NodeFlags::kFailed);
  topology.UnassignSlot(0);
  const SlotCounts counts = topology.CountSlots();
  EXPECT_EQ(counts.assigned, kSlotCount - 1);
  EXPECT_EQ(counts.ok, 5000);
  EXPECT_EQ(counts.pfail, 5000);
  EXPECT_EQ(counts.fail, kSlotCount - 10001);
}

TEST(TopologyTest, ShardsAreMastersWithTheirReplicas) {
  Topology topology = ThreeMasters();
  const std::vector<Shard> shards = topology.Shards();
  ASSERT_EQ(shards.size(), 3u);
  EXPECT_EQ(Letters(shards[0].nodes), "ad");
  EXPECT_EQ(shards[0].master->id(), Id('a'));
  EXPECT_EQ(Letters(shards[1].nodes), "b");
}

TEST(TopologyTest, AMasterThatLostAFailoverStaysInItsShard) {
  Topology topology = ThreeMasters();
  for (const char letter : {'a', 'd'}) topology.Find(Id(letter))->shard_id = Id('s');
  topology.UnassignSlots(Id('a'));
  topology.MakeMaster(Id('d'));
  Assign(topology, 0, 5000, 'd');
  const std::vector<Shard> shards = topology.Shards();
  ASSERT_EQ(shards.size(), 3u);
  EXPECT_EQ(Letters(shards[0].nodes), "ad");
  EXPECT_EQ(shards[0].master->id(), Id('d'));
}

TEST(TopologyTest, ANewStartForgetsOldTimes) {
  Topology topology = ThreeMasters();
  Node& node = *topology.Find(Id('b'));
  node.is_connected = true;
  node.pong_received_ms = 5;
  node.flags.Add(NodeFlags::kFailed);
  topology.ResetLinks(1000);
  EXPECT_FALSE(node.is_connected);
  EXPECT_EQ(node.ping_sent_ms, 0);
  EXPECT_EQ(node.pong_received_ms, 1000);
  EXPECT_EQ(node.fail_time_ms, 1000);
}

}  // namespace
}  // namespace cairn
