// SPDX-License-Identifier: BSD-3-Clause
#include "stats/latency_monitor.h"

#include <strings.h>

#include <algorithm>

namespace cairn {
namespace {

constexpr size_t kMostSamples = 160;

bool EqualsInAnyCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

void LatencyMonitor::Add(std::string_view event, int64_t ms, int64_t unix_s) {
  const MutexLock lock(mutex_);
  LatencySeries& series = series_.try_emplace(std::string(event)).first->second;
  series.worst_ms = std::max(series.worst_ms, ms);
  if (!series.samples.empty() && series.samples.back().unix_s == unix_s) {
    series.samples.back().ms = std::max(series.samples.back().ms, ms);
    return;
  }
  series.samples.push_back({unix_s, ms});
  if (series.samples.size() > kMostSamples) series.samples.pop_front();
}

std::map<std::string, LatencySeries, std::less<>> LatencyMonitor::All() const {
  const MutexLock lock(mutex_);
  return series_;
}

LatencySeries LatencyMonitor::Of(std::string_view event) const {
  const MutexLock lock(mutex_);
  const auto found = series_.find(event);
  return found == series_.end() ? LatencySeries{} : found->second;
}

int64_t LatencyMonitor::Reset(const std::vector<std::string_view>& events) {
  const MutexLock lock(mutex_);
  const auto is_named = [&events](const auto& entry) {
    return events.empty() || std::any_of(events.begin(), events.end(), [&entry](std::string_view event) {
             return EqualsInAnyCase(event, entry.first);
           });
  };
  return static_cast<int64_t>(std::erase_if(series_, is_named));
}

}  // namespace cairn
