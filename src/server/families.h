// SPDX-License-Identifier: BSD-3-Clause
//
// The families of commands that look into the server as a whole, and the parts that they are given (command/parts.h).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "command/table.h"

namespace cairn {

class BusyScripts;
class ClientPause;
class Config;
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
  ShutdownRequest& shutdown;
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

std::span<const CommandRow> ServerCommands();
std::span<const CommandRow> DebugCommands();
std::span<const CommandRow> LolwutCommands();
std::span<const CommandRow> ModuleCommands();
std::span<const CommandRow> ClusterCommands();

// Every family there is, those of other folders included: what the server's table is made of.
const std::vector<std::span<const CommandRow>>& AllFamilies();

}  // namespace cairn
