// SPDX-License-Identifier: BSD-3-Clause
//
// HOTKEYS and its subcommands (stats/hot_keys.h).
#include "base/clock.h"
#include "command/help.h"
#include "command/parts.h"
#include "stats/families.h"
#include "stats/hot_keys.h"

namespace cairn {
namespace {

constexpr int64_t kMostCount = 64;
constexpr int64_t kLongestDurationS = 1'000'000;
constexpr int64_t kLastSlot = 16383;

// METRICS count [CPU] [NET]. Words that are no metric count too, for metrics of later versions.
Status ReadMetrics(Args& args, HotKeys::Options& options) {
  if (args.left() < 2 || !args.Keyword("METRICS")) return Status::Reply("ERR METRICS parameter is required");
  const int64_t count = args.IntegerIn(1, 2, "ERR METRICS count must be > 0 and <= 2");
  TRY(args.Check());
  for (int64_t i = 0; i < count; ++i) {
    if (!args.More()) return Status::Reply("ERR METRICS count does not match number of metric types provided");
    if (args.Keyword("CPU")) {
      if (options.cpu) return Status::Reply("ERR METRICS CPU defined more than once!");
      options.cpu = true;
    } else if (args.Keyword("NET")) {
      if (options.net) return Status::Reply("ERR METRICS NET defined more than once!");
      options.net = true;
    } else {
      args.Skip(1);
    }
  }
  if (!options.cpu && !options.net) return Status::Reply("ERR METRICS no valid metrics passed. Supported: CPU|NET");
  return Ok();
}

Status ReadOptions(Args& args, HotKeys::Options& options) {
  while (args.left() > 1) {
    if (args.Keyword("COUNT")) {
      options.count = static_cast<uint64_t>(args.IntegerIn(1, kMostCount, "ERR COUNT must be between 1 and 64"));
    } else if (args.Keyword("DURATION")) {
      options.duration_ms = 1000 * args.IntegerIn(1, kLongestDurationS, "ERR DURATION must be between 1 and 1000000");
    } else if (args.Keyword("SAMPLE")) {
      options.sample_ratio = static_cast<uint64_t>(args.IntegerIn(1, INT32_MAX, "ERR SAMPLE ratio must be positive"));
    } else if (args.Keyword("SLOTS")) {
      return Status::Reply("ERR SLOTS parameter cannot be used in non-cluster mode");
    } else {
      args.Fail(errors::kSyntax);
    }
  }
  return args.Done();
}

constexpr std::string_view kIsRunning = "ERR hotkey tracking session already in progress";

// HOTKEYS START METRICS count [CPU] [NET] [COUNT k] [DURATION seconds] [SAMPLE ratio]
Status HotKeysStart(HotKeys& hot_keys, CommandContext& ctx, Args& args, Reply& reply) {
  if (const auto results = hot_keys.Get(ctx.now_ms()); results && results->is_active) return Status::Reply(kIsRunning);
  args.Skip(1);
  HotKeys::Options options;
  TRY(ReadMetrics(args, options));
  TRY(ReadOptions(args, options));
  if (!hot_keys.Start(options, ctx.now_ms())) return Status::Reply(kIsRunning);
  reply.Ok();
  return Ok();
}

// HOTKEYS STOP
Status HotKeysStop(HotKeys& hot_keys, CommandContext& ctx, Args&, Reply& reply) {
  hot_keys.Stop(ctx.now_ms()) ? reply.Ok() : reply.Null();
  return Ok();
}

// HOTKEYS RESET
Status HotKeysReset(HotKeys& hot_keys, CommandContext& ctx, Args&, Reply& reply) {
  if (!hot_keys.Reset(ctx.now_ms())) {
    return Status::Reply("ERR hotkey tracking session in progress, stop tracking first");
  }
  reply.Ok();
  return Ok();
}

void ReplyField(Reply& reply, std::string_view name, int64_t value) {
  reply.Bulk(name);
  reply.Integer(value);
}

void ReplyKeys(Reply& reply, std::string_view name, std::span<const TopKeys::Sum> keys) {
  reply.Bulk(name);
  reply.Array(2 * keys.size());
  for (const TopKeys::Sum& key : keys) ReplyField(reply, key.key, static_cast<int64_t>(key.sum));
}

// HOTKEYS GET: an array of one map, so that a client can join the replies of several servers.
Status HotKeysGet(HotKeys& hot_keys, CommandContext& ctx, Args&, Reply& reply) {
  const std::optional<HotKeys::Results> results = hot_keys.Get(ctx.now_ms());
  if (!results) {
    reply.Null();
    return Ok();
  }
  const bool cpu = results->options.cpu;
  const bool net = results->options.net;
  reply.Array(1);
  reply.Map(size_t{7} + (cpu ? 3 : 0) + (net ? 2 : 0));
  ReplyField(reply, "tracking-active", results->is_active);
  ReplyField(reply, "sample-ratio", static_cast<int64_t>(results->options.sample_ratio));
  reply.Bulk("selected-slots");
  reply.Array(1);
  reply.Array(2);
  reply.Integer(0);
  reply.Integer(kLastSlot);
  ReplyField(reply, "all-commands-all-slots-us", static_cast<int64_t>(results->usec));
  ReplyField(reply, "net-bytes-all-commands-all-slots", static_cast<int64_t>(results->bytes));
  ReplyField(reply, "collection-start-time-unix-ms", results->started_ms);
  ReplyField(reply, "collection-duration-ms", results->took_ms);
  if (cpu) {
    ReplyField(reply, "total-cpu-time-user-ms", results->cpu.user_ms);
    ReplyField(reply, "total-cpu-time-sys-ms", results->cpu.sys_ms);
  }
  if (net) ReplyField(reply, "total-net-bytes", static_cast<int64_t>(results->sampled_bytes));
  if (cpu) ReplyKeys(reply, "by-cpu-time-us", results->by_usec);
  if (net) ReplyKeys(reply, "by-net-bytes", results->by_bytes);
  return Ok();
}

constexpr std::string_view kHelp[] = {
    "START METRICS <count> [CPU] [NET] [COUNT <k>] [DURATION <seconds>] [SAMPLE <ratio>]",
    "    Measure the time (CPU) or the bytes (NET) that commands spend on each key, until",
    "    STOP or for a duration. Keep the k keys with the most (default: 10). Measure one",
    "    command of `ratio` (default: 1).",
    "STOP",
    "    End the session. Its results stay.",
    "GET",
    "    Show the results of the session that runs or ended last.",
    "RESET",
    "    Delete the results of a session that has ended.",
};

constexpr uint32_t kFlags = kAdmin | kNoScript;
constexpr auto kGroup = Group::kServer;
constexpr std::string_view kTips = "request_policy:special response_policy:special";

// clang-format off
constexpr CommandRow kSubcommandRows[] = {
    {.name = "start", .arity = -2, .flags = kFlags, .run = With<HotKeysStart>, .group = kGroup, .since = "8.6.0",
     .summary = "Starts to measure which keys take the most time and bytes.", .complexity = "O(1)",
     .syntax = "METRICS count [CPU] [NET] [COUNT k] [DURATION seconds] [SAMPLE ratio] [SLOTS count slot [slot ...]]",
     .tips = kTips},
    {.name = "stop", .arity = 2, .flags = kFlags, .run = With<HotKeysStop>, .group = kGroup, .since = "8.6.0",
     .summary = "Ends the measurement of hot keys.", .complexity = "O(1)", .tips = kTips},
    {.name = "get", .arity = 2, .flags = kFlags, .run = With<HotKeysGet>, .group = kGroup, .since = "8.6.0",
     .summary = "Returns the keys that took the most time and bytes.",
     .complexity = "O(K) with K the number of keys returned", .tips = kTips},
    {.name = "reset", .arity = 2, .flags = kFlags, .run = With<HotKeysReset>, .group = kGroup, .since = "8.6.0",
     .summary = "Deletes the results of the measurement of hot keys.", .complexity = "O(1)", .tips = kTips},
    {.name = "help", .arity = 2, .flags = kLoading | kStale, .run = Help<kHelp>, .group = kGroup, .since = "8.6.1",
     .summary = "Describes the subcommands.", .complexity = "O(1)"},
};

constexpr CommandRow kRows[] = {
    {.name = "hotkeys", .arity = -2, .flags = kSubcommands, .group = kGroup, .since = "8.6.0",
     .summary = "Commands about the keys that take the most time and bytes.",
     .complexity = "Depends on the subcommand.", .subcommands = kSubcommandRows},
};
// clang-format on

}  // namespace

std::span<const CommandRow> HotKeysCommands() { return kRows; }

}  // namespace cairn
