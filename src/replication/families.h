// SPDX-License-Identifier: BSD-3-Clause
//
// The command families of this folder, and the parts that their commands use (command/parts.h).
#pragma once

#include <span>

#include "command/table.h"

namespace cairn {

class Replication;
class Tls;
struct Settings;

struct ReplicationParts {
  Replication& replication;
  const Settings& settings;
  const Tls* migrate_tls;  // null: MIGRATE uses no TLS (directive tls-cluster)
};

std::span<const CommandRow> MigrateCommands();
std::span<const CommandRow> ReplicationCommands();

}  // namespace cairn
