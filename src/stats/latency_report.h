// SPDX-License-Identifier: BSD-3-Clause
//
// What LATENCY GRAPH and LATENCY DOCTOR answer, as text.
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "stats/latency_monitor.h"

namespace cairn {

// A graph of the samples, a column each, oldest first, 80 of them to a block; under each column, from top to bottom,
// how long ago it was. REQUIRES: the series has samples.
std::string DrawLatency(std::string_view event, const LatencySeries& series, int64_t now_s);

// What matters to the advice beside the events.
struct LatencyCircumstances {
  int64_t threshold_ms = 0;
  int64_t slow_log_us = 0;  // slowlog-log-slower-than
  int64_t now_s = 0;
};

// The events, what they come to, and what could be done.
std::string DiagnoseLatency(const std::map<std::string, LatencySeries, std::less<>>& events,
                            const LatencyCircumstances& circumstances);

}  // namespace cairn
