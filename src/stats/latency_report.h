// SPDX-License-Identifier: BSD-3-Clause
//
// The replies of LATENCY GRAPH and LATENCY DOCTOR, as text.
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stats/latency_monitor.h"

namespace cairn {

// Draws the samples, one per column, oldest first, 80 per block; below each column, from top to bottom, is its age.
// REQUIRES: the series has samples.
std::string DrawLatency(std::string_view event, const LatencySeries& series, int64_t now_s);

// Settings that the advice depends on.
struct LatencyCircumstances {
  int64_t threshold_ms = 0;
  int64_t slow_log_us = 0;  // slowlog-log-slower-than
  int64_t now_s = 0;
};

// What can be done about an event, in sentences.
std::vector<std::string_view> LatencyAdvice(std::string_view event);

// Describes the events, and gives advice.
std::string DiagnoseLatency(const std::map<std::string, LatencySeries, std::less<>>& events,
                            const LatencyCircumstances& circumstances);

}  // namespace cairn
