// SPDX-License-Identifier: BSD-3-Clause
//
// The command families about the server as a whole, and the parts that their commands use (command/parts.h).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "command/table.h"

namespace cairn {

class Backups;
class BusyScripts;
class ClientPause;
class Cluster;
class Config;
class MemoryDatabaseSaves;
class RdbSaves;
class Replication;
class Scripting;
class ShutdownRequest;
class Users;
struct DatasetParts;
struct DebugSwitches;
struct SaveState;

struct ServerParts {
  const BusyScripts& busy_scripts;
  ClientPause& pause;
  SaveState& saves;
  RdbSaves& rdb_saves;
  MemoryDatabaseSaves& memory_databases;
  ShutdownRequest& shutdown;
};

struct BackupParts {
  Backups& backups;
  const Config& config;
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
  Cluster* cluster;  // null: cluster-enabled is no
};

std::span<const CommandRow> ServerCommands();
std::span<const CommandRow> CompactionCommands();
std::span<const CommandRow> BackupCommands();
std::span<const CommandRow> DebugCommands();
std::span<const CommandRow> LolwutCommands();
std::span<const CommandRow> ModuleCommands();

// All families, including those of other folders: the contents of the server's command table.
const std::vector<std::span<const CommandRow>>& AllFamilies();

}  // namespace cairn
