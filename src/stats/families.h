// SPDX-License-Identifier: BSD-3-Clause
//
// The command families of this folder, and the parts that their commands use (command/parts.h).
#pragma once

#include <span>

#include "command/table.h"

namespace cairn {

class LatencyMonitor;
class Stats;
struct Settings;

struct LatencyParts {
  LatencyMonitor& latency;
  Stats& stats;
  const Settings& settings;
};

std::span<const CommandRow> CommandLogCommands();
std::span<const CommandRow> HotKeysCommands();
std::span<const CommandRow> LatencyCommands();

}  // namespace cairn
