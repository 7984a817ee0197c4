// SPDX-License-Identifier: BSD-3-Clause
//
// The command families of this folder, and the parts that their commands use (command/parts.h).
#pragma once

#include <functional>
#include <span>
#include <string>

#include "command/table.h"

namespace cairn {

class Config;
class Users;

struct ConfigParts {
  Config& config;
  Users& users;
  const std::string& config_file;
  std::function<void()> reset_stats;
};

std::span<const CommandRow> ConfigCommands();

}  // namespace cairn
