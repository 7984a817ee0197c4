// SPDX-License-Identifier: BSD-3-Clause
//
// The command families of this folder, and the parts that their commands use (command/parts.h).
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "command/table.h"

namespace cairn {

class AccessLog;
class ClientMemory;
class ClientPause;
class ClientRegistry;
class Conditions;
class Config;
class Monitors;
class PubSub;
class Tracking;
class Users;
struct Settings;

struct AclParts {
  Config& config;
  Users& users;
  AccessLog& access_log;
  ClientRegistry& clients;
  PubSub& pubsub;
};

struct ConnectionParts {
  const Settings& settings;
  const Conditions& conditions;
  Users& users;
  AccessLog& access_log;
  Monitors& monitors;
  Tracking& tracking;
};

struct ClientParts {
  const Settings& settings;
  ClientRegistry& clients;
  ClientMemory& memory;
  ClientPause& pause;
  Users& users;
  Tracking& tracking;
  // Breaks the link to the primary; false if there is none, or if it is not at the address (empty: any).
  std::function<bool(std::string_view address)> break_primary_link;
};

std::span<const CommandRow> AclCommands();
std::span<const CommandRow> ConnectionCommands();
std::span<const CommandRow> ClientCommands();
std::span<const CommandRow> PubSubCommands();
std::span<const CommandRow> MonitorCommands();

}  // namespace cairn
