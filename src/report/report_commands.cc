// SPDX-License-Identifier: BSD-3-Clause
//
// INFO commandstats, errorstats, latencystats and cluster.
#include <cstdio>

#include "base/number.h"
#include "config/config.h"
#include "config/settings.h"
#include "report/report.h"
#include "stats/stats.h"

namespace cairn {
namespace {

Status WriteCommandStats(const ReportParts& parts, CommandContext& ctx, SectionWriter& text) {
  const std::vector<CommandTotals> totals = parts.stats.Commands();
  for (uint32_t i = 0; i < totals.size(); ++i) {
    const CommandTotals& one = totals[i];
    if (one.calls == 0 && one.rejected == 0) continue;
    char line[256];
    const double per_call = one.calls == 0 ? 0 : static_cast<double>(one.usec) / static_cast<double>(one.calls);
    std::snprintf(line, sizeof line, "calls=%llu,usec=%llu,usec_per_call=%.2f,rejected_calls=%llu,failed_calls=%llu",
                  static_cast<unsigned long long>(one.calls), static_cast<unsigned long long>(one.usec), per_call,
                  static_cast<unsigned long long>(one.rejected), static_cast<unsigned long long>(one.failed));
    text.Field("cmdstat_" + ctx.table().ByIndex(i)->full_name(), std::string_view(line));
  }
  return Ok();
}

Status WriteErrorStats(const ReportParts& parts, CommandContext&, SectionWriter& text) {
  for (const auto& [prefix, count] : parts.stats.Errors()) {
    text.Field("errorstat_" + prefix, std::string_view("count=" + std::to_string(count)));
  }
  return Ok();
}

// The smallest value in microseconds that `percentile` percent of the calls did not exceed.
uint64_t ValueAt(const std::vector<uint64_t>& buckets, uint64_t calls, double percentile) {
  const double wanted = percentile / 100 * static_cast<double>(calls);
  uint64_t seen = 0;
  for (int bucket = 0; bucket < LatencyHistogram::kBuckets; ++bucket) {
    seen += buckets[static_cast<size_t>(bucket)];
    if (seen > 0 && static_cast<double>(seen) >= wanted) return LatencyHistogram::HighestOf(bucket);
  }
  return LatencyHistogram::HighestOf(LatencyHistogram::kBuckets - 1);
}

Status WriteLatencyStats(const ReportParts& parts, CommandContext& ctx, SectionWriter& text) {
  if (!parts.settings.latency_tracking) return Ok();
  const std::vector<std::string> percentiles = parts.config.Words("latency-tracking-info-percentiles");
  const std::vector<CommandTotals> totals = parts.stats.Commands();
  for (uint32_t i = 0; i < totals.size(); ++i) {
    uint64_t recorded = 0;
    for (const uint64_t count : totals[i].latency) recorded += count;
    if (recorded == 0) continue;
    std::string line;
    for (const std::string& percentile : percentiles) {
      char value[32];
      std::snprintf(value, sizeof value, "%.3f",
                    static_cast<double>(ValueAt(totals[i].latency, recorded, *ParseDouble(percentile))));
      line.append(line.empty() ? "p" : ",p").append(percentile).append("=").append(value);
    }
    text.Field("latency_percentiles_usec_" + ctx.table().ByIndex(i)->full_name(), std::string_view(line));
  }
  return Ok();
}

Status WriteCluster(const ReportParts&, CommandContext&, SectionWriter& text) {
  text.Field("cluster_enabled", 0);
  return Ok();
}

constexpr ReportSection kSections[] = {
    {"commandstats", "Commandstats", false, true, WriteCommandStats},
    {"errorstats", "Errorstats", true, true, WriteErrorStats},
    {"latencystats", "Latencystats", false, true, WriteLatencyStats},
    {"cluster", "Cluster", true, true, WriteCluster},
};

}  // namespace

std::span<const ReportSection> CommandSections() { return kSections; }

}  // namespace cairn
