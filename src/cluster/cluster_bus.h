// SPDX-License-Identifier: BSD-3-Clause
//
// ClusterBus: the cluster bus of this server: the protocol (cluster/bus_protocol.h), its sockets (cluster/bus_links.h)
// and two threads. "cluster" runs the steps of the protocol. "cluster-role" does what may wait for holders of keys: it
// follows a new role, wakes blocked clients after a change of routes, waits until paused writes have ended, and deletes
// keys of lost slots.
//
// While a controller sets the topology (CLUSTERX SETNODES), the bus is idle: it has no links, detects no failures and
// holds no elections.
//
// Thread: any. The protocol and the links are guarded by the cluster's write_mutex_, which the step of a message holds
// while it writes nodes.conf; so the threads of clients do not take it. A step of the protocol also holds mutex_, as
// its readers do.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "cluster/bus_links.h"
#include "cluster/bus_protocol.h"

namespace cairn {

class ClientPause;
class Cluster;
class Config;
class PubSub;
class Replication;
class Store;
class Tls;

class ClusterBus {
 public:
  struct Parts {
    Store& store;
    Config& config;
    Replication& replication;
    ClientPause& pause;
    PubSub& pubsub;
    const Tls& tls;
  };

  ClusterBus(const Parts& parts, Cluster& cluster);
  ~ClusterBus();

  // The port of the bus of this server; it may be too large.
  static int64_t PortOf(const Config& config);
  // Opens the port of the bus; the error is for the operator.
  Status Listen();
  void Start();
  void Stop();

  // ---- commands. They may wait for the disk. REQUIRES: the caller holds no stripe.
  // CLUSTER MEET.
  Status Meet(const std::string& ip, uint16_t port, uint16_t cport);
  // Whether the node is unknown, because it was forgotten a moment ago.
  bool HasForgotten(const NodeId& node) const;
  // CLUSTER FAILOVER.
  Status Failover(BusProtocol::FailoverKind kind);

  // ---- any thread
  // The settings that this node announces have changed: "cluster-role" applies them. Waits for that, but not for longer
  // than a second, because the caller may hold stripes for which that thread waits. An error: they are not applied.
  Status FollowSettings();

  // ---- for readers. They take the cluster's mutex_ only, so a command that holds keys may call them.
  int CountFailureReports(const NodeId& node) const;
  struct Counts {
    BusMessageCounts messages;
    uint64_t links_above_limit = 0;  // that were closed
  };
  Counts counts() const;
  struct LinkRow {
    BusLinkRow link;
    BusLinks::Buffer buffer;
  };
  // With the buffers of the last tick.
  std::vector<LinkRow> Links() const;

  // ---- DEBUG
  // Closes links of a node; they are opened again. REQUIRES: the caller holds no stripe.
  void CloseLinks(const NodeId& node, LinkEnds ends);
  // Drops all messages of this type that arrive; -1 is none.
  void set_dropped_type(int type) { dropped_type_ = type; }

  // CLUSTER FORGET has removed the node: gossip must not add it again. REQUIRES: the caller holds the cluster's
  // write_mutex_ since the removal.
  void Forget(const NodeId& node);
  // A command has changed the topology. REQUIRES: the caller holds the cluster's write_mutex_.
  void OnChanged();

 private:
  // A message of a client here, for other nodes.
  struct Publication {
    PublishBody body;
    bool is_sharded = false;
    // Its size on a link.
    size_t bytes() const { return kMessageHeaderSize + body.channel.size() + body.message.size(); }
  };
  // The thread "cluster" sends it soon, in the order of the calls.
  void AddPublication(Publication publication);
  bool TakePublication(Publication& publication);
  // Sends publications until they are kBytesPerTurn, so that the bus answers PINGs in between. Returns whether there
  // may be more.
  bool SendPublications();
  // What "cluster-role" has to do.
  struct Work {
    bool follows = false;
    bool settles = false;  // the routes have changed
    bool pauses = false;
    bool ends_pause = false;
    uint64_t settings = 0;  // the number of the last change of settings to apply; 0: none
    std::vector<int> lost_slots;
    std::vector<BusSend> announcements;  // of a promotion, for when it is done
  };
  // Changes of settings that this node announces, numbered.
  struct SettingsChanges {
    uint64_t asked = 0;  // the last one
    uint64_t tried = 0;  // the last one that was applied, or that failed
    std::string error;   // of that one
  };

  void Run();
  void Tick();
  void RunRole();
  bool AwaitWork(Work& work);
  void Do(const Work& work);
  // Begins to delete the keys of slots that other masters have taken, or tries again later.
  void DeleteLostKeys(const std::vector<int>& slots);
  void ApplySettings(uint64_t number);

  // Runs a step of the protocol and carries its effects out. REQUIRES: the caller holds the cluster's write_mutex_.
  template <typename StepFunction>
  void Step(const StepFunction& step);
  void CarryOut(BusEffects effects);
  // Writes nodes.conf if the effects or an earlier failure demand it; false if that fails.
  bool Save(const BusEffects& effects);
  void Deliver(const BusEffects& effects) const;
  void ReadSettings();
  BusSelf ReadSelf();
  // Ends all links while a controller sets the topology.
  void Rest();

  const Parts parts_;
  Cluster& cluster_;
  BusProtocol protocol_;
  BusLinks links_;
  BusSettings settings_;
  size_t most_unsent_ = 0;
  bool must_save_ = false;     // the last write of nodes.conf failed
  bool knows_offset_ = false;  // writes are paused, so the announced offset must be exact
  bool is_idle_ = false;
  std::atomic<bool> is_active_{false};  // it sends messages
  std::atomic<bool> stopping_{false};
  int64_t next_tick_ms_ = 0;
  std::map<BusLinkId, BusLinks::Buffer> buffers_;  // guarded by the cluster's mutex_, like the next
  uint64_t links_above_limit_ = 0;
  std::atomic<int> dropped_type_{-1};
  Mutex publications_mutex_;  // a leaf
  std::deque<Publication> publications_ ABSL_GUARDED_BY(publications_mutex_);
  std::atomic<size_t> unsent_bytes_{0};  // of publications
  Mutex work_mutex_;                     // a leaf
  CondVar work_changed_;
  Work work_ ABSL_GUARDED_BY(work_mutex_);
  bool has_work_ ABSL_GUARDED_BY(work_mutex_) = false;
  SettingsChanges settings_changes_ ABSL_GUARDED_BY(work_mutex_);
  std::thread thread_;
  std::thread role_thread_;
};

}  // namespace cairn
