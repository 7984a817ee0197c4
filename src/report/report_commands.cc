// SPDX-License-Identifier: BSD-3-Clause
//
// INFO commandstats, errorstats and latencystats.
#include <fmt/format.h>

#include "base/number.h"
#include "config/config.h"
#include "config/settings.h"
#include "report/report.h"
#include "stats/stats.h"

namespace cairn {
namespace {

// The bounds of the histograms are powers of two of a microsecond, where buckets of LatencyHistogram end: 8 us to 8 s.
constexpr int kFirstBoundBits = 3;
constexpr int kLastBoundBits = 23;

// A duration is recorded in whole microseconds, rounded down; one below 2^k us is in a bucket that ends before 2^k.
void WriteHistogram(const CommandTotals& totals, const std::string& label, MetricsText& page) {
  constexpr MetricsText::Family kFamily{"command_duration_seconds", "histogram",
                                        "Run times of commands, without the calls by scripts."};
  const auto write = [&](const std::string& bound, uint64_t sum) {
    page.Add(kFamily, sum, fmt::format("{},{}", label, MetricsText::Label("le", bound)), "_bucket");
  };
  uint64_t sum = 0;
  int bucket = 0;
  for (int bits = kFirstBoundBits; bits <= kLastBoundBits; ++bits) {
    for (; bucket < LatencyHistogram::kBuckets && LatencyHistogram::HighestOf(bucket) < (uint64_t{1} << bits); ++bucket)
      sum += totals.latency[static_cast<size_t>(bucket)];
    write(fmt::format("{:g}", static_cast<double>(uint64_t{1} << bits) / 1e6), sum);
  }
  for (; bucket < LatencyHistogram::kBuckets; ++bucket) sum += totals.latency[static_cast<size_t>(bucket)];
  write("+Inf", sum);
  page.Add(kFamily, static_cast<double>(totals.latency_usec) / 1e6, label, "_sum");
  page.Add(kFamily, sum, label, "_count");
}

void WriteCommandStats(const ReportParts& parts, SectionWriter& text) {
  const std::vector<CommandTotals> totals = parts.stats.Commands();
  for (uint32_t i = 0; i < totals.size(); ++i) {
    const CommandTotals& one = totals[i];
    if (one.calls == 0 && one.rejected == 0) continue;
    const std::string name = parts.table.ByIndex(i)->full_name();
    const double per_call = one.calls == 0 ? 0 : static_cast<double>(one.usec) / static_cast<double>(one.calls);
    text.Field("cmdstat_" + name, fmt::format("calls={},usec={},usec_per_call={:.2f},rejected_calls={},failed_calls={}",
                                              one.calls, one.usec, per_call, one.rejected, one.failed));
    const std::string label = MetricsText::Label("command", name);
    text.Counter("", "commands_total", "Calls, including the calls by scripts.", one.calls, label);
    text.Counter("", "commands_failed_total", "Calls that ran and replied an error.", one.failed, label);
    text.Counter("", "commands_rejected_total", "Calls refused before they ran.", one.rejected, label);
    if (text.page() != nullptr && !one.latency.empty()) WriteHistogram(one, label, *text.page());
  }
}

void WriteErrorStats(const ReportParts& parts, SectionWriter& text) {
  for (const auto& [prefix, count] : parts.stats.Errors()) {
    text.Field("errorstat_" + prefix, fmt::format("count={}", count));
    text.Counter("", "errors_total", "Error replies, by their first word.", count, MetricsText::Label("error", prefix));
  }
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

void WriteLatencyStats(const ReportParts& parts, SectionWriter& text) {
  if (!parts.settings.latency_tracking) return;
  const std::vector<std::string> percentiles = parts.config.Words("latency-tracking-info-percentiles");
  const std::vector<CommandTotals> totals = parts.stats.Commands();
  for (uint32_t i = 0; i < totals.size(); ++i) {
    uint64_t recorded = 0;
    for (const uint64_t count : totals[i].latency) recorded += count;
    if (recorded == 0) continue;
    std::string line;
    for (const std::string& percentile : percentiles) {
      const auto value = static_cast<double>(ValueAt(totals[i].latency, recorded, *ParseDouble(percentile)));
      line += fmt::format("{}{}={:.3f}", line.empty() ? "p" : ",p", percentile, value);
    }
    text.Field("latency_percentiles_usec_" + parts.table.ByIndex(i)->full_name(), std::string_view(line));
  }
}

constexpr ReportSection kSections[] = {
    {"commandstats", "Commandstats", false, WriteCommandStats},
    {"errorstats", "Errorstats", true, WriteErrorStats},
    {"latencystats", "Latencystats", false, WriteLatencyStats},
};

}  // namespace

std::span<const ReportSection> CommandSections() { return kSections; }

}  // namespace cairn
