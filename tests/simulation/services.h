// SPDX-License-Identifier: BSD-3-Clause
//
// Services: the parts of a server that commands and replication use besides the store, as server/server.h makes them.
//
// Thread: one.
#pragma once

#include "command/access.h"
#include "command/dispatch.h"
#include "command/parts.h"
#include "command/waiters.h"
#include "config/config.h"
#include "replication/reload.h"
#include "replication/stream_applier.h"
#include "script/families.h"
#include "script/scripting.h"
#include "server/client_services.h"
#include "server/command_statistics.h"
#include "server/families.h"

namespace cairn::simulation {

struct Services {
  Services() {
    for (const auto& family : {EvalCommands(), ScriptCommands(), FunctionCommands()}) Bind(table, family, scripting);
  }

  DatasetParts DatasetOf(Store& store) { return {store, config, dispatcher.conditions(), scripting, clients.notifier}; }
  StreamApplier::Parts ApplierOf(Store& store) {
    return {store, config, dispatcher, table, stats.counters, stats.logs, clients.monitors, clients.notifier};
  }

  Config config;
  CommandTable table{AllFamilies()};
  ClientServices clients{MakeCatalogue(table), config.settings()};
  CommandStatistics stats{config.settings(), table.index_count()};
  Waiters waiters;
  Dispatcher dispatcher{table, config.limits(), waiters};
  Scripting scripting{config.settings().busy_reply_threshold_ms, dispatcher.busy_scripts(), dispatcher.conditions(),
                      [] { return false; }, 16 << 20};
};

}  // namespace cairn::simulation
