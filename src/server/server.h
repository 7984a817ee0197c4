// SPDX-License-Identifier: BSD-3-Clause
//
// Server: the parts of a running server, put together. Commands of server/ reach them through
// CommandContext::server(); everything else is handed the part it needs.
//
// Thread: any, as each part allows.
#pragma once

#include <memory>

#include "command/table.h"
#include "server/client_pause.h"
#include "server/client_registry.h"
#include "server/config.h"
#include "server/server_state.h"
#include "server/slow_log.h"
#include "server/stats.h"

namespace cairn {

class Store;

class Server {
 public:
  Server(std::unique_ptr<Config> config, Identity identity);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  Config& config() { return *config_; }
  Settings& settings() { return config_->settings(); }
  Limits& limits() { return config_->limits(); }
  const Identity& identity() const { return identity_; }
  const CommandTable& table() const { return table_; }
  Store& store() { return *store_; }  // REQUIRES: the server was started

  ClientRegistry& clients() { return clients_; }
  ClientPause& pause() { return pause_; }
  SlowLog& slow_log() { return slow_log_; }
  Stats& stats() { return stats_; }
  DebugSwitches& debug() { return debug_; }
  SaveState& saves() { return saves_; }
  ReplicationId& replication_id() { return replication_id_; }
  ShutdownRequest& shutdown() { return shutdown_; }

 private:
  const std::unique_ptr<Config> config_;
  const Identity identity_;
  CommandTable table_;
  std::unique_ptr<Store> store_;
  ClientRegistry clients_;
  ClientPause pause_;
  SlowLog slow_log_;
  Stats stats_;
  DebugSwitches debug_;
  SaveState saves_;
  ReplicationId replication_id_;
  ShutdownRequest shutdown_;
};

}  // namespace cairn
