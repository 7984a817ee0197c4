// SPDX-License-Identifier: BSD-3-Clause
//
// The directives about replicas and primaries.
#include "config/directive.h"
#include "config/directive_syntax.h"

namespace cairn {
namespace {

using S = Settings;

constexpr int64_t kMaxInt = INT32_MAX;
constexpr auto kRepl = Section::kReplication;

const Directive kRows[] = {
    {.name = "replicaof", .alias = "slaveof", .section = kRepl, .kind = Kind::kSpecial, .fallback = "\"\"",
     .special = &kReplicaOfSyntax, .flags = kStartOnly, .syntax = "<host> <port>",
     .help = "Start as a replica of this primary, Cairn or Redis. REPLICAOF changes it while the server runs."},
    {.name = "masterauth", .section = kRepl, .kind = Kind::kText, .fallback = "", .flags = kSecret,
     .syntax = "<password>", .help = "The password that the primary wants."},
    {.name = "masteruser", .section = kRepl, .kind = Kind::kText, .fallback = "", .flags = kSecret,
     .syntax = "<user>",
     .help = "The user to authenticate as; empty is the default user."},
    {.name = "replica-read-only", .alias = "slave-read-only", .section = kRepl, .kind = Kind::kBool, .fallback = "yes",
     .target = &S::replica_read_only,
     .help = "A replica refuses writes by clients. What is written to one that does not is known to it alone."},
    {.name = "replica-serve-stale-data", .alias = "slave-serve-stale-data", .section = kRepl, .kind = Kind::kBool,
     .fallback = "yes", .target = &S::replica_serve_stale_data,
     .help = "A replica answers also while its link to the primary is down, as of when it broke."},
    {.name = "replica-priority", .alias = "slave-priority", .section = kRepl, .kind = Kind::kNumber, .fallback = "100",
     .min = 0, .max = kMaxInt, .target = &S::replica_priority,
     .help = "Which replica Sentinel promotes: the one with the lowest number; never one with 0."},
    {.name = "replica-announced", .section = kRepl, .kind = Kind::kBool, .fallback = "yes",
     .target = &S::replica_announced, .help = "Whether Sentinel is to tell of this replica."},
    {.name = "replica-announce-ip", .alias = "slave-announce-ip", .section = kRepl, .kind = Kind::kText, .fallback = "",
     .syntax = "<address>", .help = "The address under which a replica is known; empty is the one it connects from."},
    {.name = "replica-announce-port", .alias = "slave-announce-port", .section = kRepl, .kind = Kind::kNumber,
     .fallback = "0", .min = 0, .max = 65535, .help = "The port under which a replica is known; 0 is `port`."},
    {.name = "replica-ignore-del", .alias = "slave-ignore-del", .section = kRepl, .kind = Kind::kBool, .fallback = "no",
     .target = &S::replica_ignore_del,
     .help = "An archive: what the primary deletes (DEL, UNLINK, also for keys past their time) stays here."},
    {.name = "replica-ignore-expire", .alias = "slave-ignore-expire", .section = kRepl, .kind = Kind::kBool,
     .fallback = "no", .target = &S::replica_ignore_expire,
     .help = "An archive: times that the primary gives keys to live are not taken over from its stream. Those of "
             "a hash's fields are."},
    {.name = "repl-timeout", .section = kRepl, .kind = Kind::kNumber, .fallback = "60", .min = 1, .max = kMaxInt,
     .target = &S::repl_timeout_s, .syntax = "<seconds>",
     .help = "Seconds of silence after which either side gives the link up."},
    {.name = "repl-ping-replica-period", .alias = "repl-ping-slave-period", .section = kRepl, .kind = Kind::kNumber,
     .fallback = "10", .min = 1, .max = kMaxInt, .target = &S::repl_ping_replica_period_s, .syntax = "<seconds>",
     .help = "Seconds between the PINGs of a primary to its replicas."},
    {.name = "repl-backlog-size", .section = kRepl, .kind = Kind::kMemory, .fallback = "64mb", .min = 1,
     .target = &S::repl_backlog_size,
     .help = "Bytes of the stream that a replica that was away can still be sent. They are in the log on disk, "
             "which has the rows that were written as well and takes two to three times as much."},
    {.name = "repl-backlog-ttl", .section = kRepl, .kind = Kind::kNumber, .fallback = "3600", .min = 0, .max = kMaxInt,
     .target = &S::repl_backlog_ttl_s, .syntax = "<seconds>",
     .help = "Seconds after the last replica left for which a primary goes on keeping the stream; 0 for ever."},
    {.name = "repl-diskless-sync", .section = kRepl, .kind = Kind::kBool, .fallback = "yes",
     .target = &S::repl_diskless_sync,
     .help = "The first transfer to a replica goes straight to its connection; otherwise a file is written first."},
    {.name = "repl-diskless-sync-delay", .section = kRepl, .kind = Kind::kNumber, .fallback = "0", .min = 0,
     .max = kMaxInt, .target = &S::repl_diskless_sync_delay_s, .syntax = "<seconds>",
     .help = "How long a first transfer that needs no file waits for further replicas. Redis waits 5 seconds, for who "
             "comes later waits for the next transfer there; here each is served at once."},
    {.name = "repl-diskless-sync-max-replicas", .section = kRepl, .kind = Kind::kNumber, .fallback = "0", .min = 0,
     .max = kMaxInt, .target = &S::repl_diskless_sync_max_replicas,
     .help = "When so many replicas wait, they wait no longer for `repl-diskless-sync-delay`; 0 for no such number."},
    {.name = "repl-sync-files", .section = kRepl, .kind = Kind::kBool, .fallback = "yes",
     .target = &S::repl_sync_files,
     .help = "The first transfer between two Cairns is of files that the replica takes into its database as they are. "
             "Both must say yes; otherwise, and to or from Redis, it is an RDB file."},
    {.name = "repl-sync-rate", .section = kRepl, .kind = Kind::kMemory, .fallback = "64mb", .min = 0,
     .target = &S::repl_sync_rate,
     .help = "Bytes a second that a primary's transfers of files to all its replicas take together; 0 is no limit. "
             "Clients share the disk with a transfer; without any it may be as fast as it can."},
    {.name = "min-replicas-to-write", .alias = "min-slaves-to-write", .section = kRepl, .kind = Kind::kNumber,
     .fallback = "0", .min = 0, .max = kMaxInt, .target = &S::min_replicas_to_write,
     .help = "A primary with fewer replicas that were heard of lately refuses writes; 0 asks for none."},
    {.name = "min-replicas-max-lag", .alias = "min-slaves-max-lag", .section = kRepl, .kind = Kind::kNumber,
     .fallback = "10", .min = 0, .max = kMaxInt, .target = &S::min_replicas_max_lag_s, .syntax = "<seconds>",
     .help = "Seconds within which a replica was heard of lately, for `min-replicas-to-write`."},
};

}  // namespace

std::span<const Directive> ReplicationDirectives() { return kRows; }

}  // namespace cairn
