// SPDX-License-Identifier: BSD-3-Clause
//
// Several nodes of the cluster bus against each other, in memory (tests/cluster/simulated_cluster.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "simulated_cluster.h"

namespace cairn {
namespace {

constexpr int64_t kMinute = 60000;
constexpr int64_t kTimeout = SimulatedCluster::kTimeoutMs;

// Three masters with a third of the slots each, then `replicas` replicas of each in turn.
std::unique_ptr<SimulatedCluster> MakeCluster(int replicas, uint64_t seed, uint64_t loss_percent = 0) {
  auto cluster = std::make_unique<SimulatedCluster>(3 + 3 * replicas, seed);
  for (int i = 1; i < cluster->size(); ++i) cluster->Meet(0, i);
  const auto count = static_cast<size_t>(cluster->size());
  EXPECT_TRUE(cluster->RunUntil(kMinute, [&] { return cluster->AllKnow(count); }));
  cluster->GiveSlots(0, 0, 5460);
  cluster->GiveSlots(1, 5461, 10922);
  cluster->GiveSlots(2, 10923, 16383);
  for (int i = 3; i < cluster->size(); ++i) cluster->Replicate(i, i % 3);
  cluster->SetLoss(loss_percent);
  EXPECT_TRUE(cluster->RunUntil(kMinute, [&] {
    return cluster->AllSee(0, 0) && cluster->AllSee(5461, 1) && cluster->AllSee(16383, 2) &&
           cluster->AllAre(ClusterState::kOk);
  }));
  cluster->Run(2 * kTimeout);
  return cluster;
}

// Gives a slot to the node in its own view.
void AssignToMyself(Topology& topology, int slot) {
  topology.UnassignSlot(slot);
  topology.AssignSlot(slot, topology.myself().id());
}

// As SETSLOT NODE at the end of an import: the node takes the slot with an epoch above all others.
void TakeSlot(SimulatedCluster& cluster, int i, int slot) {
  cluster.ChangeTopology(i, [&](Topology& topology) {
    AssignToMyself(topology, slot);
    topology.current_epoch = topology.MaxEpoch() + 1;
    topology.Find(topology.myself().id())->config_epoch = topology.current_epoch;
  });
}

bool HasFlag(SimulatedCluster& cluster, int seen_by, int node, NodeFlags::Flag flag) {
  return cluster.topology(seen_by).Find(cluster.id(node))->flags.Has(flag);
}

// Gossip makes all nodes known to all: each was met by the first only.
TEST(BusProtocol, NodesFindEachOther) {
  const auto cluster = MakeCluster(2, 1);
  for (int i = 0; i < cluster->size(); ++i) {
    EXPECT_EQ(cluster->topology(i).Size(), 3);
    EXPECT_EQ(cluster->topology(i).ReplicasOf(cluster->id(0)).size(), 2U);
    EXPECT_EQ(cluster->topology(i).myself().ip, "10.0.0." + std::to_string(i + 1));
  }
}

// A client with TLS is redirected to the port for TLS, another to the other one, whichever of the two the bus uses
// (tls-cluster). MEET names the one of the bus; gossip and headers bring the other.
TEST(BusProtocol, PortsOfBothKindsOfClientsAreKnown) {
  for (const bool uses_tls : {false, true}) {
    SimulatedCluster cluster(3, 1);
    for (int i = 0; i < cluster.size(); ++i) {
      Node& me = *cluster.topology(i).Find(cluster.id(i));
      me.port = uses_tls ? 7100 : 7000;
      me.tls_port = uses_tls ? 7000 : 7100;
      cluster.settings(i).uses_tls = uses_tls;
    }
    cluster.Meet(0, 1);
    cluster.Meet(0, 2);
    const auto knows = [&](int i, int other) {
      const Node* const node = cluster.topology(i).Find(cluster.id(other));
      const Node& own = cluster.topology(other).myself();
      return node != nullptr && node->port == own.port && node->tls_port == own.tls_port;
    };
    EXPECT_TRUE(cluster.RunUntil(
        kMinute,
        [&] { return knows(0, 1) && knows(0, 2) && knows(1, 0) && knows(1, 2) && knows(2, 0) && knows(2, 1); }))
        << "uses_tls: " << uses_tls;
  }
}

// Slots need epochs that differ: conflicts between claims could not be settled else.
TEST(BusProtocol, MastersGetDifferentEpochs) {
  const auto cluster = MakeCluster(0, 2);
  const auto epoch = [&](int i) { return cluster->topology(i).myself().config_epoch; };
  EXPECT_TRUE(
      cluster->RunUntil(kMinute, [&] { return epoch(0) != epoch(1) && epoch(1) != epoch(2) && epoch(0) != epoch(2); }));
}

// A handshake with an address where nobody answers ends.
TEST(BusProtocol, AMeetWithoutAnAnswerIsGivenUp) {
  SimulatedCluster cluster(2, 3);
  cluster.Stop(1);
  cluster.Meet(0, 1);
  EXPECT_EQ(cluster.topology(0).node_count(), 2U);
  cluster.Run(2 * kTimeout);
  EXPECT_EQ(cluster.topology(0).node_count(), 1U);
}

// A replica is elected, with the votes of the other masters, and the old master follows it when it returns.
TEST(BusProtocol, AReplicaReplacesAFailedMaster) {
  const auto cluster = MakeCluster(1, 4);
  cluster->Stop(0);
  EXPECT_TRUE(cluster->RunUntil(2 * kTimeout, [&] { return HasFlag(*cluster, 1, 0, NodeFlags::kPossiblyFailing); }));
  EXPECT_TRUE(cluster->RunUntil(kMinute, [&] { return cluster->AllSee(0, 3); }));
  EXPECT_TRUE(cluster->topology(3).myself().is_master());
  EXPECT_TRUE(cluster->RunUntil(kMinute, [&] { return cluster->AllAre(ClusterState::kOk); }));
  cluster->Continue(0);
  EXPECT_TRUE(cluster->RunUntil(
      kMinute, [&] { return cluster->topology(0).myself().master() == cluster->id(3) && cluster->AllSee(0, 3); }));
}

// A connection that its sender has closed may deliver a message after those of the next connection. The old master must
// not take the new one for its replica again: it would never replace it.
TEST(BusProtocol, AnOlderMessageDoesNotUndoAFailover) {
  const auto cluster = MakeCluster(1, 5);
  cluster->KeepPings();
  cluster->Run(kTimeout);
  const std::string as_replica = cluster->LastPing(3, 0);
  cluster->Failover(3, BusProtocol::FailoverKind::kTakeover);
  const auto has_followed = [&] {
    const Node* const seen = cluster->topology(0).Find(cluster->id(3));
    return cluster->topology(0).myself().master() == cluster->id(3) && seen->is_master();
  };
  ASSERT_TRUE(cluster->RunUntil(kMinute, has_followed));
  cluster->Run(2 * kTimeout);
  cluster->Replay(3, 0, as_replica);
  EXPECT_TRUE(has_followed());
  cluster->Stop(3);
  EXPECT_TRUE(cluster->RunUntil(kMinute, [&] { return cluster->AllSee(0, 0); }));
}

// The one with the most data is elected: less is lost.
TEST(BusProtocol, TheReplicaWithTheMostDataIsElected) {
  for (uint64_t seed = 10; seed < 15; ++seed) {
    const auto cluster = MakeCluster(3, seed);
    cluster->SetOffset(3, 100);
    cluster->SetOffset(6, 300);
    cluster->SetOffset(9, 200);
    cluster->Run(2 * kTimeout);
    cluster->Stop(0);
    EXPECT_TRUE(cluster->RunUntil(kMinute, [&] { return cluster->AllSee(0, 6); })) << seed;
  }
}

// Whatever is lost on the way, there is one owner in the end, and epochs never collide.
TEST(BusProtocol, FailoversSurviveBrokenLinks) {
  for (uint64_t seed = 20; seed < 26; ++seed) {
    const auto cluster = MakeCluster(2, seed, 5);
    cluster->Stop(1);
    EXPECT_TRUE(cluster->RunUntil(3 * kMinute, [&] { return cluster->AllSee(5461, 4) || cluster->AllSee(5461, 7); }))
        << seed;
    cluster->Continue(1);
    EXPECT_TRUE(cluster->RunUntil(3 * kMinute, [&] { return cluster->topology(1).myself().is_replica(); })) << seed;
  }
}

// Two nodes of a majority do not reach the third: it must stop serving, because it may be replaced.
TEST(BusProtocol, AMinorityGoesDown) {
  const auto cluster = MakeCluster(0, 30);
  cluster->Stop(1);
  cluster->Stop(2);
  EXPECT_TRUE(cluster->RunUntil(3 * kTimeout, [&] { return cluster->state(0) == ClusterState::kFail; }));
  cluster->Continue(1);
  cluster->Continue(2);
  EXPECT_TRUE(cluster->RunUntil(kMinute, [&] { return cluster->AllAre(ClusterState::kOk); }));
}

// Without most masters nobody is elected: two sides could else both have a master.
TEST(BusProtocol, AMinorityElectsNobody) {
  const auto cluster = MakeCluster(1, 31);
  cluster->Stop(0);
  cluster->Stop(1);
  cluster->Run(kMinute);
  EXPECT_TRUE(cluster->topology(3).myself().is_replica());
  EXPECT_TRUE(cluster->topology(4).myself().is_replica());
}

// Directive cluster-replica-no-failover.
TEST(BusProtocol, AReplicaThatMayNotFailOverStaysOne) {
  const auto cluster = MakeCluster(1, 32);
  cluster->settings(3).never_fails_over = true;
  cluster->Run(kTimeout * 2);
  EXPECT_TRUE(HasFlag(*cluster, 1, 3, NodeFlags::kNoFailover));
  cluster->Stop(0);
  cluster->Run(kMinute);
  EXPECT_TRUE(cluster->topology(3).myself().is_replica());
}

// The master pauses, the replica waits for its offset, and both exchange their roles.
TEST(BusProtocol, AManualFailoverWaitsForTheOffset) {
  const auto cluster = MakeCluster(1, 40);
  cluster->SetOffset(0, 500);
  cluster->SetOffset(3, 400);
  cluster->Failover(3, BusProtocol::FailoverKind::kNormal);
  cluster->Run(1000);
  EXPECT_GT(cluster->pause_until_ms(0), cluster->now_ms());
  EXPECT_TRUE(cluster->topology(3).myself().is_replica());
  cluster->SetOffset(3, 500);
  EXPECT_TRUE(cluster->RunUntil(3000, [&] { return cluster->AllSee(0, 3); }));
  EXPECT_TRUE(cluster->topology(0).myself().is_replica());
  EXPECT_EQ(cluster->pause_until_ms(0), 0);
}

// A master that cannot read the end of its log for a moment knows only an old offset. A replica that had everything up
// to that offset would be elected without the last writes.
TEST(BusProtocol, AManualFailoverWaitsForAnExactOffset) {
  const auto cluster = MakeCluster(1, 42);
  cluster->SetOffset(0, 400, false);
  cluster->SetOffset(3, 400);
  cluster->Failover(3, BusProtocol::FailoverKind::kNormal);
  cluster->Run(1000);
  cluster->SetOffset(0, 500);
  cluster->Run(1000);
  EXPECT_TRUE(cluster->topology(3).myself().is_replica());
  cluster->SetOffset(3, 500);
  EXPECT_TRUE(cluster->RunUntil(3000, [&] { return cluster->AllSee(0, 3); }));
}

// Nodes that heard of the old master's new role before the new master's claim found the slots without an owner, and
// refused commands until the claim came. (The old master may still go down for a moment, by a message that the new one
// sent before its election and that arrives after it on another link.)
TEST(BusProtocol, NoOtherNodeGoesDownDuringAManualFailover) {
  for (uint64_t seed = 60; seed < 80; ++seed) {
    const auto cluster = MakeCluster(1, seed);
    cluster->Failover(3, BusProtocol::FailoverKind::kNormal);
    const auto is_down = [&] {
      return std::ranges::any_of(std::array{1, 2, 4, 5}, [&](int i) { return cluster->state(i) != ClusterState::kOk; });
    };
    EXPECT_FALSE(cluster->RunUntil(3000, is_down)) << "seed " << seed;
    EXPECT_TRUE(cluster->AllSee(0, 3)) << "seed " << seed;
  }
}

// A manual failover that does not finish is given up, and clients go on.
TEST(BusProtocol, AManualFailoverTimesOut) {
  const auto cluster = MakeCluster(1, 41);
  cluster->SetOffset(0, 500);
  cluster->Failover(3, BusProtocol::FailoverKind::kNormal);
  cluster->Run(6000);
  EXPECT_EQ(cluster->pause_until_ms(0), 0);
  EXPECT_TRUE(cluster->topology(3).myself().is_replica());
}

// FORCE needs votes but not the master, TAKEOVER nobody.
TEST(BusProtocol, AFailoverIsForced) {
  const auto cluster = MakeCluster(1, 42);
  cluster->SetOffset(0, 500);
  cluster->Failover(3, BusProtocol::FailoverKind::kForce);
  EXPECT_TRUE(cluster->RunUntil(2000, [&] { return cluster->AllSee(0, 3); }));
  cluster->Stop(0);
  cluster->Stop(1);
  cluster->Failover(4, BusProtocol::FailoverKind::kTakeover);
  EXPECT_TRUE(cluster->RunUntil(2000, [&] { return cluster->AllSee(5461, 4); }));
}

// The new owner of a slot has the larger epoch; the old one must delete the slot's keys.
TEST(BusProtocol, AClaimWithALargerEpochWins) {
  const auto cluster = MakeCluster(0, 50);
  TakeSlot(*cluster, 2, 7);
  EXPECT_TRUE(cluster->RunUntil(2000, [&] { return cluster->AllSee(7, 2); }));
  EXPECT_EQ(cluster->lost_slots(0), std::vector<int>{7});
}

// SETSLOT NODE runs at the old owner first, then at the new one. In between, no node claims the slot. A claim with an
// old epoch must not win later because of that: the new owner would delete the slot's keys.
TEST(BusProtocol, AnOldClaimDoesNotTakeASlotThatWasGivenAway) {
  const auto cluster = MakeCluster(0, 51);
  const int slot = 5461;
  cluster->ChangeTopology(1, [&](Topology& topology) {
    topology.UnassignSlot(slot);
    topology.AssignSlot(slot, cluster->id(0));
  });
  cluster->Run(2 * kTimeout);
  EXPECT_TRUE(cluster->topology(0).unclaimed.Has(slot));
  EXPECT_TRUE(cluster->topology(1).unclaimed.Has(slot));
  TakeSlot(*cluster, 0, slot);
  ASSERT_TRUE(cluster->RunUntil(2000, [&] { return cluster->AllSee(slot, 0); }));
  cluster->Run(2 * kTimeout);
  for (int i = 0; i < cluster->size(); ++i) EXPECT_FALSE(cluster->topology(i).unclaimed.Has(slot)) << i;

  cluster->ChangeTopology(2, [&](Topology& topology) { AssignToMyself(topology, slot); });
  EXPECT_TRUE(cluster->RunUntil(kMinute, [&] { return cluster->AllSee(slot, 0); }));
  EXPECT_TRUE(cluster->lost_slots(0).empty());
}

// Some of the others still know a forgotten node, and their gossip must not bring it back.
TEST(BusProtocol, AForgottenNodeStaysAwayForAMinute) {
  const auto cluster = MakeCluster(1, 60);
  const NodeId gone = cluster->id(5);
  cluster->Stop(5);
  for (int i = 0; i < 5; ++i) {
    cluster->protocol(i).Forget(gone, cluster->now_ms());
    cluster->ChangeTopology(i, [&](Topology& topology) {
      if (topology.Find(gone) != nullptr) topology.RemoveNode(gone);
    });
    cluster->Run(5000);
  }
  cluster->Run(kMinute);
  EXPECT_TRUE(cluster->AllKnow(5));
}

TEST(BusProtocol, ANodeThatOneForgetsIsForgottenEverywhere) {
  const auto cluster = MakeCluster(1, 61);
  const NodeId gone = cluster->id(5);
  cluster->Stop(5);
  cluster->protocol(0).Forget(gone, cluster->now_ms());
  cluster->ChangeTopology(0, [&](Topology& topology) { topology.RemoveNode(gone); });
  EXPECT_TRUE(cluster->RunUntil(kMinute / 2, [&] { return cluster->AllKnow(5); }));
}

// PUBLISH reaches all nodes, SPUBLISH the shard.
TEST(BusProtocol, MessagesReachTheirNodes) {
  const auto cluster = MakeCluster(1, 70);
  cluster->Publish(0, "news", "all", false);
  cluster->Publish(3, "shard", "some", true);
  cluster->Run(1000);
  for (int i = 0; i < cluster->size(); ++i) EXPECT_EQ(cluster->messages(i).size(), 1U) << i;
  EXPECT_EQ(cluster->messages(0)[0].message, "some");
}

// A master that lost its replicas gets one from a master with two.
TEST(BusProtocol, AReplicaMigratesToAnOrphanedMaster) {
  const auto cluster = MakeCluster(2, 80);
  cluster->Stop(3);
  cluster->Stop(6);
  EXPECT_TRUE(cluster->RunUntil(2 * kMinute, [&] {
    const auto replicas = cluster->topology(0).ReplicasOf(cluster->id(0));
    return std::ranges::any_of(replicas, [](const Node* node) { return !node->flags.Has(NodeFlags::kFailed); });
  }));
}

}  // namespace
}  // namespace cairn
