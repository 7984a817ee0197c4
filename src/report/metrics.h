// SPDX-License-Identifier: BSD-3-Clause
//
// The metrics of `metrics-port`, in Prometheus's text format: the fields of INFO, under names that begin with cairn_,
// in base units (seconds, bytes). Counters count from the start or the last CONFIG RESETSTAT.
//
// Thread: any that may wait.
#pragma once

#include <string>
#include <string_view>

namespace cairn {

class ClientRegistry;
class CommandTable;
class Stats;
class Store;
struct Identity;
struct Settings;

struct MetricsParts {
  const Identity& identity;
  const Settings& settings;
  const CommandTable& table;
  const ClientRegistry& clients;
  Stats& stats;
  Store& store;
};

inline constexpr std::string_view kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

std::string DescribeMetrics(const MetricsParts& parts);

}  // namespace cairn
