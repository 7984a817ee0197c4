// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/cluster_bus.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/thread.h"
#include "client/client_pause.h"
#include "client/pubsub.h"
#include "cluster/bus_clock.h"
#include "cluster/bus_failures.h"
#include "cluster/cluster.h"
#include "cluster/slot_migrations.h"
#include "config/config.h"
#include "replication/replication.h"
#include "replication/saving.h"
#include "topology/nodes_conf.h"

namespace cairn {
namespace {

constexpr int64_t kTickMs = 100;
constexpr size_t kBytesPerTurn = size_t{1} << 20;
constexpr int64_t kTurnPauseMs = 1;
constexpr int kLargestPort = 65535;
constexpr int64_t kMsPerSecond = 1000;
constexpr std::chrono::seconds kWorkPause{1};
constexpr std::chrono::seconds kSettingsPatience{1};

std::vector<Notification> NotificationsOf(const std::vector<PublishBody>& bodies, NotificationKind kind) {
  std::vector<Notification> notifications;
  for (const PublishBody& body : bodies) notifications.push_back({kind, body.channel, body.message});
  return notifications;
}

}  // namespace

ClusterBus::ClusterBus(const Parts& parts, Cluster& cluster)
    : parts_(parts), cluster_(cluster), protocol_(static_cast<uint64_t>(WallUs())),
      links_({.on_accepted = [this](std::string peer_ip, std::string own_ip) -> BusLinkId {
                if (is_idle_) return 0;
                return cluster_.With([&](const Topology&) {
                  return protocol_.OnAccepted(std::move(peer_ip), std::move(own_ip), BusNowMs());
                });
              },
              .on_opened =
                  [this](BusLinkId link) {
                    Step([&](const BusProtocol::Input& input) { return protocol_.OnOpened(input, link); });
                  },
              .on_closed =
                  [this](BusLinkId link) {
                    Step([&](const BusProtocol::Input& input) { return protocol_.OnClosed(input, link); });
                  },
              .on_message =
                  [this](BusLinkId link, const Message& message) {
                    if (static_cast<int>(message.type) != dropped_type_) {
                      Step([&](const BusProtocol::Input& input) { return protocol_.OnMessage(input, link, message); });
                    }
                    return cluster_.With(
                        [&](const Topology& topology) { return topology.Find(message.header.sender) != nullptr; });
                  }}) {}

ClusterBus::~ClusterBus() { Stop(); }

int64_t ClusterBus::PortOf(const Config& config) {
  if (const int64_t port = config.Number("cluster-port"); port != 0) return port;
  const bool uses_tls = config.Flag("tls-cluster");
  const int64_t port = config.Number(uses_tls ? "tls-port" : "port");
  return (port != 0 ? port : config.Number(uses_tls ? "port" : "tls-port")) + kBusPortOffset;
}

Status ClusterBus::Listen() {
  const int64_t port = PortOf(parts_.config);
  if (port > kLargestPort) {
    return Status::Io(fmt::format("the port of the cluster bus, {} + {}, is too large; set cluster-port",
                                  port - kBusPortOffset, kBusPortOffset));
  }
  return links_.Listen(parts_.config.Words("bind"), static_cast<int>(port),
                       parts_.config.Flag("tls-cluster") ? &parts_.tls : nullptr);
}

void ClusterBus::Start() {
  ReadSettings();
  parts_.pubsub.set_cluster_node(
      {.forwards = [this] { return is_active_.load(); },
       .forward =
           [this](const Notification& message) {
             AddPublication({{message.channel, message.message}, message.kind == NotificationKind::kShardMessage});
           },
       .unsent_bytes = [this] { return is_active_ ? unsent_bytes_.load() : size_t{0}; },
       .serves = [this](std::string_view channel) { return cluster_.routes().ServesChannelsOf(KeySlot(channel)); }});
  thread_ = StartThread("cluster", [this] { Run(); });
  role_thread_ = StartThread("cluster-role", [this] { RunRole(); });
}

void ClusterBus::Stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  is_active_ = false;
  links_.Wake();
  {
    const MutexLock lock(work_mutex_);
    work_changed_.NotifyAll();
  }
  thread_.join();
  role_thread_.join();
}

// ---- the thread "cluster"

void ClusterBus::Run() {
  bool has_more = false;
  while (!stopping_) {
    const int64_t most_ms = std::clamp<int64_t>(next_tick_ms_ - MonotonicMs(), 0, kTickMs);
    // Commands may take write_mutex_ during the pause.
    links_.Wait(has_more ? std::min(most_ms, kTurnPauseMs) : most_ms);
    if (stopping_) break;
    const MutexLock writing(cluster_.write_mutex_);
    links_.Handle();
    has_more = SendPublications();
    if (MonotonicMs() < next_tick_ms_) continue;
    next_tick_ms_ = MonotonicMs() + kTickMs;
    Tick();
  }
  const MutexLock writing(cluster_.write_mutex_);
  links_.CloseAll();
}

void ClusterBus::Tick() {
  const bool is_controlled = cluster_.With([](const Topology& topology) { return topology.is_controlled; });
  if (is_controlled) {
    Rest();
    return;
  }
  is_idle_ = false;
  is_active_ = true;
  ReadSettings();
  links_.CloseLinksAbove(most_unsent_);
  Step([&](const BusProtocol::Input& input) { return protocol_.Tick(input); });
  cluster_.migrations().imports().CloseLost();
  cluster_.With([this](const Topology&) {
    buffers_.clear();
    for (const BusLinkRow& link : protocol_.Links()) buffers_[link.id] = links_.BufferOf(link.id);
    links_above_limit_ = links_.closed_above_limit();
    return 0;
  });
}

void ClusterBus::Rest() {
  if (is_idle_) return;
  is_idle_ = true;
  is_active_ = false;
  links_.CloseAll();
  cluster_.With([this](const Topology&) {
    protocol_ = BusProtocol(static_cast<uint64_t>(WallUs()));
    buffers_.clear();
    return 0;
  });
  if (knows_offset_) parts_.pause.End(ClientPause::Purpose::kFailover);
  knows_offset_ = false;
}

void ClusterBus::ReadSettings() {
  const Config& config = parts_.config;
  settings_ = {.node_timeout_ms = config.Number("cluster-node-timeout"),
               .replica_validity_factor = config.Number("cluster-replica-validity-factor"),
               .replication_ping_ms = config.Number("repl-ping-replica-period") * kMsPerSecond,
               .migration_barrier = config.Number("cluster-migration-barrier"),
               .allows_replica_migration = config.Flag("cluster-allow-replica-migration"),
               .never_fails_over = config.Flag("cluster-replica-no-failover"),
               .requires_full_coverage = config.Flag("cluster-require-full-coverage"),
               .uses_tls = config.Flag("tls-cluster"),
               .announced_ip = config.Text("cluster-announce-ip")};
  most_unsent_ = static_cast<size_t>(config.Number("cluster-link-sendbuf-limit"));
}

BusSelf ClusterBus::ReadSelf() {
  Replication& replication = parts_.replication;
  BusSelf self{.now_ms = BusNowMs(), .data_age_ms = replication.primary_link().DataAgeMs()};
  if (replication.primary()) {
    self.offset = replication.log().applied().offset;
    return self;
  }
  self.offset = replication.log().offset();
  if (!knows_offset_) return self;
  const Result<uint64_t> end = replication.log().ReadOffset();
  self.is_offset_exact = end.ok();
  if (end.ok()) self.offset = *end;
  return self;
}

// ---- steps

template <typename StepFunction>
void ClusterBus::Step(const StepFunction& step) {
  if (is_idle_) return;
  const BusSelf self = ReadSelf();
  BusEffects effects = cluster_.RunStep([&](Topology& topology) {
    return step(BusProtocol::Input{topology, settings_, self});
  });
  cluster_.bus_state_ = protocol_.state();
  CarryOut(std::move(effects));
}

bool ClusterBus::Save(const BusEffects& effects) {
  if (!effects.saves && !must_save_) return true;
  const Status saved = SaveNodesConf(cluster_.Path(), cluster_.With(WriteNodesConf));
  if (!saved.ok() && !must_save_) {
    Log(LogSeverity::kWarning, "cluster bus: silent until nodes.conf can be written: {}", saved.text());
  }
  must_save_ = !saved.ok();
  return saved.ok();
}

void ClusterBus::CarryOut(BusEffects effects) {
  const bool is_saved = Save(effects);
  const bool is_promoted =
      effects.changes_role && cluster_.With([](const Topology& topology) { return topology.myself().is_master(); });
  const bool settles = effects.publishes && !is_promoted;
  if (settles) cluster_.Publish();
  // A new master is announced when it accepts writes: the old one redirects clients here as soon as it hears of it.
  std::vector<BusSend> announcements;
  for (const auto& action : effects.actions) {
    if (const auto* send = std::get_if<BusSend>(&action)) {
      if (is_saved && is_promoted) announcements.push_back(*send);
      else if (is_saved) links_.Send(send->link, send->message);
    } else if (const auto* open = std::get_if<BusOpen>(&action)) {
      links_.Open(open->link, open->ip, open->port);
    } else {
      links_.Close(std::get<BusClose>(action).link);
    }
  }
  // A master that is demoted ends the pause when it refuses writes: commands without keys are not redirected.
  const bool ends_pause_later = effects.ends_pause && effects.changes_role;
  if (effects.ends_pause) knows_offset_ = false;
  if (effects.ends_pause && !ends_pause_later) parts_.pause.End(ClientPause::Purpose::kFailover);
  const bool pauses = effects.pause_until_ms != 0;
  if (pauses) {
    const int64_t now_ms = MonotonicMs();
    parts_.pause.Begin(ClientPause::Purpose::kFailover, ClientPause::Mode::kWrites, now_ms,
                       now_ms + effects.pause_until_ms - BusNowMs());
  }
  Deliver(effects);
  if (!settles && !pauses && !effects.changes_role && effects.lost_slots.empty()) return;
  const MutexLock lock(work_mutex_);
  work_.settles = work_.settles || settles;
  work_.follows = work_.follows || effects.changes_role;
  work_.pauses = work_.pauses || pauses;
  work_.ends_pause = work_.ends_pause || ends_pause_later;
  work_.lost_slots.insert(work_.lost_slots.end(), effects.lost_slots.begin(), effects.lost_slots.end());
  if (is_promoted) work_.announcements = std::move(announcements);
  has_work_ = true;
  work_changed_.NotifyAll();
}

void ClusterBus::Deliver(const BusEffects& effects) const {
  if (!effects.messages.empty()) {
    parts_.pubsub.Deliver(NotificationsOf(effects.messages, NotificationKind::kMessage));
  }
  if (!effects.shard_messages.empty()) {
    parts_.pubsub.Deliver(NotificationsOf(effects.shard_messages, NotificationKind::kShardMessage));
  }
}

// ---- the thread "cluster-role"

bool ClusterBus::AwaitWork(Work& work) {
  const MutexLock lock(work_mutex_);
  while (!has_work_ && !stopping_) work_changed_.WaitFor(work_mutex_, kWorkPause);
  has_work_ = false;
  work = std::exchange(work_, {});
  return !stopping_;
}

void ClusterBus::RunRole() {
  Work work;
  while (AwaitWork(work)) Do(work);
}

void ClusterBus::Do(const Work& work) {
  Status status;
  if (work.settings != 0) ApplySettings(work.settings);
  if (work.follows) status = cluster_.Follow();
  else if (work.settles || work.settings != 0) status = cluster_.Settle();
  if (!status.ok()) {
    Log(LogSeverity::kWarning, "cluster: the role cannot be changed yet: {}", status.text());
    const MutexLock lock(work_mutex_);
    // Tried again after a pause, unless other work comes first.
    work_.follows = true;
    work_.ends_pause = work_.ends_pause || work.ends_pause;
    work_changed_.WaitFor(work_mutex_, kWorkPause);
    has_work_ = true;
  }
  if (status.ok() && work.ends_pause) parts_.pause.End(ClientPause::Purpose::kFailover);
  if (status.ok() && !work.announcements.empty()) {
    const MutexLock writing(cluster_.write_mutex_);
    for (const BusSend& send : work.announcements) links_.Send(send.link, send.message);
  }
  if (work.pauses) {
    status = AwaitCommits(parts_.store);
    const MutexLock writing(cluster_.write_mutex_);
    knows_offset_ = true;
    if (status.ok()) Step([&](const BusProtocol::Input& input) { return protocol_.OnPaused(input); });
  }
  if (!status.ok()) Log(LogSeverity::kWarning, "cluster: {}", status.text());
  if (!work.lost_slots.empty()) DeleteLostKeys(work.lost_slots);
}

void ClusterBus::DeleteLostKeys(const std::vector<int>& slots) {
  const Status deleted = cluster_.DeleteKeys(slots);
  if (deleted.ok()) return;
  Log(LogSeverity::kWarning, "cluster: keys of slots that other masters took are not deleted yet: {}", deleted.text());
  const MutexLock lock(work_mutex_);
  // Tried again after a pause, unless other work comes first.
  work_.lost_slots.insert(work_.lost_slots.end(), slots.begin(), slots.end());
  work_changed_.WaitFor(work_mutex_, kWorkPause);
  has_work_ = true;
}

void ClusterBus::ApplySettings(uint64_t number) {
  const Status applied = cluster_.ApplySettings();
  if (!applied.ok()) Log(LogSeverity::kWarning, "cluster: new settings are not announced: {}", applied.text());
  const MutexLock lock(work_mutex_);
  settings_changes_.tried = number;
  settings_changes_.error = applied.text();
  work_changed_.NotifyAll();
}

Status ClusterBus::FollowSettings() {
  const MutexLock lock(work_mutex_);
  const uint64_t number = ++settings_changes_.asked;
  work_.settings = number;
  has_work_ = true;
  work_changed_.NotifyAll();
  work_changed_.WaitFor(work_mutex_, kSettingsPatience, [this, number]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(work_mutex_) {
    return settings_changes_.tried >= number || stopping_;
  });
  const SettingsChanges& changes = settings_changes_;
  return changes.tried == number && !changes.error.empty() ? Status::Reply(changes.error) : Ok();
}

// ---- commands

void ClusterBus::OnChanged() {
  if (cluster_.With([](const Topology& topology) { return topology.is_controlled; })) {
    Rest();
    return;
  }
  is_idle_ = false;
  ReadSettings();
  Step([&](const BusProtocol::Input& input) { return protocol_.OnChanged(input); });
}

Status ClusterBus::Meet(const std::string& ip, uint16_t port, uint16_t cport) {
  const MutexLock writing(cluster_.write_mutex_);
  if (is_idle_) return Status::Reply("ERR A controller sets the nodes (CLUSTERX SETNODES). CLUSTER RESET ends that.");
  Step([&](const BusProtocol::Input& input) { return protocol_.Meet(input, ip, port, cport); });
  return Ok();
}

void ClusterBus::Forget(const NodeId& node) { protocol_.Forget(node, BusNowMs()); }

bool ClusterBus::HasForgotten(const NodeId& node) const {
  const MutexLock writing(cluster_.write_mutex_);
  return protocol_.HasForgotten(node, BusNowMs()) &&
         cluster_.With([&](const Topology& topology) { return topology.Find(node) == nullptr; });
}

Status ClusterBus::Failover(BusProtocol::FailoverKind kind) {
  const MutexLock writing(cluster_.write_mutex_);
  if (is_idle_) return Status::Reply("ERR A controller sets the roles (CLUSTERX SETNODES). CLUSTER RESET ends that.");
  TRY(cluster_.With([&](const Topology& topology) -> Status {
    const Node& me = topology.myself();
    const Node* const master = topology.MasterOf(me);
    if (me.is_master()) return Status::Reply("ERR You should send CLUSTER FAILOVER to a replica");
    if (master == nullptr) return Status::Reply("ERR I'm a replica but my master is unknown to me");
    const bool is_down = master->flags.Has(NodeFlags::kFailed) || !master->is_connected;
    if (is_down && kind == BusProtocol::FailoverKind::kNormal) {
      return Status::Reply("ERR Master is down or failed, please use CLUSTER FAILOVER FORCE");
    }
    return Ok();
  }));
  Step([&](const BusProtocol::Input& input) { return protocol_.Failover(input, kind); });
  return Ok();
}

int ClusterBus::CountFailureReports(const NodeId& node) const {
  const int64_t validity_ms = kReportValidity * parts_.config.Number("cluster-node-timeout");
  return cluster_.With([&](const Topology&) { return protocol_.CountFailureReports(node, BusNowMs(), validity_ms); });
}

ClusterBus::Counts ClusterBus::counts() const {
  return cluster_.With([this](const Topology&) { return Counts{protocol_.counts(), links_above_limit_}; });
}

std::vector<ClusterBus::LinkRow> ClusterBus::Links() const {
  return cluster_.With([this](const Topology&) {
    std::vector<LinkRow> rows;
    for (const BusLinkRow& link : protocol_.Links()) {
      const auto buffer = buffers_.find(link.id);
      rows.push_back({link, buffer == buffers_.end() ? BusLinks::Buffer() : buffer->second});
    }
    return rows;
  });
}

void ClusterBus::CloseLinks(const NodeId& node, LinkEnds ends) {
  const MutexLock writing(cluster_.write_mutex_);
  Step([&](const BusProtocol::Input& input) { return protocol_.CloseLinks(input, node, ends); });
}

// ---- messages of clients

void ClusterBus::AddPublication(Publication publication) {
  unsent_bytes_ += publication.bytes();
  bool is_first = false;
  {
    const MutexLock lock(publications_mutex_);
    is_first = publications_.empty();
    publications_.push_back(std::move(publication));
  }
  if (is_first) links_.Wake();
}

bool ClusterBus::TakePublication(Publication& publication) {
  const MutexLock lock(publications_mutex_);
  if (publications_.empty()) return false;
  publication = std::move(publications_.front());
  publications_.pop_front();
  return true;
}

bool ClusterBus::SendPublications() {
  if (unsent_bytes_ == 0) return false;
  size_t sent = 0;
  links_.BeginBatch();
  for (Publication next; sent < kBytesPerTurn && TakePublication(next);) {
    const size_t bytes = next.bytes();
    Step([&](const BusProtocol::Input& input) {
      BusEffects effects = protocol_.Publish(input, std::move(next.body), next.is_sharded);
      sent += bytes * effects.actions.size();  // one for each node
      return effects;
    });
    unsent_bytes_ -= bytes;
  }
  links_.EndBatch();
  return sent >= kBytesPerTurn;
}

}  // namespace cairn
