// SPDX-License-Identifier: BSD-3-Clause
//
// LATENCY and its subcommands: events (stats/latency_monitor.h), and the histograms of all commands, kept under
// `latency-tracking` (stats/stats.h).
#include <algorithm>

#include "base/clock.h"
#include "command/help.h"
#include "command/parts.h"
#include "config/settings.h"
#include "stats/families.h"
#include "stats/latency_monitor.h"
#include "stats/latency_report.h"
#include "stats/stats.h"

namespace cairn {
namespace {

// LATENCY LATEST
Status LatencyLatest(const LatencyParts& parts, CommandContext&, Args&, Reply& reply) {
  const auto events = parts.latency.All();
  reply.Array(events.size());
  for (const auto& [event, series] : events) {
    reply.Array(4);
    reply.Bulk(event);
    reply.Integer(series.samples.back().unix_s);
    reply.Integer(series.samples.back().ms);
    reply.Integer(series.worst_ms);
  }
  return Ok();
}

// LATENCY HISTORY event
Status LatencyHistory(const LatencyParts& parts, CommandContext&, Args& args, Reply& reply) {
  args.Skip(1);
  const LatencySeries series = parts.latency.Of(args.Bytes());
  reply.Array(series.samples.size());
  for (const LatencySample& sample : series.samples) {
    reply.Array(2);
    reply.Integer(sample.unix_s);
    reply.Integer(sample.ms);
  }
  return Ok();
}

// LATENCY RESET [event ...]
Status LatencyReset(const LatencyParts& parts, CommandContext&, Args& args, Reply& reply) {
  args.Skip(1);
  std::vector<std::string_view> events;
  while (args.More()) events.push_back(args.Bytes());
  reply.Integer(parts.latency.Reset(events));
  return Ok();
}

// LATENCY GRAPH event
Status LatencyGraph(const LatencyParts& parts, CommandContext&, Args& args, Reply& reply) {
  args.Skip(1);
  const std::string_view event = args.Bytes();
  const LatencySeries series = parts.latency.Of(event);
  if (series.samples.empty()) {
    return Status::Error(Code::kReply, "ERR No samples available for event '" + std::string(event) + "'");
  }
  reply.Verbatim("txt", DrawLatency(event, series, WallMs() / 1000));
  return Ok();
}

// LATENCY DOCTOR
Status LatencyDoctor(const LatencyParts& parts, CommandContext&, Args&, Reply& reply) {
  const LatencyCircumstances circumstances{.threshold_ms = parts.latency.threshold_ms(),
                                           .slow_log_us = parts.settings.slowlog_log_slower_than_us,
                                           .now_s = WallMs() / 1000};
  reply.Verbatim("txt", DiagnoseLatency(parts.latency.All(), circumstances));
  return Ok();
}

// Redis's bounds: 1024 ns and its doubles up to the first above a second. Each is rounded up to the end of its bucket
// in a histogram with two significant digits, in whole microseconds.
constexpr int kBounds = 21;
constexpr uint64_t BoundUs(int i) { return ((uint64_t{1024} << i) + (uint64_t{8} << i) - 1) / 1000; }
static_assert(BoundUs(0) == 1 && BoundUs(5) == 33 && BoundUs(10) == 1056 && BoundUs(20) == 1082130);

// Replies with the number of calls up to each bound at which it grows. The last bound includes all slower calls.
void ReplyHistogram(Reply& reply, const CommandTotals& totals) {
  uint64_t calls = 0;
  for (const uint64_t count : totals.latency) calls += count;
  reply.Map(2);
  reply.Bulk("calls");
  reply.Integer(static_cast<int64_t>(calls));
  reply.Bulk("histogram_usec");
  const size_t mark = reply.Later();
  size_t shown = 0;
  uint64_t sum = 0;
  int bucket = 0;
  for (int i = 0; i < kBounds; ++i) {
    const uint64_t before = sum;
    const bool is_last = i == kBounds - 1;
    for (; bucket < LatencyHistogram::kBuckets && (is_last || LatencyHistogram::HighestOf(bucket) <= BoundUs(i));
         ++bucket) {
      sum += totals.latency[static_cast<size_t>(bucket)];
    }
    if (sum == before) continue;
    reply.Integer(static_cast<int64_t>(BoundUs(i)));
    reply.Integer(static_cast<int64_t>(sum));
    ++shown;
  }
  reply.FinishMap(mark, shown);
}

bool HasCalls(const CommandTotals& totals) {
  return std::any_of(totals.latency.begin(), totals.latency.end(), [](uint64_t count) { return count != 0; });
}

// The commands of a name: the command itself and, for a container, all its subcommands. "client|id" is a subcommand.
std::vector<const Command*> Named(const CommandTable& table, std::string_view name) {
  const size_t bar = name.find('|');
  if (bar != std::string_view::npos) {
    const std::string_view words[] = {name.substr(0, bar), name.substr(bar + 1)};
    const Command* command = table.Resolve(words);
    return command != nullptr && command->parent() != nullptr ? std::vector{command} : std::vector<const Command*>();
  }
  const Command* command = table.Find(name);
  if (command == nullptr) return {};
  std::vector<const Command*> named = {command};
  for (const Command& subcommand : command->subcommands()) named.push_back(&subcommand);
  return named;
}

// LATENCY HISTOGRAM [command ...]
Status LatencyHistogramOf(const LatencyParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  args.Skip(1);
  std::vector<const Command*> commands;
  if (!args.More()) {
    for (uint32_t i = 0; i < ctx.table().index_count(); ++i) commands.push_back(ctx.table().ByIndex(i));
  }
  while (args.More()) {
    for (const Command* command : Named(ctx.table(), args.Bytes())) commands.push_back(command);
  }
  const std::vector<CommandTotals> totals = parts.stats.Commands();
  const size_t mark = reply.Later();
  size_t shown = 0;
  for (const Command* command : commands) {
    if (!HasCalls(totals[command->index()])) continue;
    reply.Bulk(command->full_name());
    ReplyHistogram(reply, totals[command->index()]);
    ++shown;
  }
  reply.FinishMap(mark, shown);
  return Ok();
}

constexpr std::string_view kHelp[] = {
    "DOCTOR",
    "    Describe the events in sentences, and give advice.",
    "GRAPH <event>",
    "    Draw the samples of an event as a graph.",
    "HISTORY <event>",
    "    Show the samples of an event: time and milliseconds.",
    "LATEST",
    "    Show the last sample and the maximum of each event.",
    "RESET [<event> ...]",
    "    Delete these events, or all.",
    "HISTOGRAM [<command> ...]",
    "    Show cumulative counts of each command's calls by microseconds.",
};

constexpr uint32_t kFlags = kAdmin | kNoScript | kLoading | kStale;
constexpr auto kGroup = Group::kServer;
constexpr std::string_view kPerNode = "nondeterministic_output request_policy:all_nodes response_policy:special";

// clang-format off
constexpr CommandRow kSubcommandRows[] = {
    {.name = "doctor", .arity = 2, .flags = kFlags, .run = With<LatencyDoctor>, .group = kGroup, .since = "2.8.13",
     .summary = "Describes the latency events, and gives advice.", .complexity = "O(1)", .tips = kPerNode},
    {.name = "graph", .arity = 3, .flags = kFlags, .run = With<LatencyGraph>, .group = kGroup, .since = "2.8.13",
     .summary = "Draws the samples of a latency event.", .complexity = "O(1)", .syntax = "event", .tips = kPerNode},
    {.name = "history", .arity = 3, .flags = kFlags, .run = With<LatencyHistory>, .group = kGroup, .since = "2.8.13",
     .summary = "Returns the samples of a latency event.", .complexity = "O(1)", .syntax = "event", .tips = kPerNode},
    {.name = "latest", .arity = 2, .flags = kFlags, .run = With<LatencyLatest>, .group = kGroup, .since = "2.8.13",
     .summary = "Returns the last sample of every latency event.", .complexity = "O(1)", .tips = kPerNode},
    {.name = "reset", .arity = -2, .flags = kFlags, .run = With<LatencyReset>, .group = kGroup, .since = "2.8.13",
     .summary = "Deletes latency events.", .complexity = "O(1)", .syntax = "[event [event ...]]",
     .tips = "request_policy:all_nodes response_policy:agg_sum"},
    {.name = "histogram", .arity = -2, .flags = kFlags, .run = With<LatencyHistogramOf>, .group = kGroup,
     .since = "7.0.0", .summary = "Returns the run times of commands as cumulative counts.",
     .complexity = "O(N) with N the number of commands shown", .syntax = "[command [command ...]]", .tips = kPerNode},
    {.name = "help", .arity = 2, .flags = kLoading | kStale, .run = Help<kHelp>, .group = kGroup, .since = "2.8.13",
     .summary = "Describes the subcommands.", .complexity = "O(1)"},
};

constexpr CommandRow kRows[] = {
    {.name = "latency", .arity = -2, .flags = kSubcommands, .group = kGroup, .since = "2.8.13",
     .summary = "Commands about latency.", .complexity = "Depends on the subcommand.", .subcommands = kSubcommandRows},
};
// clang-format on

}  // namespace

std::span<const CommandRow> LatencyCommands() { return kRows; }

}  // namespace cairn
