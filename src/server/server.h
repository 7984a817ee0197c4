// SPDX-License-Identifier: BSD-3-Clause
//
// Server: builds the parts of a running server. Each part, and each family of commands, gets references to the parts
// that it uses.
//
// Thread: any, as each part allows.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/tls.h"
#include "client/client_pause.h"
#include "client/client_session.h"
#include "command/dispatch.h"
#include "command/table.h"
#include "command/waiters.h"
#include "config/config.h"
#include "net/http_endpoint.h"
#include "net/service.h"
#include "replication/memory_database_saves.h"
#include "replication/rdb_saves.h"
#include "replication/reload.h"
#include "replication/replication.h"
#include "server/client_services.h"
#include "server/command_statistics.h"
#include "server/command_worker.h"
#include "server/committer.h"
#include "server/cron.h"
#include "server/descriptors.h"
#include "server/ports.h"
#include "server/slow_lane.h"
#include "stats/server_state.h"
#include "storage/store.h"

namespace cairn {

class Cluster;
class SlotMove;
class Scripting;

class Server : public Service {
 public:
  Server(std::unique_ptr<Config> config, Identity identity);
  ~Server() override;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Checks what Start refuses before it opens anything: certificates, renamed commands, users, storage modes. The error
  // is for the operator. Called once, by Start or instead of it.
  Status CheckConfig();
  // Opens the store and then the listeners, and serves clients from then on. The error is for the operator.
  Status Start();
  // Makes the save without which a signal must not end the server. Clients are served meanwhile, and after an error.
  // REQUIRES: Start has succeeded.
  Status SaveBeforeEnd();
  // Undoes Start, in an order that lets every acknowledged write reach the log. Called once, by main.
  void Stop(const ShutdownOptions& options);

  // ---- Service
  std::unique_ptr<Worker> MakeWorker() override;
  std::shared_ptr<Client> Accept(const ConnectionOrigin& origin, std::shared_ptr<ConnectionWaker> waker,
                                 std::string& refusal) override;
  void RunSlow(SlowJob job) override;

  ShutdownRequest& shutdown() { return shutdown_; }

 private:
  Settings& settings() { return config_->settings(); }
  Conditions& conditions() { return dispatcher_.conditions(); }
  // The client has disconnected.
  void Forget(ClientSession& session);

  const std::unique_ptr<Config> config_;
  const Identity identity_;
  CommandTable table_;
  Descriptors descriptors_{*config_};
  std::unique_ptr<Store> store_;
  ClientServices clients_;
  CommandStatistics stats_;
  DebugSwitches debug_;
  ShutdownRequest shutdown_;
  Tls tls_;
  Waiters waiters_;
  Dispatcher dispatcher_;
  ClientPause pause_{dispatcher_.conditions(), clients_.registry};
  const std::unique_ptr<Scripting> scripting_;

  // Steps of Start.
  Status RenameCommands();
  void MakeParts();
  void BindCommands();
  Replication::Parts PartsOfReplication();
  Cron::Parts PartsOfCron();
  std::unique_ptr<Cluster> MakeCluster();
  std::unique_ptr<SlotGate> MakeSlotGate(const Cluster* cluster);
  std::unique_ptr<SlotMove> MakeSlotMove(Cluster* cluster);
  Status StartCluster();
  void AwaitReplicas();
  void StopSaves(const ShutdownOptions& options);
  Status OpenStore();
  Status LoadFunctions();
  Status OpenMetrics();
  bool IsProtectedFrom(bool is_loopback);
  void WatchSettings();
  void WatchInterest();
  void WatchCompactions();
  BlobOptions BlobSettings();
  void WatchBlobs();
  void LimitMemory();
  void NoteEvictionPolicy();
  std::unique_ptr<const DatasetParts> dataset_;
  // The writers of RDB files in the data directory.
  struct RdbFiles {
    RdbFiles(Store& store, Config& config) : saves(store, config), memory_databases(store, config) {}
    RdbSaves saves;
    MemoryDatabaseSaves memory_databases;
  };
  std::unique_ptr<RdbFiles> rdb_files_;
  std::unique_ptr<Replication> replication_;
  struct CommandParts;
  std::unique_ptr<const CommandParts> command_parts_;
  std::unique_ptr<const BaseWorker::Parts> worker_parts_;
  const ClientSession::Parts session_parts_;
  std::unique_ptr<Committer> committer_;
  std::unique_ptr<SlowLane> slow_lane_;
  std::unique_ptr<Cron> cron_;
  Ports ports_{*this, *config_, tls_};
  std::unique_ptr<HttpEndpoint> metrics_;
};

}  // namespace cairn
