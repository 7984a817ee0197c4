// SPDX-License-Identifier: BSD-3-Clause
//
// The families of commands that look into the server itself; command/families.h has those about
// keys.
#pragma once

#include <span>
#include <vector>

#include "command/table.h"

namespace cairn {

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
