// SPDX-License-Identifier: BSD-3-Clause
#include "topology/slot_routes.h"

#include <gtest/gtest.h>

#include "topology/two_nodes.h"

namespace cairn {
namespace {

TEST(SlotRoutesTest, NamesTheOwnerOfEachSlot) {
  Topology topology = TwoNodes();
  topology.AssignSlot(5, Id('a'));
  topology.AssignSlot(6, Id('b'));
  SlotRoutes routes;
  routes.Publish(topology, ClusterState::kOk, EndpointType::kIp);
  EXPECT_EQ(routes.Of(5), SlotRoute::kServed);
  EXPECT_EQ(routes.Of(6), SlotRoute::kElsewhere);
  EXPECT_EQ(routes.Of(7), SlotRoute::kUnassigned);
  EXPECT_EQ(routes.OwnerAddress(6, false), "10.0.0.1:2");
  EXPECT_EQ(routes.OwnerAddress(7, false), "");
  EXPECT_TRUE(routes.is_up());
}

// A slot that is being moved needs a look at the keys, at its owner and at the importing node.
TEST(SlotRoutesTest, SlotsThatMoveHaveRoutesOfTheirOwn) {
  Topology topology = TwoNodes();
  topology.AssignSlot(5, Id('a'));
  topology.AssignSlot(6, Id('b'));
  topology.SetMigrating(5, Id('b'));
  topology.SetImporting(6, Id('b'));
  topology.SetImporting(7, Id('b'));
  SlotRoutes routes;
  const uint64_t before = routes.version();
  routes.Publish(topology, ClusterState::kOk, EndpointType::kIp);
  EXPECT_GT(routes.version(), before);
  EXPECT_EQ(routes.Of(5), SlotRoute::kMigrating);
  EXPECT_EQ(routes.TargetAddress(5, false), "10.0.0.1:2");
  EXPECT_EQ(routes.Of(6), SlotRoute::kImporting);
  EXPECT_EQ(routes.Of(7), SlotRoute::kImporting);
}

// A replica may serve the reads of its master's slots, and of no other.
TEST(SlotRoutesTest, AReplicaKnowsItsMastersSlots) {
  Topology topology = TwoNodes();
  topology.AddNode(Master('c', 3));
  topology.AssignSlot(5, Id('b'));
  topology.AssignSlot(6, Id('c'));
  topology.MakeReplica(Id('a'), Id('b'));
  SlotRoutes routes;
  routes.Publish(topology, ClusterState::kFail, EndpointType::kIp);
  EXPECT_EQ(routes.Of(5), SlotRoute::kOfMaster);
  EXPECT_EQ(routes.Of(6), SlotRoute::kElsewhere);
  EXPECT_FALSE(routes.is_up());
}

TEST(SlotRoutesTest, TheEndpointIsThatOfTheType) {
  Node node = Master('b', 2);
  EXPECT_EQ(PreferredEndpoint(node, EndpointType::kHostname), "?");
  EXPECT_EQ(PreferredEndpoint(node, EndpointType::kUnknown), "");
  node.hostname = "b.example";
  EXPECT_EQ(PreferredEndpoint(node, EndpointType::kHostname), "b.example");
  EXPECT_EQ(ClientPort(node, true), 2);
  node.tls_port = 20;
  EXPECT_EQ(ClientPort(node, true), 20);
  EXPECT_EQ(ClientPort(node, false), 2);
}

}  // namespace
}  // namespace cairn
