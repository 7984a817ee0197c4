// SPDX-License-Identifier: BSD-3-Clause
#include "stats/latency_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

namespace cairn {
namespace {

constexpr size_t kColumns = 80;
constexpr int kRows = 4;
constexpr std::string_view kMarks = "_o#";  // the top of a column, by height within its row
constexpr char kFill = '|';                 // the rest of a column
constexpr int kSteps = kRows * static_cast<int>(kMarks.size());

struct Column {
  int step;  // 0 .. kSteps - 1
  std::string label;
};

std::string DescribeAge(int64_t seconds) {
  if (seconds < 60) return std::to_string(seconds) + "s";
  if (seconds < 3600) return std::to_string(seconds / 60) + "m";
  if (seconds < 86400) return std::to_string(seconds / 3600) + "h";
  return std::to_string(seconds / 86400) + "d";
}

// `floor`: the step of the row's lowest mark.
char MarkAt(const Column& column, int floor) {
  const int above = column.step - floor;
  if (above < 0) return ' ';
  return above < static_cast<int>(kMarks.size()) ? kMarks[static_cast<size_t>(above)] : kFill;
}

void DrawBlock(std::span<const Column> columns, std::string& text) {
  size_t longest = 0;
  for (const Column& column : columns) longest = std::max(longest, column.label.size());
  for (int row = kRows - 1; row >= 0; --row) {
    for (const Column& column : columns) text += MarkAt(column, row * static_cast<int>(kMarks.size()));
    text += '\n';
  }
  text.append(columns.size(), ' ').append("\n");
  for (size_t letter = 0; letter < longest; ++letter) {
    for (const Column& column : columns) text += letter < column.label.size() ? column.label[letter] : ' ';
    text += '\n';
  }
}

struct Summary {
  int64_t average_ms = 0;
  int64_t deviation_ms = 0;  // mean absolute
  double period_s = 0;       // mean time between two samples
};

Summary Summarise(const LatencySeries& series, int64_t now_s) {
  const auto count = static_cast<int64_t>(series.samples.size());
  int64_t sum = 0;
  for (const LatencySample& sample : series.samples) sum += sample.ms;
  Summary summary{.average_ms = sum / count};
  int64_t deviations = 0;
  for (const LatencySample& sample : series.samples) deviations += std::abs(sample.ms - summary.average_ms);
  summary.deviation_ms = deviations / count;
  const int64_t span_s = std::max<int64_t>(1, now_s - series.samples.front().unix_s);
  summary.period_s = static_cast<double>(span_s) / static_cast<double>(count);
  return summary;
}

std::string DescribeEvent(size_t number, const std::string& event, const LatencySeries& series, int64_t now_s) {
  const Summary summary = Summarise(series, now_s);
  return fmt::format(
      "{}. {}: {} latency spikes (average {}ms, mean deviation {}ms, period {:.2f} sec). Worst all time event {}ms.\n",
      number, event, series.samples.size(), summary.average_ms, summary.deviation_ms, summary.period_s,
      series.worst_ms);
}

struct Advice {
  std::string_view event;
  std::string_view text;
};

constexpr Advice kAdvice[] = {
    {"command", "The slow log has the commands that took long (SLOWLOG GET); LATENCY HISTOGRAM has how often."},
    {"command", "Ask for less at a time: SCAN and ranges instead of whole collections."},
    {"fast-command",
     "Commands that do little took long, so the process had to wait for the processor or for memory: look for other "
     "programs on this machine, for a virtual machine that is held back, and for swapping."},
    {"commit", "Batches were long in being written: look at the disk's own latency, and share it with fewer programs."},
    {"aof-fsync-always",
     "Replies wait for the disk under 'appendfsync always'. A disk with a protected write cache makes that short; "
     "'appendfsync everysec' does not wait."},
    {"aof-fsync-everysec", "The disk is slow in syncing. Nobody waited for it, but a power loss takes that much more."},
    {"write-stall",
     "Writes come in faster than RocksDB flushes and compacts: raise memory-budget or max-background-jobs, see that "
     "compaction-rate-limit is not too low, or write less at a time."},
    {"expire-cycle",
     "Many keys were due at the same time. Spread their expiry, or lower active-expire-effort to delete fewer in one "
     "go."},
};

std::vector<std::string> Advise(const std::map<std::string, LatencySeries, std::less<>>& events,
                                const LatencyCircumstances& circumstances) {
  std::vector<std::string> advice;
  const bool misses_commands =
      circumstances.slow_log_us < 0 || circumstances.slow_log_us / 1000 > circumstances.threshold_ms;
  if (events.contains("command") && misses_commands) {
    const int64_t least_ms = std::clamp<int64_t>(circumstances.threshold_ms, 1, INT64_MAX / 1000);
    const std::string microseconds = std::to_string(least_ms * 1000);
    advice.push_back("The slow log does not keep all of these commands; 'CONFIG SET slowlog-log-slower-than " +
                     microseconds + "' makes it.");
  }
  for (const Advice& one : kAdvice) {
    if (events.contains(one.event)) advice.emplace_back(one.text);
  }
  return advice;
}

}  // namespace

std::vector<std::string_view> LatencyAdvice(std::string_view event) {
  std::vector<std::string_view> advice;
  for (const Advice& one : kAdvice) {
    if (one.event == event) advice.push_back(one.text);
  }
  return advice;
}

std::string DrawLatency(std::string_view event, const LatencySeries& series, int64_t now_s) {
  const auto [low, high] = std::minmax_element(series.samples.begin(), series.samples.end(),
                                               [](const auto& a, const auto& b) { return a.ms < b.ms; });
  std::string text(event);
  text += fmt::format(" - high {} ms, low {} ms (all time high {} ms)\n{}\n", high->ms, low->ms, series.worst_ms,
                      std::string(kColumns, '-'));
  const int64_t range = std::max<int64_t>(1, high->ms - low->ms);
  std::vector<Column> columns;
  for (const LatencySample& sample : series.samples) {
    const int64_t step = std::min<int64_t>((sample.ms - low->ms) * kSteps / range, kSteps - 1);
    columns.push_back({static_cast<int>(step), DescribeAge(now_s - sample.unix_s)});
  }
  for (size_t begin = 0; begin < columns.size(); begin += kColumns) {
    if (begin != 0) text += '\n';
    DrawBlock(std::span(columns).subspan(begin, std::min(kColumns, columns.size() - begin)), text);
  }
  return text;
}

std::string DiagnoseLatency(const std::map<std::string, LatencySeries, std::less<>>& events,
                            const LatencyCircumstances& circumstances) {
  if (events.empty()) {
    if (circumstances.threshold_ms > 0) {
      return fmt::format("Nothing has taken {} milliseconds or longer since the last reset.\n",
                         circumstances.threshold_ms);
    }
    return "Latency monitoring is disabled. 'CONFIG SET latency-monitor-threshold <milliseconds>' enables it: what "
           "takes that long is then kept.\n";
  }
  std::string text = "These latency spikes were observed:\n\n";
  size_t number = 0;
  for (const auto& [event, series] : events) text += DescribeEvent(++number, event, series, circumstances.now_s);
  const std::vector<std::string> advice = Advise(events, circumstances);
  if (!advice.empty()) text += "\nWhat can be done:\n\n";
  for (const std::string& one : advice) text += "- " + one + "\n";
  return text;
}

}  // namespace cairn
