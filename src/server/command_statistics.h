// SPDX-License-Identifier: BSD-3-Clause
//
// CommandStatistics: the statistics of all commands since the start, for INFO, COMMANDLOG, LATENCY, HOTKEYS,
// CLUSTER SLOT-STATS and metrics.
//
// Thread: any, as each part allows.
#pragma once

#include "bus/slot_set.h"
#include "config/settings.h"
#include "stats/command_log.h"
#include "stats/hot_keys.h"
#include "stats/latency_monitor.h"
#include "stats/server_state.h"
#include "stats/slot_stats.h"
#include "stats/stats.h"
#include "storage/live_size.h"

namespace cairn {

struct CommandStatistics {
  CommandStatistics(const Settings& settings, size_t commands)
      : logs{{settings.slowlog_log_slower_than_us, settings.slowlog_max_len},
             {settings.commandlog_request_larger_than_bytes, settings.commandlog_large_request_max_len},
             {settings.commandlog_reply_larger_than_bytes, settings.commandlog_large_reply_max_len}},
        latency(settings.latency_monitor_threshold_ms), slots(settings.cluster_enabled ? kSlotCount : 0),
        counters(commands) {}

  CommandLogs logs;
  LatencyMonitor latency;
  HotKeys hot_keys;
  SlotStats slots;
  Stats counters;
  MemoryPeak memory_peak;
  LiveSize live_size;
};

}  // namespace cairn
