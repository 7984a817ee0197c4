// SPDX-License-Identifier: BSD-3-Clause
//
// The cost of the cluster bus by the number of nodes, in one thread with a simulated clock and network
// (tests/cluster/simulated_cluster.h): bytes and time of the processor per node and second while nothing happens, and
// the time until the failure of a master is known everywhere and its replica has taken over.
//
//   cairn_gossip nodes seconds node-timeout-ms      prints one line of JSON
//
// Half of the nodes are masters, each with a replica. The nodes know each other from the start, and the last answers of
// all others are spread over half the timeout, as in a cluster that has run for long: else the first seconds would
// be a storm of pings. Half a timeout passes before the measurement.
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "bus/slot_set.h"
#include "cluster/simulated_cluster.h"

namespace cairn {
namespace {

constexpr int64_t kMostFailureMs = 120000;

class LargeCluster : public SimulatedCluster {
 public:
  LargeCluster(int count, int64_t timeout_ms) : SimulatedCluster(count, 1), masters_(count / 2) {
    for (int i = 0; i < count; ++i) settings(i).node_timeout_ms = timeout_ms;
    for (int i = 0; i < count; ++i) Introduce(i);
    loses_all_ = true;
    Step();  // opens the links, without the first pings of all nodes
    loses_all_ = false;
    for (int i = 0; i < count; ++i) Age(i, timeout_ms / 2);
  }

  int masters() const { return masters_; }
  // How many running nodes have marked a node as failed.
  int CountAware(int failed) {
    int aware = 0;
    for (int i = 0; i < size(); ++i) {
      const Node* const node = topology(i).Find(id(failed));
      aware += At(i).is_running && node->flags.Has(NodeFlags::kFailed);
    }
    return aware;
  }

 private:
  void Introduce(int i) {
    Topology& known = topology(i);
    for (int other = 0; other < size(); ++other) {
      if (other == i) continue;
      Node node(id(other));
      node.ip = IpOf(other);
      node.port = 7000;
      node.cport = 17000;
      node.flags.Add(NodeFlags::kMaster);
      known.AddNode(std::move(node));
    }
    for (int master = 0; master < masters_; ++master) {
      for (int slot = master; slot < kSlotCount; slot += masters_) known.AssignSlot(slot, id(master));
      known.Find(id(master))->config_epoch = static_cast<uint64_t>(master) + 1;
    }
    for (int replica = masters_; replica < size(); ++replica) known.MakeReplica(id(replica), id(replica - masters_));
    known.current_epoch = static_cast<uint64_t>(masters_);
    Act(i, [&](const BusProtocol::Input& input) { return At(i).protocol.Tick(input); });
  }

  void Age(int i, int64_t most_ms) {
    for (const Node* node : topology(i).Nodes()) {
      Node& other = *topology(i).Find(node->id());
      other.ping_sent_ms = 0;
      other.pong_received_ms = now_ms_ - static_cast<int64_t>(random_.Below(static_cast<uint64_t>(most_ms)));
    }
  }

  const int masters_;
};

void Measure(int count, int64_t seconds, int64_t timeout_ms) {
  LargeCluster cluster(count, timeout_ms);
  cluster.Run(timeout_ms / 2);
  const SimulatedCluster::Load before = cluster.load();
  cluster.Run(seconds * 1000);
  const SimulatedCluster::Load after = cluster.load();
  const double node_seconds = static_cast<double>(count) * static_cast<double>(seconds);
  const auto per_second = [&](auto value) { return static_cast<double>(value) / node_seconds; };
  printf("{\"nodes\": %d, \"timeout_ms\": %lld, \"messages\": %.1f, \"bytes\": %.0f, \"cpu_ms\": %.2f", count,
         static_cast<long long>(timeout_ms), per_second(after.messages - before.messages),
         per_second(after.bytes - before.bytes), per_second(after.cpu_ns - before.cpu_ns) / 1e6);
  fflush(stdout);
  constexpr int kVictim = 0;
  const int replica = cluster.masters();
  const int64_t begin_ms = cluster.now_ms();
  cluster.Stop(kVictim);
  const auto until = [&](const auto& condition) {
    return cluster.RunUntil(kMostFailureMs, condition) ? cluster.now_ms() - begin_ms : -1;
  };
  const int64_t first_ms = until([&] { return cluster.CountAware(kVictim) > 0; });
  const int64_t all_ms = until([&] { return cluster.CountAware(kVictim) == count - 1; });
  const int64_t replaced_ms = until([&] { return cluster.AllSee(0, replica); });
  printf(", \"first_ms\": %lld, \"all_ms\": %lld, \"replaced_ms\": %lld}\n", static_cast<long long>(first_ms),
         static_cast<long long>(all_ms), static_cast<long long>(replaced_ms));
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  std::string error;
  // The nodes log what they notice, as a server does.
  if (argc != 4 || !cairn::OpenLog("/dev/null", error)) {
    fprintf(stderr, "usage: cairn_gossip nodes seconds node-timeout-ms\n%s\n", error.c_str());
    return 2;
  }
  cairn::Measure(atoi(argv[1]), atoll(argv[2]), atoll(argv[3]));
}
