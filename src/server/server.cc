// SPDX-License-Identifier: BSD-3-Clause
#include "server/server.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/clock.h"
#include "base/log.h"
#include "base/version.h"
#include "base/words.h"
#include "client/accounts.h"
#include "client/client_session.h"
#include "client/families.h"
#include "cluster/cluster.h"
#include "cluster/families.h"
#include "cluster/slot_migrations.h"
#include "cluster/slot_move.h"
#include "command/access.h"
#include "command/parts.h"
#include "config/directive_syntax.h"
#include "config/families.h"
#include "config/file_directives.h"
#include "config/tls_settings.h"
#include "replication/families.h"
#include "replication/reload.h"
#include "replication/saving.h"
#include "report/families.h"
#include "report/status_page.h"
#include "script/families.h"
#include "script/library_store.h"
#include "script/scripting.h"
#include "server/command_worker.h"
#include "server/database_settings.h"
#include "server/families.h"
#include "stats/families.h"
#include "stats/process_memory.h"
#include "storage/backups.h"
#include "storage/cache_warmup.h"
#include "storage/compaction_pace.h"
#include "storage/disk_reserve.h"
#include "storage/store.h"
#include "types/json.h"

namespace cairn {
namespace {

constexpr std::string_view kProtected =
    "-DENIED Cairn is running in protected mode because protected mode is enabled and no password is set for "
    "the default user. In this mode connections are only accepted from the loopback interface. Set "
    "'requirepass', or 'protected-mode no', to accept connections from elsewhere.\r\n";

constexpr int64_t kShutdownTimeoutMs = 10000;
constexpr int64_t kShutdownPauseMs = 24 * 3600 * 1000;  // at most; the server ends before

}  // namespace

Server::Server(std::unique_ptr<Config> config, Identity identity)
    : config_(std::move(config)), identity_(std::move(identity)), table_(AllFamilies()),
      clients_(MakeCatalogue(table_), settings()), stats_(settings(), table_.index_count()),
      dispatcher_(table_, config_->limits(), waiters_),
      scripting_(std::make_unique<Scripting>(
          settings().busy_reply_threshold_ms, dispatcher_.busy_scripts(), dispatcher_.conditions(),
          [this] { return clients_.monitors.any(); }, ScriptMemory::ShareOf(MemoryBudget(settings())))),
      session_parts_{settings(),        config_->limits(),
                     clients_.users,    clients_.registry,
                     clients_.memory,   dispatcher_,
                     clients_.pubsub,   clients_.tracking,
                     clients_.monitors, [this](ClientSession& session) { Forget(session); }} {
  dispatcher_.set_denial_listener([this](Session& session, DenialReason reason, std::string_view object) {
    LogDenial(clients_.access_log, table_, session, reason, object, session.login.user_name());
  });
}

Server::~Server() = default;

// ---- start and stop

Replication::Parts Server::PartsOfReplication() {
  return {
      conditions(),
      clients_.registry,
      pause_,
      clients_.writable_replica_expires,
      {*store_,
       *config_,
       tls_,
       *dataset_,
       {*store_, *config_, dispatcher_, table_, stats_.counters, stats_.logs, clients_.monitors, clients_.notifier}}};
}

Cron::Parts Server::PartsOfCron() {
  return Cron::Parts(*store_, *config_, conditions(), debug_, clients_.memory, pause_, rdb_files_->saves,
                     rdb_files_->memory_databases, *replication_, clients_.writable_replica_expires, clients_.notifier,
                     stats_.counters, stats_.latency, stats_.live_size);
}

// Creates the parts that need the store. REQUIRES: the store is open.
void Server::MakeParts() {
  dataset_ = std::make_unique<const DatasetParts>(*store_, *config_, conditions(), *scripting_, clients_.notifier);
  rdb_files_ = std::make_unique<RdbFiles>(*store_, *config_);
  replication_ = std::make_unique<Replication>(PartsOfReplication());
  dispatcher_.set_primary_address([this] {
    const auto primary = replication_->primary();
    return primary ? primary->host + ":" + std::to_string(primary->port) : std::string();
  });
  worker_parts_ = std::make_unique<const BaseWorker::Parts>(
      *store_, dispatcher_, table_, *scripting_, clients_.notifier, clients_.pubsub, clients_.monitors,
      replication_->replicas(), pause_, stats_.counters, stats_.logs, stats_.latency, stats_.hot_keys, stats_.slots,
      clients_.cross_protocol);
}

// The parts for the command families that take more than one part.
struct Server::CommandParts {
  explicit CommandParts(Server& server);

  // Only commands use these.
  const std::unique_ptr<Cluster> cluster;  // null without cluster-enabled, like the gate
  const std::unique_ptr<SlotGate> slot_gate;
  const std::unique_ptr<SlotMove> slot_move;
  const std::unique_ptr<Backups> backups;
  const std::unique_ptr<CacheWarmup> cache_warmup;
  AclParts acl;
  ConnectionParts connection;
  ClientParts client;
  ServerParts server;
  BackupParts backup;
  ConfigParts config;
  LatencyParts latency;
  MemoryParts memory;
  ReplicationParts replication;
  DebugParts debug;
  ReportParts report;
  ClusterParts cluster_parts;
};

Server::CommandParts::CommandParts(Server& s)
    : cluster(s.MakeCluster()), slot_gate(s.MakeSlotGate(cluster.get())), slot_move(s.MakeSlotMove(cluster.get())),
      backups(std::make_unique<Backups>(s.store_->engine())), cache_warmup(std::make_unique<CacheWarmup>(*s.store_)),
      acl{*s.config_, s.clients_.users, s.clients_.access_log, s.clients_.registry, s.clients_.pubsub},
      connection{s.settings(),          s.conditions(),      s.clients_.users,
                 s.clients_.access_log, s.clients_.monitors, s.clients_.tracking},
      client(s.settings(), s.clients_.registry, s.clients_.memory, s.pause_, s.clients_.users, s.clients_.tracking,
             [&replication = *s.replication_](std::string_view address) { return replication.BreakLink(address); }),
      server{s.dispatcher_.busy_scripts(),   s.pause_,   s.rdb_files_->saves.state(), s.rdb_files_->saves,
             s.rdb_files_->memory_databases, s.shutdown_},
      backup{*backups, *s.config_}, config{*s.config_, s.clients_.users, s.identity_.config_file,
                                           [&s] {
                                             s.stats_.counters.Reset();
                                             s.stats_.slots.Reset();
                                             s.clients_.memory.ResetStats();
                                           }},
      latency{s.stats_.latency, s.stats_.counters, s.settings()},
      memory{s.stats_.memory_peak, s.clients_.memory, *s.scripting_, s.settings()},
      replication{*s.replication_, s.settings(), s.config_->Flag("tls-cluster") ? &s.tls_ : nullptr},
      debug{*s.config_,
            s.clients_.users,
            s.identity_.config_file,
            s.debug_,
            *s.scripting_,
            s.rdb_files_->saves.state(),
            s.rdb_files_->saves,
            *s.replication_,
            *s.dataset_,
            cluster.get()},
      report(
          s.identity_, *s.config_, s.settings(), s.conditions(), s.table_, *s.store_, s.stats_.counters,
          s.stats_.memory_peak, s.stats_.live_size, [&ports = s.ports_] { return ports.All(); }, s.clients_.registry,
          s.clients_.memory, s.clients_.access_log, s.clients_.pubsub, s.clients_.tracking, s.waiters_, *s.scripting_,
          s.rdb_files_->saves.state(), s.rdb_files_->saves, s.rdb_files_->memory_databases.state(), *backups,
          *cache_warmup, *s.replication_, cluster.get()),
      cluster_parts{cluster.get(), *s.replication_, s.stats_.slots, slot_move.get()} {}

void Server::Forget(ClientSession& session) {
  replication_->Forget(session);
  if (command_parts_ == nullptr || command_parts_->cluster == nullptr) return;
  command_parts_->cluster->migrations().imports().OnClosed(session);
}

std::unique_ptr<Cluster> Server::MakeCluster() {
  if (!settings().cluster_enabled) return nullptr;
  return std::make_unique<Cluster>(Cluster::Parts{*store_, *config_, clients_.registry, *replication_, pause_,
                                                  clients_.pubsub, clients_.notifier, stats_.slots, tls_, table_});
}

std::unique_ptr<SlotGate> Server::MakeSlotGate(const Cluster* cluster) {
  if (cluster == nullptr) return nullptr;
  const SlotGate::Rules rules{settings().cluster_allow_reads_when_down, settings().cluster_allow_pubsubshard_when_down};
  return std::make_unique<SlotGate>(cluster->routes(), table_, rules);
}

std::unique_ptr<SlotMove> Server::MakeSlotMove(Cluster* cluster) {
  if (cluster == nullptr) return nullptr;
  return std::make_unique<SlotMove>(
      SlotMove::Parts{*cluster, *store_, *config_, dispatcher_, pause_, clients_.notifier, tls_});
}

// REQUIRES: the store is open, and no client is served yet.
Status Server::StartCluster() {
  Cluster* const cluster = command_parts_->cluster.get();
  if (cluster == nullptr) return Ok();
  TRY(cluster->Start());
  dispatcher_.set_slot_gate(command_parts_->slot_gate.get());
  scripting_->set_slot_gate(command_parts_->slot_gate.get());
  const auto follow_slot_stats = [this] {
    stats_.slots.set_on(config_->Flag("cluster-slot-stats-enabled"));
    return Ok();
  };
  TRY(follow_slot_stats());
  config_->Watch("cluster-slot-stats-enabled", follow_slot_stats);
  for (const std::string_view name :
       {"cluster-announce-ip", "cluster-announce-hostname", "cluster-announce-human-nodename", "cluster-announce-port",
        "cluster-announce-tls-port", "cluster-announce-bus-port", "cluster-preferred-endpoint-type",
        "cluster-require-full-coverage"}) {
    config_->Watch(name, [cluster] { return cluster->FollowSettings(); });
  }
  return Ok();
}

void Server::BindCommands() {
  command_parts_ = std::make_unique<const CommandParts>(*this);
  const CommandParts& parts = *command_parts_;
  Bind(table_, AclCommands(), parts.acl);
  Bind(table_, ConnectionCommands(), parts.connection);
  Bind(table_, ClientCommands(), parts.client);
  Bind(table_, ServerCommands(), parts.server);
  Bind(table_, BackupCommands(), parts.backup);
  Bind(table_, ClusterCommands(), parts.cluster_parts);
  Bind(table_, ClusterxCommands(), parts.cluster_parts);
  Bind(table_, ConfigCommands(), parts.config);
  Bind(table_, LatencyCommands(), parts.latency);
  Bind(table_, MemoryCommands(), parts.memory);
  Bind(table_, ReplicationCommands(), parts.replication);
  Bind(table_, MigrateCommands(), parts.replication);
  Bind(table_, DebugCommands(), parts.debug);
  Bind(table_, InfoCommands(), parts.report);
  Bind(table_, PubSubCommands(), clients_.pubsub);
  Bind(table_, MonitorCommands(), clients_.monitors);
  Bind(table_, CommandLogCommands(), stats_.logs);
  Bind(table_, HotKeysCommands(), stats_.hot_keys);
  for (const auto& family : {EvalCommands(), ScriptCommands(), FunctionCommands()}) {
    Bind(table_, family, *scripting_);
  }
  ASSERT(table_.IsBound(), "every family has the parts that it takes");
}

Status Server::RenameCommands() {
  for (const std::string& line : config_->Words("rename-command")) {
    const std::vector<std::string> words = *SplitWords(line);
    const Status renamed = table_.Rename(words[0], words[1]);
    if (!renamed.ok()) return Status::Io(fmt::format("rename-command '{}': {}", words[0], renamed.text()));
  }
  return Ok();
}

Status Server::OpenStore() {
  StoreOptions options;
  options.most_open_tables = TRY(descriptors_.Divide());
  options.dir = config_->Text("dir");
  options.databases = static_cast<int>(settings().databases);
  options.modes = TRY(ConfiguredModes(*config_));
  options.budget = Budget::Of(MemoryBudget(settings()));
  ArrangeMemory(options.budget.total);
  options.compaction_bytes_per_second = static_cast<uint64_t>(settings().compaction_rate_limit.load());
  options.background_jobs = static_cast<int>(settings().max_background_jobs);
  options.subcompactions = static_cast<int>(settings().rocksdb_max_subcompactions);
  options.wal_bytes = static_cast<uint64_t>(settings().rocksdb_max_wal_size.load());
  options.blobs = BlobSettings();
  options.direct_io = settings().rocksdb_direct_io;
  options.keeps_logs = true;
  options.bottom_zstd =
      static_cast<BottomCompression>(settings().rocksdb_bottom_compression.load()) == BottomCompression::kZstd;
  if (mkdir(options.dir.c_str(), 0750) != 0 && errno != EEXIST) {
    return Status::Io("cannot create the directory " + options.dir + ": " + strerror(errno));
  }
  store_ = TRY(OpenWithRoom(options));
  store_->set_listener(&waiters_);
  store_->engine().disk_reserve().set_listener([this](DiskReserve::Level level) {
    conditions().Set(kLowOnDisk, level != DiskReserve::Level::kPlenty);
    conditions().Set(kFullDisk, level == DiskReserve::Level::kFull);
  });
  store_->disk_room().SetReserve(static_cast<uint64_t>(settings().min_free_disk.load()));
  clients_.tracking.set_store(*store_);
  stats_.counters.set_keyspace(&store_->counters());
  return Ok();
}

Status Server::LoadFunctions() {
  const std::unique_ptr<Transaction> txn = std::make_unique<Transaction>(*store_);
  return scripting_->Load(TRY(ReadLibraryRows(*txn)));
}

Status Server::OpenMetrics() {
  const auto port = static_cast<int>(settings().metrics_port);
  if (port == 0) return Ok();
  StatusParts parts{command_parts_->report, config_->limits(), stats_.logs.slow, stats_.hot_keys, {}};
  const ClusterParts& cluster = command_parts_->cluster_parts;
  if (cluster.cluster != nullptr) parts.cluster_info = [&cluster] { return DescribeCluster(cluster); };
  HttpSite site{.pages = MetricsPages(parts),
                .may_read = [this](bool is_loopback) { return !IsProtectedFrom(is_loopback); }};
  metrics_ = TRY(HttpEndpoint::Open(config_->Words("bind"), port, std::move(site)));
  return Ok();
}

void Server::WatchSettings() {
  for (const std::string_view name :
       {"replica-read-only", "replica-serve-stale-data", "min-replicas-to-write", "min-replicas-max-lag"}) {
    config_->Watch(name, [this] {
      replication_->UpdateConditions();
      return Ok();
    });
  }
  config_->Watch("dbfilename", [this] { return CheckDbFilename(*config_); });
  config_->Watch("requirepass", [this] {
    clients_.users.SetDefaultPassword(config_->Text("requirepass"));
    return Ok();
  });
  const auto warm_up = [this] {
    command_parts_->cache_warmup->Enable(config_->Flag("key-cache-warmup"));
    return Ok();
  };
  static_cast<void>(warm_up().ok());
  config_->Watch("key-cache-warmup", warm_up);
  config_->Watch("maxclients", [this] { return descriptors_.Apply(*store_); });
  config_->Watch("memory-budget", [this] {
    if (MemoryBudget(settings()) > MachineMemory()) return Status::Reply("it is more than the memory of the machine");
    store_->memory().Set(Budget::Of(MemoryBudget(settings())));
    clients_.memory.FollowSettings();
    scripting_->SetMostBytes(ScriptMemory::ShareOf(MemoryBudget(settings())));
    LimitMemory();
    return Ok();
  });
  LimitMemory();
  const auto limit_data = [this] {
    NoteEvictionPolicy();
    if (cron_ != nullptr) cron_->size_limit().Watch();
    return Ok();
  };
  NoteEvictionPolicy();
  for (const std::string_view name : {"max-data-size", "maxmemory", "maxmemory-policy"}) {
    config_->Watch(name, limit_data);
  }
  config_->Watch("maxmemory-clients", [this] {
    clients_.memory.FollowSettings();
    return Ok();
  });
  clients_.memory.FollowSettings();
  const auto track_latency = [this] {
    stats_.counters.set_tracks_latency(settings().latency_tracking);
    return Ok();
  };
  static_cast<void>(track_latency().ok());
  config_->Watch("latency-tracking", track_latency);
  WatchInterest();
  WatchTls(*config_, tls_);
  config_->Watch("min-free-disk", [this] {
    store_->disk_room().SetReserve(static_cast<uint64_t>(settings().min_free_disk.load()));
    return Ok();
  });
  config_->Watch("compaction-rate-limit", [this] {
    store_->engine().compaction_pace().SetLimit(static_cast<uint64_t>(settings().compaction_rate_limit.load()));
    return Ok();
  });
  WatchCompactions();
  WatchBlobs();
}

BlobOptions Server::BlobSettings() {
  return {.min_bytes = static_cast<uint64_t>(settings().rocksdb_blob_min_size.load()),
          .file_bytes = static_cast<uint64_t>(settings().rocksdb_blob_file_size.load()),
          .compression = static_cast<BlobCompression>(settings().rocksdb_blob_compression.load()),
          .garbage_percent = static_cast<int>(settings().blob_garbage_share),
          .garbage_step_bytes = static_cast<uint64_t>(settings().blob_garbage_step.load())};
}

void Server::WatchBlobs() {
  for (const std::string_view name : {"rocksdb-blob-min-size", "rocksdb-blob-file-size", "rocksdb-blob-compression",
                                      "blob-garbage-share", "blob-garbage-step"}) {
    config_->Watch(name, [this] { return store_->engine().blob_files().Set(BlobSettings()); });
  }
}

void Server::WatchCompactions() {
  constexpr int64_t kHourMs = 3600 * 1000;
  const auto schedule = [this] {
    store_->compactor().SetSchedule({.after_writes = static_cast<uint64_t>(settings().compaction_after_writes.load()),
                                     .interval_ms = settings().compaction_interval_hours * kHourMs,
                                     .window = {static_cast<int>(settings().compaction_window_begin),
                                                static_cast<int>(settings().compaction_window_end)}});
    return Ok();
  };
  static_cast<void>(schedule().ok());
  for (const std::string_view name : {"compaction-after-writes", "compaction-interval-hours", "compaction-window"}) {
    config_->Watch(name, schedule);
  }
}

// Sets the limits that are shares of memory-budget and not of its division (storage/budget.h).
void Server::LimitMemory() {
  constexpr uint64_t kTrackingPart = 16;  // the divisor of memory-budget
  const uint64_t budget = MemoryBudget(settings());
  clients_.tracking.SetMostBytes(budget / kTrackingPart);
  config_->limits().command_max_memory = static_cast<int64_t>(CommandShareOf(budget));
  config_->limits().json_max_memory = static_cast<int64_t>(Json::ShareOf(budget));
}

// The key cache observes uses only for a policy that asks for them.
void Server::NoteEvictionPolicy() {
  static constexpr std::string_view kPolicy[] = {"maxmemory-policy"};
  const std::string policy = config_->Get(kPolicy).front().second;
  store_->cache().CountUses(policy.ends_with("-lfu"));
  store_->cache().RememberUses(MaxDataSize(settings()) > 0 && (policy.ends_with("-lru") || policy.ends_with("-lfu")));
}

// Updates, when settings change, which notifications are wanted.
void Server::WatchInterest() {
  const auto events = [this] {
    store_->interests().Set(kEventClasses, EventInterest(config_->Words("notify-keyspace-events")));
    return Ok();
  };
  static_cast<void>(events().ok());
  config_->Watch("notify-keyspace-events", events);
  const auto bind = [this](std::string_view name, InterestMask bit) {
    const auto take = [this, name, bit] {
      store_->interests().Set(bit, config_->Flag(name) ? bit : 0);
      return Ok();
    };
    static_cast<void>(take().ok());
    config_->Watch(name, take);
  };
  const auto limit_keys = [this] {
    clients_.tracking.SetMostKeys(static_cast<uint64_t>(config_->Number("tracking-table-max-keys")));
    return Ok();
  };
  static_cast<void>(limit_keys().ok());
  config_->Watch("tracking-table-max-keys", limit_keys);
  bind("lazyfree-lazy-expire", kUnlinksExpired);
  bind("lazyfree-lazy-user-del", kUnlinksDeleted);
}

Status Server::CheckConfig() {
  if (UsesTls(*config_)) TRY(ConfigureTls(*config_, tls_));
  TRY(RenameCommands());
  if (auto modes = ConfiguredModes(*config_); !modes.ok()) return std::move(modes).TakeStatus();
  return LoadUsers(clients_.users, *config_);
}

Status Server::Start() {
  const int64_t started_us = MonotonicUs();
  Log(LogSeverity::kNotice, "Cairn {} is starting, PID: {}, data directory: {}", kCairnVersion, getpid(),
      config_->Text("dir"));
  TRY(CheckConfig());
  std::error_code error;  // OpenStore reports it
  const bool is_new = !std::filesystem::exists(config_->Text("dir") + "/CURRENT", error);
  TRY(OpenStore());
  MakeParts();
  BindCommands();
  TRY(FollowDatabaseSettings(*config_, *store_));
  TRY(LoadFunctions());
  WatchSettings();
  rdb_files_->saves.DeleteUnfinished();
  TRY(ReadFirstRdbFile(*dataset_, rdb_files_->saves.Path(), is_new));
  TRY(rdb_files_->memory_databases.Load());
  rdb_files_->saves.state().last_unix_s = identity_.started_unix_s;  // the data found at the start is on the disk
  committer_ = std::make_unique<Committer>(*store_, stats_.latency);
  const auto threads = static_cast<int>(settings().slow_threads);
  slow_lane_ = std::make_unique<SlowLane>(threads, *worker_parts_);
  TRY(replication_->Start());
  TRY(StartCluster());
  cron_ = std::make_unique<Cron>(PartsOfCron());
  store_->compactor().Start();
  TRY(ports_.Open());
  TRY(OpenMetrics());
  if (Cluster* const cluster = command_parts_->cluster.get(); cluster != nullptr) TRY(cluster->StartBus());
  ports_.Start();
  command_parts_->cache_warmup->Start();
  // Without what has a part of its own in INFO.
  const uint64_t caches = store_->cache().usage() + store_->engine().BlockCacheBytes();
  const uint64_t allocated = ProcessMemory::Read().allocated;
  stats_.memory_peak.NoteStart(allocated - std::min(allocated, caches));
  Log(LogSeverity::kNotice, "Data opened in {} ms. Ready to accept connections.", (MonotonicUs() - started_us) / 1000);
  return Ok();
}

Status Server::SaveBeforeEnd() {
  ShutdownOptions options;
  return SaveBeforeShutdown({*store_, pause_, rdb_files_->saves, rdb_files_->memory_databases}, options);
}

void Server::StopSaves(const ShutdownOptions& options) {
  rdb_files_->saves.Stop();
  if (!options.no_save) static_cast<void>(rdb_files_->memory_databases.SaveAtEnd().ok());  // the log has the outcome
  rdb_files_->memory_databases.Stop();
}

// Stops new work first, then finishes the work in progress, then delivers its results.
void Server::Stop(const ShutdownOptions& options) {
  metrics_.reset();
  scripting_->EndAll();
  if (!options.now && committer_ != nullptr) AwaitReplicas();
  if (command_parts_ != nullptr && command_parts_->cluster != nullptr) {
    command_parts_->slot_move->Stop();
    command_parts_->cluster->StopBus();
  }
  if (replication_ != nullptr) replication_->StopLinks();
  if (store_ != nullptr) store_->compactor().Stop();  // clients of the slow lane may wait for it
  if (command_parts_ != nullptr) {
    command_parts_->backups->Stop();
    command_parts_->cache_warmup->Stop(!options.now);
  }
  ports_.Stop();
  if (slow_lane_ != nullptr) slow_lane_->Stop();
  // SHUTDOWN SAVE has saved, but commands that had passed the gates before it held writes back may have changed data.
  const bool has_changed =
      store_ != nullptr && store_->counters().changes.load() != rdb_files_->saves.state().changes_before;
  if (options.save && has_changed && !replication_->primary()) static_cast<void>(rdb_files_->saves.SaveAtEnd().ok());
  if (rdb_files_ != nullptr) StopSaves(options);
  if (committer_ != nullptr) committer_->Stop();
  cron_.reset();
  ports_.Clear();
  if (replication_ != nullptr) replication_->Stop();
  slow_lane_.reset();
  committer_.reset();
  if (store_ == nullptr) return;
  const Status synced = options.save ? store_->engine().Flush() : store_->log().Sync();
  if (!synced.ok()) Log(LogSeverity::kWarning, "storage: the last sync failed: {}", synced.text());
  store_->EndsWithProcess();
  store_.reset();
}

// Gives lagging replicas time to receive the end of the stream, while writes are held back. A replica in its first
// transfer is not waited for: it must reconnect anyway.
void Server::AwaitReplicas() {
  Replication& replication = *replication_;
  if (replication.replicas().count() == 0) return;
  const int64_t now_ms = MonotonicMs();
  pause_.Begin(ClientPause::Purpose::kShutdown, ClientPause::Mode::kWrites, now_ms, now_ms + kShutdownPauseMs);
  // Writes in progress go on, and their clients get replies.
  if (!AwaitCommits(*store_).ok()) return;
  const Result<uint64_t> end = replication.log().ReadOffset();
  if (!end.ok()) return;
  replication.log().WantAcks();
  replication.replicas().AwaitAcked(*end, MonotonicMs() + kShutdownTimeoutMs);
}

// ---- Service

std::unique_ptr<Worker> Server::MakeWorker() { return std::make_unique<FastWorker>(*worker_parts_, *committer_); }

// protected-mode: without a password, only clients of this machine are served.
bool Server::IsProtectedFrom(bool is_loopback) {
  return settings().protected_mode && clients_.users.default_user()->rules()->nopass() && !is_loopback;
}

std::shared_ptr<Client> Server::Accept(const ConnectionOrigin& origin, std::shared_ptr<ConnectionWaker> waker,
                                       std::string& refusal) {
  if (IsProtectedFrom(origin.is_loopback)) {
    refusal = kProtected;
    stats_.counters.OnConnection(false);
    return nullptr;
  }
  auto session = std::make_shared<ClientSession>(clients_.registry.NextId(), session_parts_, origin, std::move(waker));
  if (!clients_.registry.Add(session, static_cast<size_t>(settings().maxclients.load()))) {
    refusal = kTooManyClients;
    stats_.counters.OnConnection(false);
    return nullptr;
  }
  stats_.counters.OnConnection(true);
  return session;
}

void Server::RunSlow(SlowJob job) { slow_lane_->Run(std::move(job)); }

}  // namespace cairn
