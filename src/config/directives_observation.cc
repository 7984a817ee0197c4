// SPDX-License-Identifier: BSD-3-Clause
//
// The directives about monitoring.
#include "config/directive.h"
#include "config/directive_syntax.h"

namespace cairn {
namespace {

using S = Settings;

constexpr auto kObs = Section::kObservation;

// clang-format off
const Directive kRows[] = {
    {.name = "slowlog-log-slower-than", .alias = "commandlog-execution-slower-than", .section = kObs,
     .kind = Kind::kNumber, .fallback = "10000", .min = -1,
     .target = &S::slowlog_log_slower_than_us, .syntax = "<microseconds>",
     .help = "The slow log keeps commands that took this long or longer; 0 keeps all, -1 none."},
    {.name = "slowlog-max-len", .alias = "commandlog-slow-execution-max-len", .section = kObs, .kind = Kind::kNumber,
     .fallback = "128", .min = 0, .target = &S::slowlog_max_len,
     .help = "Entries of the slow log; the oldest are dropped first."},
    {.name = "commandlog-request-larger-than", .section = kObs, .kind = Kind::kNumber, .fallback = "1048576",
     .min = -1, .target = &S::commandlog_request_larger_than_bytes, .syntax = "<bytes>",
     .help = "COMMANDLOG's large-request log keeps commands whose request has this size or more; 0 keeps all, -1 "
             "none."},
    {.name = "commandlog-large-request-max-len", .section = kObs, .kind = Kind::kNumber, .fallback = "128", .min = 0,
     .target = &S::commandlog_large_request_max_len,
     .help = "Entries of the large-request log; the oldest are dropped first."},
    {.name = "commandlog-reply-larger-than", .section = kObs, .kind = Kind::kNumber, .fallback = "1048576", .min = -1,
     .target = &S::commandlog_reply_larger_than_bytes, .syntax = "<bytes>",
     .help = "COMMANDLOG's large-reply log keeps commands whose reply has this size or more; 0 keeps all, -1 none."},
    {.name = "commandlog-large-reply-max-len", .section = kObs, .kind = Kind::kNumber, .fallback = "128", .min = 0,
     .target = &S::commandlog_large_reply_max_len,
     .help = "Entries of the large-reply log; the oldest are dropped first."},
    {.name = "latency-tracking", .section = kObs, .kind = Kind::kBool, .fallback = "yes",
     .target = &S::latency_tracking,
     .help = "Keep a histogram of every command's run times, shown by INFO latencystats, LATENCY HISTOGRAM and "
             "`metrics-port`."},
    {.name = "latency-tracking-info-percentiles", .section = kObs, .kind = Kind::kSpecial, .fallback = "50 99 99.9",
     .special = &kPercentilesSyntax, .syntax = "<percentile> [<percentile> ...]",
     .help = "The percentiles that INFO latencystats shows, each from 0 to 100."},
    {.name = "latency-monitor-threshold", .section = kObs, .kind = Kind::kNumber, .fallback = "0", .min = 0,
     .target = &S::latency_monitor_threshold_ms, .syntax = "<milliseconds>",
     .help = "LATENCY keeps events that took this long or longer: commands, commits, syncs of the log, write stalls, "
             "deletions of expired keys; 0 keeps none."},
    {.name = "notify-keyspace-events", .section = kObs, .kind = Kind::kSpecial, .fallback = "\"\"",
     .special = &kEventsSyntax, .syntax = "<letters>",
     .help = "Publishes changes of keys: to `__keyspace@<db>__:<key>` with K, to `__keyevent@<db>__:<event>` with E. "
             "The other letters are the classes of events: g generic, $ strings, l lists, s sets, h hashes, z sorted "
             "sets, t streams, x expired, e evicted, d modules; A stands for all of these. m is keys that reads did "
             "not find, n is new keys."},
};
// clang-format on

}  // namespace

std::span<const Directive> ObservationDirectives() { return kRows; }

}  // namespace cairn
