// SPDX-License-Identifier: BSD-3-Clause
//
// Syntaxes of directives of kind kSpecial (directive.h), as constants for their rows.
//
// Thread: any; pure functions.
#pragma once

#include <span>
#include <string>

#include "config/directive.h"
#include "types/events.h"

namespace cairn {

// listen <address:port | unix:path> [io-threads N] [qps-limit N] [readonly] [tls]; each kept word is a whole line.
extern const SpecialSyntax kListenSyntax;

// bind <address> [<address> ...], bind ""
extern const SpecialSyntax kBindSyntax;

// save <seconds> <changes> [<seconds> <changes> ...], save ""
extern const SpecialSyntax kSaveSyntax;

// replicaof <host> <port>, replicaof ""
extern const SpecialSyntax kReplicaOfSyntax;

// client-output-buffer-limit <class> <hard> <soft> <soft seconds> [...]
extern const SpecialSyntax kOutputLimitSyntax;
void PublishOutputLimits(const Value& value, Settings& settings);

// maxmemory-clients <bytes> | <percent>%: one word, bytes without a unit
extern const SpecialSyntax kClientMemorySyntax;
void PublishClientMemory(const Value& value, Settings& settings);

// compaction-window <HH:MM>-<HH:MM>: one word, or none for any time
extern const SpecialSyntax kDayWindowSyntax;
void PublishCompactionWindow(const Value& value, Settings& settings);

// notify-keyspace-events <letters>
extern const SpecialSyntax kEventsSyntax;
// The notifications that the letters select; none without K or E.
InterestMask EventInterest(std::span<const std::string> kept);

// latency-tracking-info-percentiles <percentile> [...]
extern const SpecialSyntax kPercentilesSyntax;

// oom-score-adj-values <number> <number> <number>
extern const SpecialSyntax kOomScoresSyntax;

// user <name> [<rule> ...]; each kept word is a whole line, quoted where necessary.
extern const SpecialSyntax kUserSyntax;

// rename-command <command> <name>; each kept word is a whole line, quoted where necessary.
extern const SpecialSyntax kRenameSyntax;

// Formats `bytes` with the largest unit that divides it: "64mb", "1000".
std::string FormatMemory(uint64_t bytes);

}  // namespace cairn
