// SPDX-License-Identifier: BSD-3-Clause
//
// Directives without effect: directives of Redis about features that Cairn does not have, and retired directives of
// Cairn. They are checked, stored and shown, so that a redis.conf or an older cairn.conf works unchanged and clients
// that set them get the usual reply.
#include "config/directive.h"
#include "config/directive_syntax.h"

namespace cairn {
namespace {

constexpr int64_t kMaxInt = INT32_MAX;
constexpr auto kAcc = Section::kAccepted;

constexpr std::string_view kSnapshotFile =
    "Persistence by RDB files. Cairn keeps its data in RocksDB; only SAVE and BGSAVE write RDB files, as copies.";
constexpr std::string_view kAofFile = "The append-only file. Cairn has RocksDB's log instead.";
constexpr std::string_view kReplica =
    "Replication. In Cairn, a first transfer starts at once and is loaded beside the present data.";
constexpr std::string_view kTables = "Hash tables and memory. Cairn's data is on the disk.";
constexpr std::string_view kLook =
    "The logo, the process title and the memory test after a crash. Cairn has none of them.";
constexpr std::string_view kModules = "Which clients may load modules. Cairn has no modules.";
constexpr std::string_view kRetired = "Had an effect in earlier versions of Cairn.";
constexpr std::string_view kKernel = "Settings of the kernel. Cairn does not change them.";

constexpr std::string_view kLoad[] = {"disabled", "on-empty-db", "swapdb"};
constexpr std::string_view kSanitize[] = {"no", "yes", "clients"};
constexpr std::string_view kAllowed[] = {"no", "yes", "local"};
constexpr std::string_view kPropagation[] = {"ignore", "panic", "panic-on-replicas"};
constexpr std::string_view kOom[] = {"no", "yes", "relative", "absolute"};

constexpr Directive Switch(std::string_view name, std::string_view fallback, std::string_view help) {
  return {.name = name, .section = kAcc, .kind = Kind::kBool, .fallback = fallback, .help = help};
}

constexpr Directive Count(std::string_view name, std::string_view fallback, int64_t min, std::string_view help) {
  return {.name = name,
          .section = kAcc,
          .kind = Kind::kNumber,
          .fallback = fallback,
          .min = min,
          .max = kMaxInt,
          .help = help};
}

constexpr Directive Hidden(Directive directive) {
  directive.flags |= kHidden;
  return directive;
}

constexpr Directive Word(std::string_view name, std::string_view fallback, std::string_view help) {
  return {.name = name, .section = kAcc, .kind = Kind::kText, .fallback = fallback, .help = help};
}

constexpr Directive Choice(std::string_view name, std::string_view fallback, std::span<const std::string_view> choices,
                           std::string_view help) {
  return {.name = name, .section = kAcc, .kind = Kind::kChoice, .fallback = fallback, .choices = choices, .help = help};
}

// clang-format off
const Directive kRows[] = {
    {.name = "save", .section = kAcc, .kind = Kind::kSpecial, .fallback = "\"\"", .special = &kSaveSyntax,
     .flags = kRepeatable, .syntax = "<seconds> <changes> [<seconds> <changes> ...]", .help = kSnapshotFile},
    Switch("rdb-del-sync-files", "no", kSnapshotFile),
    Switch("rdb-save-incremental-fsync", "yes", kSnapshotFile),
    Switch("stop-writes-on-bgsave-error", "yes", kSnapshotFile),
    Choice("sanitize-dump-payload", "no", kSanitize, kSnapshotFile),

    Word("appendfilename", "appendonly.aof", kAofFile),
    Word("appenddirname", "appendonlydir", kAofFile),
    Switch("no-appendfsync-on-rewrite", "no", kAofFile),
    Count("auto-aof-rewrite-percentage", "100", 0, kAofFile),
    {.name = "auto-aof-rewrite-min-size", .section = kAcc, .kind = Kind::kMemory, .fallback = "64mb", .help = kAofFile},
    Switch("aof-load-truncated", "yes", kAofFile),
    Switch("aof-use-rdb-preamble", "yes", kAofFile),
    Switch("aof-timestamp-enabled", "no", kAofFile),
    Switch("aof-rewrite-incremental-fsync", "yes", kAofFile),

    Switch("replica-lazy-flush", "no", kReplica),
    Hidden(Count("key-load-delay", "0", INT32_MIN, kReplica)),
    Hidden(Count("loading-process-events-interval-bytes", "2097152", 1024, kReplica)),
    Choice("repl-diskless-load", "disabled", kLoad, kReplica),
    Switch("repl-disable-tcp-nodelay", "no", kReplica),

    Switch("activerehashing", "yes", kTables),
    Switch("activedefrag", "no", kTables),
    Switch("jemalloc-bg-thread", "yes", kTables),

    Switch("always-show-logo", "no", kLook),
    Switch("use-exit-on-panic", "no", kLook),
    Switch("crash-memcheck-enabled", "yes", kLook),
    Switch("set-proc-title", "yes", kLook),
    Word("proc-title-template", "{title} {listen-addr} {server-mode}", kLook),
    Word("locale-collate", "", "SORT ALPHA compares bytes, whatever the locale."),

    Choice("propagation-error-behavior", "ignore", kPropagation, kReplica),
    {.name = "enable-module-command", .section = kAcc, .kind = Kind::kChoice, .fallback = "no", .choices = kAllowed,
     .flags = kStartOnly, .help = kModules},

    Switch("disable-thp", "yes", kKernel),
    Choice("oom-score-adj", "no", kOom, kKernel),
    {.name = "oom-score-adj-values", .section = kAcc, .kind = Kind::kSpecial, .fallback = "0 200 800",
     .special = &kOomScoresSyntax, .syntax = "<number> <number> <number>", .help = kKernel},

    Hidden(Count("repl-apply-delay", "400", 0, kRetired)),
};
// clang-format on

}  // namespace

std::span<const Directive> AcceptedDirectives() { return kRows; }

}  // namespace cairn
