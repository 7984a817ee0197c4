// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/cluster.h"

#include <utility>

#include "base/hash.h"
#include "base/log.h"
#include "bus/node_text.h"
#include "client/client_registry.h"
#include "client/pubsub.h"
#include "cluster/bus_clock.h"
#include "cluster/slot_keys.h"
#include "cluster/slot_migrations.h"
#include "replication/history.h"
#include "replication/replication.h"
#include "replication/saving.h"
#include "stats/slot_stats.h"
#include "storage/store.h"
#include "topology/nodes_conf.h"

namespace cairn {
namespace {

// The names are parts of a line of nodes.conf and of redirections.
Status CheckNames(const Node& me) {
  if (me.hostname.size() > kLongestHostname) return Status::Reply("Hostnames must be less than 256 characters");
  if (!me.hostname.empty() && !IsHostname(me.hostname)) {
    return Status::Reply("Hostnames may only contain alphanumeric characters, hyphens or dots");
  }
  if (!me.human_name.empty() && !IsHumanName(me.human_name)) {
    return Status::Reply("Announced human node name contained invalid character");
  }
  return Ok();
}

}  // namespace

bool IsOfMyShard(const Topology& topology, int slot) {
  const Node& me = topology.myself();
  const Node* const owner = topology.SlotOwner(slot);
  return owner != nullptr && owner == (me.is_master() ? &me : topology.MasterOf(me));
}

NodeId DrawNodeId() { return *NodeId::Parse(DrawReplicationId()); }

uint64_t BumpEpoch(Topology& topology) {
  Node& me = *topology.Find(topology.myself().id());
  const uint64_t largest = topology.MaxEpoch();
  if (me.config_epoch != 0 && me.config_epoch == largest) return 0;
  topology.current_epoch = largest + 1;
  me.config_epoch = topology.current_epoch;
  return me.config_epoch;
}

Cluster::Cluster(const Parts& parts)
    : parts_(parts), unserved_(parts.store, parts.notifier,
                               {.is_served = [this](int slot) { return routes_.HasKeysOf(slot); },
                                .is_master = [this] { return !parts_.replication.primary(); },
                                .settle = [this] { return Settle(); }}),
      migrations_(std::make_unique<SlotMigrations>(*this, parts.store, parts.config, parts.tls, parts.replication,
                                                   parts.table)),
      bus_({parts.store, parts.config, parts.replication, parts.pause, parts.pubsub, parts.tls}, *this) {}

Cluster::~Cluster() = default;

std::string Cluster::Path() const {
  return parts_.config.Text("dir") + "/" + parts_.config.Text("cluster-config-file");
}

bool Cluster::AllowsReplicaMigration() const { return parts_.config.Flag("cluster-allow-replica-migration"); }

bool Cluster::RequiresFullCoverage() const { return parts_.config.settings().cluster_require_full_coverage; }

Status Cluster::SetOwnAddress(Topology& topology) const {
  const Config& config = parts_.config;
  Node& me = *topology.Find(topology.myself().id());
  const auto port_of = [&](std::string_view announced, std::string_view own) {
    const int64_t port = config.Number(announced);
    return static_cast<uint16_t>(port != 0 ? port : config.Number(own));
  };
  if (const std::string ip = config.Text("cluster-announce-ip"); !ip.empty()) {
    if (!IsIpText(ip)) {
      return Status::Reply("cluster-announce-ip must be an IP address, or a name of at most 45 characters");
    }
    me.ip = ip;
  }
  me.hostname = config.Text("cluster-announce-hostname");
  me.human_name = config.Text("cluster-announce-human-nodename");
  TRY(CheckNames(me));
  me.port = port_of("cluster-announce-port", "port");
  me.tls_port = port_of("cluster-announce-tls-port", "tls-port");
  const int64_t bus_port = config.Number("cluster-announce-bus-port");
  me.cport = static_cast<uint16_t>(bus_port != 0 ? bus_port : ClusterBus::PortOf(config));
  return Ok();
}

Status Cluster::Start() {
  std::optional<Topology> known =
      TRY(LoadNodesConf(Path(), parts_.config.Flag("tls-cluster") ? NodesConfPort::kTls : NodesConfPort::kPlain));
  if (known) {
    known->ResetLinks(BusNowMs());
    // With a controller, no bus finds out which nodes are connected.
    for (const Node* node : known->Nodes()) known->Find(node->id())->is_connected = known->is_controlled;
  } else {
    Node myself(DrawNodeId());
    myself.flags.Add(NodeFlags::kMaster);
    myself.shard_id = DrawNodeId();
    known.emplace(std::move(myself));
  }
  TRY(SetOwnAddress(*known));
  TRY(SaveNodesConf(Path(), WriteNodesConf(*known)));
  Log(LogSeverity::kNotice, "Node configuration loaded, I'm {}", known->myself().id().text());
  {
    const MutexLock lock(mutex_);
    topology_ = std::make_unique<Topology>(std::move(*known));
  }
  TRY(unserved_.Load());
  Publish();
  return TakeRole();
}

Status Cluster::StartBus() {
  TRY(bus_.Listen());
  unserved_.Start([this] {
    const Status status = DeleteLeftKeys();
    if (!status.ok()) Log(LogSeverity::kWarning, "cluster: keys of slots of other nodes: {}", status.text());
  });
  if (!parts_.replication.primary()) unserved_.DropAll();
  bus_.Start();
  return Ok();
}

void Cluster::StopBus() {
  migrations_->Stop();
  bus_.Stop();
  unserved_.Stop();
}

ClusterState Cluster::StateOf(const Topology& topology) const {
  return topology.is_controlled ? topology.ComputeState(RequiresFullCoverage()) : bus_state_.load();
}

ClusterState Cluster::state() const {
  return With([this](const Topology& topology) { return StateOf(topology); });
}

EndpointType Cluster::endpoint_type() const {
  return static_cast<EndpointType>(parts_.config.settings().cluster_preferred_endpoint_type.load());
}

void Cluster::Publish() {
  {
    const MutexLock no_drop(unserved_.drop_mutex());
    {
      const MutexLock lock(mutex_);
      routes_.Publish(*topology_, StateOf(*topology_), endpoint_type());
      for (int slot = 0; parts_.slot_stats.is_on() && slot < kSlotCount; ++slot) {
        if (!IsOfMyShard(*topology_, slot)) parts_.slot_stats.Forget(slot);
      }
    }
    unserved_.Refresh();
  }
  parts_.pubsub.CancelLostShardChannels();
}

void Cluster::ReleaseWrites(const SlotSet& slots) {
  routes_.Release(slots);
  for (const auto& session : parts_.clients.All()) session->Wake();
}

Status Cluster::Settle() {
  TRY(AwaitCommits(parts_.store));
  for (const auto& session : parts_.clients.All()) {
    if (session->blocking.is_blocked) session->Wake();
  }
  return Ok();
}

Status Cluster::TakeRole() {
  const bool with_tls = parts_.config.settings().tls_replication;
  const auto wanted = With([with_tls](const Topology& topology) -> std::optional<PrimaryAddress> {
    const Node* const master = topology.MasterOf(topology.myself());
    if (!topology.myself().is_replica() || master == nullptr || master->ip.empty()) return std::nullopt;
    return PrimaryAddress{master->ip, ClientPort(*master, with_tls)};
  });
  const auto present = parts_.replication.primary();
  const bool is_replica = With([](const Topology& topology) { return topology.myself().is_replica(); });
  // A replica whose master has no address stays with what it has.
  if (wanted == present || (is_replica && !wanted)) return Ok();
  if (wanted) return parts_.replication.SetPrimary(*wanted);
  // Imports begin as soon as this server is a primary; their keys stay.
  const std::vector<std::string> names = unserved_.Names();
  TRY(parts_.replication.Promote());
  unserved_.DropEach(names);
  return Ok();
}

Status Cluster::SaveAndPublish(const std::function<Status(Topology& topology)>& change,
                               const std::function<void()>& changed) {
  const MutexLock writing(write_mutex_);
  auto topology = With([](const Topology& present) { return std::make_unique<Topology>(present); });
  TRY(change(*topology));
  if (const Status saved = SaveNodesConf(Path(), WriteNodesConf(*topology)); !saved.ok()) {
    return Status::Reply("ERR error saving the cluster node config: " + std::string(saved.text()));
  }
  {
    const MutexLock lock(mutex_);
    topology_ = std::move(topology);
  }
  if (changed) changed();
  bus_.OnChanged();
  Publish();
  return Ok();
}

Status Cluster::Change(const std::function<Status(Topology& topology)>& change, const std::function<void()>& changed) {
  const MutexLock changing(change_mutex_);
  TRY(SaveAndPublish(change, changed));
  TRY(Settle());
  return TakeRole();
}

BusEffects Cluster::RunStep(const std::function<BusEffects(Topology& topology)>& step) {
  const MutexLock lock(mutex_);
  return step(*topology_);
}

Status Cluster::Follow() {
  const MutexLock changing(change_mutex_);
  const bool is_master = With([](const Topology& topology) { return topology.myself().is_master(); });
  // A new master serves its slots when it accepts writes; a new replica redirects before it stops to accept them.
  if (is_master) TRY(TakeRole());
  Publish();
  TRY(Settle());
  return TakeRole();
}

Status Cluster::Save() const {
  const MutexLock writing(write_mutex_);
  const Status saved = SaveNodesConf(Path(), With(WriteNodesConf));
  if (saved.ok()) return Ok();
  return Status::Reply("ERR error saving the cluster node config: " + std::string(saved.text()));
}

Status Cluster::FollowSettings() {
  const auto checked = With([](const Topology& topology) { return std::make_unique<Topology>(topology); });
  TRY(SetOwnAddress(*checked));
  return bus_.FollowSettings();
}

Status Cluster::ApplySettings() {
  return SaveAndPublish([this](Topology& topology) { return SetOwnAddress(topology); }, nullptr);
}

bool Cluster::HasKeys() const { return cairn::HasKeys(parts_.store, parts_.config.limits()); }

Result<int64_t> Cluster::CountKeys(int slot) const { return TRY(CountKeys(slot, slot)).front(); }

Result<std::vector<int64_t>> Cluster::CountKeys(int first, int last) const {
  return CountSlotKeys(parts_.store, parts_.config.limits(), first, last);
}

Status Cluster::ForEachKey(int slot, const std::function<bool(std::string_view)>& visit) const {
  return ForEachSlotKey(parts_.store, parts_.config.limits(), slot, first_key_, visit);
}

Result<std::vector<std::string>> Cluster::Keys(int slot, size_t most) const {
  std::vector<std::string> keys;
  TRY(ForEachKey(slot, [&](std::string_view key) {
    keys.emplace_back(key);
    return keys.size() < most;
  }));
  return keys;
}

Status Cluster::DeleteAllKeys() { return DeleteEverything(parts_.store, parts_.notifier); }

Status Cluster::DeleteKeys(const std::vector<int>& slots) {
  // Only a slot that still belongs to another node, and only on a master: a replica gets its master's data.
  SlotSet lost;
  for (const int slot : slots) {
    const bool is_lost = With([slot](const Topology& topology) {
      const Node* const owner = topology.SlotOwner(slot);
      return topology.myself().is_master() && owner != nullptr && !owner->is_myself();
    });
    if (is_lost) lost.Add(slot);
  }
  if (lost.empty()) return Ok();
  const std::string name(DrawNodeId().text());
  TRY(unserved_.Hide(name, lost, true));
  unserved_.Drop(name, nullptr);
  return Ok();
}

Status Cluster::DeleteLeftKeys() {
  const SlotSet foreign = With([](const Topology& topology) {
    SlotSet slots;
    // A controller moves slots in its own order.
    if (!topology.myself().is_master() || topology.is_controlled) return slots;
    for (int slot = 0; slot < kSlotCount; ++slot) {
      const Node* const owner = topology.SlotOwner(slot);
      const bool is_foreign = owner != nullptr && !owner->is_myself();
      if (is_foreign && topology.ImportingFrom(slot) == nullptr) slots.Add(slot);
    }
    return slots;
  });
  std::vector<int> left;
  for (const SlotRange& range : foreign.Ranges()) {
    const std::vector<int64_t> counts = TRY(CountKeys(range.first, range.last));
    for (int slot = range.first; slot <= range.last; ++slot) {
      if (counts[static_cast<size_t>(slot - range.first)] > 0) left.push_back(slot);
    }
  }
  if (left.empty()) return Ok();
  Log(LogSeverity::kNotice, "I have keys for {} slots that are assigned to other nodes. Deleting them.", left.size());
  return DeleteKeys(left);
}

}  // namespace cairn
