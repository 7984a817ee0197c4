// SPDX-License-Identifier: BSD-3-Clause
//
// The pages of `metrics-port`: /metrics for Prometheus, / for people, and what the latter reads: /status, which is
// INFO as JSON with the slow log and HOTKEYS, and /status/keysizes, which is INFO keysizes as JSON.
//
// The figures are those of INFO's sections. The fields of the section `server` are left out, and those that are read
// from rows (keys that expire). Key sizes are measured at most once in kKeySizesPeriodMs, however many readers there
// are.
//
// The port has no password, so names of keys, arguments of commands and names of clients are shown only with
// `metrics-details yes`.
//
// Thread: that of the HTTP endpoint.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_endpoint.h"
#include "report/families.h"

namespace cairn {

class CommandLog;
class HotKeys;
struct Limits;

inline constexpr int64_t kKeySizesPeriodMs = 30'000;

struct StatusParts {
  const ReportParts& report;
  const Limits& limits;
  const CommandLog& slow_log;
  HotKeys& hot_keys;
  // Makes the text of CLUSTER INFO; empty: this server is no node of a cluster.
  std::function<std::string()> cluster_info;
};

// The text of the page for people (report/status_page.html).
extern const std::string_view kStatusPage;

// REQUIRES: what `parts` refers to lives as long as the pages.
std::vector<HttpPage> MetricsPages(const StatusParts& parts);

// Names the scripts and styles that the page may use, those between its own tags, and forbids everything else.
std::string ContentSecurityPolicy(std::string_view page);

}  // namespace cairn
