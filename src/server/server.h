// SPDX-License-Identifier: BSD-3-Clause
//
// Server: the parts of a running server, put together. Commands of server/ reach them through
// CommandContext::server(); everything else is handed the part it needs.
//
// Thread: any, as each part allows.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "acl/access_log.h"
#include "acl/users.h"
#include "base/thread.h"
#include "base/tls.h"
#include "command/dispatch.h"
#include "command/table.h"
#include "command/waiters.h"
#include "net/http_endpoint.h"
#include "net/service.h"
#include "server/client_memory.h"
#include "server/client_pause.h"
#include "server/client_registry.h"
#include "server/committer.h"
#include "server/cross_protocol.h"
#include "server/config.h"
#include "server/descriptors.h"
#include "server/latency_monitor.h"
#include "server/monitors.h"
#include "server/ports.h"
#include "server/pubsub.h"
#include "server/rdb_saves.h"
#include "server/replication.h"
#include "server/server_state.h"
#include "server/slow_log.h"
#include "server/stats.h"
#include "server/ticker.h"
#include "server/tracking.h"
#include "storage/store.h"

namespace cairn {

class Scripting;

class Server : public Service {
 public:
  Server(std::unique_ptr<Config> config, Identity identity);
  ~Server() override;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Opens the store, then the listeners; from then on clients are served. The error is for the operator.
  Status Start();
  // Ends what Start began, in an order that lets every acknowledged write reach the log. Called once, by main.
  void Stop(const ShutdownOptions& options);

  // ---- Service
  std::unique_ptr<Worker> MakeWorker() override;
  std::shared_ptr<Client> Accept(const ConnectionOrigin& origin, std::shared_ptr<ConnectionWaker> waker,
                                 std::string& refusal) override;
  void RunSlow(std::function<void(Worker&)> job) override;

  Dispatcher& dispatcher() { return dispatcher_; }
  Conditions& conditions() { return dispatcher_.conditions(); }
  Waiters& waiters() { return waiters_; }
  const Ports& ports() const { return ports_; }
  Committer& committer() { return *committer_; }

  Config& config() { return *config_; }
  Settings& settings() { return config_->settings(); }
  Limits& limits() { return config_->limits(); }
  const Identity& identity() const { return identity_; }
  const CommandTable& table() const { return table_; }
  Store& store() { return *store_; }  // REQUIRES: the server was started

  ClientRegistry& clients() { return clients_; }
  ClientMemory& client_memory() { return client_memory_; }
  Users& users() { return users_; }
  AccessLog& access_log() { return access_log_; }
  ClientPause& pause() { return pause_; }
  PubSub& pubsub() { return pubsub_; }
  Tracking& tracking() { return tracking_; }
  // Passes on what a tick that is committed has announced.
  void Tell(std::span<const Announcement> announcements) {
    pubsub_.Deliver(announcements);
    if (store_->interest() & kInterestInKeys) tracking_.Deliver(announcements);
    if (store_->interest() & kInterestInExpiries) replication_.own_expiries().Note(announcements);
  }
  Monitors& monitors() { return monitors_; }
  Scripting& scripting() { return *scripting_; }
  SlowLog& slow_log() { return slow_log_; }
  LatencyMonitor& latency() { return latency_; }
  Stats& stats() { return stats_; }
  DebugSwitches& debug() { return debug_; }
  SaveState& saves() { return saves_; }
  RdbSaves& rdb_saves() { return rdb_saves_; }
  Replication& replication() { return replication_; }
  Tls& tls() { return tls_; }
  CrossProtocolAlarm& cross_protocol() { return cross_protocol_; }
  void OnPrimaryLink(bool up) { replication_.OnPrimaryLink(up); }
  void OnStreamChanged() { replication_.OnStreamChanged(); }
  MemoryPeak& memory_peak() { return memory_peak_; }
  ShutdownRequest& shutdown() { return shutdown_; }

 private:
  const std::unique_ptr<Config> config_;
  const Identity identity_;
  CommandTable table_;
  Descriptors descriptors_{*config_};
  std::unique_ptr<Store> store_;
  ClientRegistry clients_;
  ClientMemory client_memory_{clients_, settings()};
  Users users_;
  AccessLog access_log_;
  PubSub pubsub_;
  Tracking tracking_{clients_};
  Monitors monitors_;
  SlowLog slow_log_;
  LatencyMonitor latency_;
  Stats stats_;
  DebugSwitches debug_;
  SaveState saves_;
  RdbSaves rdb_saves_{*this};
  MemoryPeak memory_peak_;
  ShutdownRequest shutdown_;
  Tls tls_;
  CrossProtocolAlarm cross_protocol_;
  Waiters waiters_;
  Dispatcher dispatcher_;
  ClientPause pause_{dispatcher_.conditions(), clients_};
  const std::unique_ptr<Scripting> scripting_;
  Replication replication_{*this};

  // What Start makes.
  Status RenameCommands();
  void BindCommands();
  Status OpenStore();
  Status LoadFunctions();
  Status OpenMetrics();
  bool IsProtectedFrom(bool is_loopback);
  void WatchSettings();
  void WatchInterest();
  void BoundTracking();
  Status FollowFsyncPolicy();
  std::vector<std::unique_ptr<Worker>> slow_workers_;  // by slow lane thread
  std::unique_ptr<Committer> committer_;
  std::unique_ptr<ThreadPool> slow_lane_;
  std::unique_ptr<Ticker> ticker_;
  Ports ports_{*this};
  std::unique_ptr<HttpEndpoint> metrics_;
};

}  // namespace cairn
