// SPDX-License-Identifier: BSD-3-Clause
//
// The command families of this folder, and the parts that their commands use (command/parts.h).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "command/table.h"

namespace cairn {

class AccessLog;
class Backups;
class CacheWarmup;
class ClientMemory;
class ClientRegistry;
class Cluster;
class Conditions;
class Config;
class Listener;
class LiveSize;
class MemoryPeak;
class PubSub;
class RdbSaves;
class Replication;
class Scripting;
class Stats;
class Store;
class Tracking;
class Waiters;
struct Identity;
struct SaveState;
struct Settings;

struct MemoryParts {
  MemoryPeak& memory_peak;
  ClientMemory& client_memory;
  const Scripting& scripting;
  const Settings& settings;
};

struct ReportParts {
  const Identity& identity;
  const Config& config;
  const Settings& settings;
  const Conditions& conditions;
  const CommandTable& table;
  Store& store;
  Stats& stats;
  MemoryPeak& memory_peak;
  LiveSize& live_size;
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
  const SaveState& memory_database_saves;
  const Backups& backups;
  const CacheWarmup& cache_warmup;
  Replication& replication;
  Cluster* cluster;  // null: cluster-enabled is no
};

std::span<const CommandRow> InfoCommands();
std::span<const CommandRow> MemoryCommands();

}  // namespace cairn
