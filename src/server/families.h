// SPDX-License-Identifier: BSD-3-Clause
//
// The families of commands that look into the server itself, and the parts of it that each is given (command/parts.h);
// command/families.h has those about keys.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "command/table.h"

namespace cairn {

class AccessLog;
class BusyScripts;
class ClientMemory;
class ClientPause;
class ClientRegistry;
class Conditions;
class Config;
class LatencyMonitor;
class Listener;
class MemoryPeak;
class Monitors;
class PubSub;
class RdbSaves;
class Replication;
class Scripting;
class ShutdownRequest;
class Stats;
class Tracking;
class Users;
class Waiters;
struct DatasetParts;
struct DebugSwitches;
struct Identity;
struct SaveState;
struct Settings;

struct AclParts {
  Config& config;
  Users& users;
  AccessLog& access_log;
  ClientRegistry& clients;
  PubSub& pubsub;
};

struct ConnectionParts {
  Users& users;
  AccessLog& access_log;
  Monitors& monitors;
  Tracking& tracking;
};

struct ClientParts {
  ClientRegistry& clients;
  ClientMemory& memory;
  ClientPause& pause;
  Users& users;
  Tracking& tracking;
  std::function<bool()> break_primary_link;  // false: there is none
};

struct ServerParts {
  const BusyScripts& busy_scripts;
  ClientPause& pause;
  SaveState& saves;
  RdbSaves& rdb_saves;
  ShutdownRequest& shutdown;
};

struct ConfigParts {
  Config& config;
  Users& users;
  const std::string& config_file;
  std::function<void()> reset_stats;
};

struct LatencyParts {
  LatencyMonitor& latency;
  Stats& stats;
  const Settings& settings;
};

struct MemoryParts {
  MemoryPeak& memory_peak;
  ClientMemory& client_memory;
  const Scripting& scripting;
  const Settings& settings;
};

struct ReplicationParts {
  Replication& replication;
  const Settings& settings;
};

struct DebugParts {
  Config& config;
  Users& users;
  const std::string& config_file;
  DebugSwitches& switches;
  Scripting& scripting;
  SaveState& saves;
  RdbSaves& rdb_saves;
  Replication& replication;
  const DatasetParts& dataset;
};

// INFO's.
struct ReportParts {
  const Identity& identity;
  const Config& config;
  const Settings& settings;
  const Conditions& conditions;
  Stats& stats;
  MemoryPeak& memory_peak;
  std::function<std::vector<Listener*>()> listeners;
  ClientRegistry& clients;
  ClientMemory& client_memory;
  AccessLog& access_log;
  PubSub& pubsub;
  Tracking& tracking;
  Waiters& waiters;
  Scripting& scripting;
  SaveState& saves;
  RdbSaves& rdb_saves;
  Replication& replication;
};

std::span<const CommandRow> AclCommands();
std::span<const CommandRow> ConnectionCommands();
std::span<const CommandRow> ClientCommands();
std::span<const CommandRow> ServerCommands();
std::span<const CommandRow> ConfigCommands();
std::span<const CommandRow> SlowLogCommands();
std::span<const CommandRow> InfoCommands();
std::span<const CommandRow> DebugCommands();
std::span<const CommandRow> LatencyCommands();
std::span<const CommandRow> LolwutCommands();
std::span<const CommandRow> MemoryCommands();
std::span<const CommandRow> ModuleCommands();
std::span<const CommandRow> ClusterCommands();
std::span<const CommandRow> PubSubCommands();
std::span<const CommandRow> MonitorCommands();
std::span<const CommandRow> ReplicationCommands();

// Every family there is, those of other folders included: what the server's table is made of.
const std::vector<std::span<const CommandRow>>& AllFamilies();

}  // namespace cairn
