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

// clang-format off
const Directive kRows[] = {
    {.name = "replicaof", .alias = "slaveof", .section = kRepl, .kind = Kind::kSpecial, .fallback = "\"\"",
     .special = &kReplicaOfSyntax, .flags = kStartOnly, .syntax = "<host> <port>",
     .help = "Start as a replica of this primary, Cairn or Redis. REPLICAOF changes it while the server runs."},
    {.name = "masterauth", .section = kRepl, .kind = Kind::kText, .fallback = "", .flags = kSecret,
     .syntax = "<password>", .help = "The password to authenticate with at the primary."},
    {.name = "masteruser", .section = kRepl, .kind = Kind::kText, .fallback = "", .flags = kSecret, .syntax = "<user>",
     .help = "The user to authenticate as at the primary; the default user if empty."},
    {.name = "replica-read-only", .alias = "slave-read-only", .section = kRepl, .kind = Kind::kBool, .fallback = "yes",
     .target = &S::replica_read_only,
     .help = "A replica refuses writes by clients. Writes to a replica that accepts them are not replicated."},
    {.name = "replica-serve-stale-data", .alias = "slave-serve-stale-data", .section = kRepl, .kind = Kind::kBool,
     .fallback = "yes", .target = &S::replica_serve_stale_data,
     .help = "A replica also serves reads while its link to the primary is down, with the data it had when the link "
             "broke."},
    {.name = "replica-priority", .alias = "slave-priority", .section = kRepl, .kind = Kind::kNumber, .fallback = "100",
     .min = 0, .max = kMaxInt, .target = &S::replica_priority,
     .help = "Sentinel promotes the replica with the lowest number; never one with 0."},
    {.name = "replica-announced", .section = kRepl, .kind = Kind::kBool, .fallback = "yes",
     .target = &S::replica_announced, .help = "Whether Sentinel shows this replica to clients."},
    {.name = "replica-announce-ip", .alias = "slave-announce-ip", .section = kRepl, .kind = Kind::kText, .fallback = "",
     .syntax = "<address>", .help = "The address under which a replica is known; if empty, the one it connects from."},
    {.name = "replica-announce-port", .alias = "slave-announce-port", .section = kRepl, .kind = Kind::kNumber,
     .fallback = "0", .min = 0, .max = 65535, .help = "The port under which a replica is known; 0 is `port`."},
    {.name = "replica-ignore-del", .alias = "slave-ignore-del", .section = kRepl, .kind = Kind::kBool, .fallback = "no",
     .target = &S::replica_ignore_del,
     .help = "Makes the replica an archive: it ignores its primary's deletions (DEL, UNLINK, also those of expired "
             "keys)."},
    {.name = "replica-ignore-expire", .alias = "slave-ignore-expire", .section = kRepl, .kind = Kind::kBool,
     .fallback = "no", .target = &S::replica_ignore_expire,
     .help = "Makes the replica an archive: it ignores the expire times of keys in its primary's stream, but not the "
             "expire times of fields of hashes."},
    {.name = "repl-timeout", .section = kRepl, .kind = Kind::kNumber, .fallback = "60", .min = 1, .max = kMaxInt,
     .target = &S::repl_timeout_s, .syntax = "<seconds>",
     .help = "Seconds of silence after which either side closes the link."},
    {.name = "repl-ping-replica-period", .alias = "repl-ping-slave-period", .section = kRepl, .kind = Kind::kNumber,
     .fallback = "10", .min = 1, .max = kMaxInt, .target = &S::repl_ping_replica_period_s, .syntax = "<seconds>",
     .help = "Seconds between the PINGs that a primary sends to its replicas."},
    {.name = "repl-backlog-size", .section = kRepl, .kind = Kind::kMemory, .fallback = "64mb", .min = 1,
     .target = &S::repl_backlog_size,
     .help = "Bytes of the stream that are kept for replicas that reconnect. They are read from the log on disk, which "
             "holds the written rows as well and takes two to three times as much."},
    {.name = "repl-backlog-ttl", .section = kRepl, .kind = Kind::kNumber, .fallback = "3600", .min = 0, .max = kMaxInt,
     .target = &S::repl_backlog_ttl_s, .syntax = "<seconds>",
     .help = "Seconds for which a primary keeps the stream after its last replica disconnected; 0 is for ever."},
    {.name = "repl-diskless-sync", .section = kRepl, .kind = Kind::kBool, .fallback = "yes",
     .target = &S::repl_diskless_sync,
     .help = "Send the first transfer to a replica straight to its connection; otherwise write a file first."},
    {.name = "repl-diskless-sync-delay", .section = kRepl, .kind = Kind::kNumber, .fallback = "0", .min = 0,
     .max = kMaxInt, .target = &S::repl_diskless_sync_delay_s, .syntax = "<seconds>",
     .help = "How long a first transfer without a file waits for further replicas. Redis waits 5 seconds, because a "
             "later replica waits for the next transfer there; here each replica is served at once."},
    {.name = "repl-diskless-sync-max-replicas", .section = kRepl, .kind = Kind::kNumber, .fallback = "0", .min = 0,
     .max = kMaxInt, .target = &S::repl_diskless_sync_max_replicas,
     .help = "Number of waiting replicas that ends `repl-diskless-sync-delay` early; 0 is none."},
    {.name = "repl-sync-files", .section = kRepl, .kind = Kind::kBool, .fallback = "yes", .target = &S::repl_sync_files,
     .help = "Use RocksDB's files for the first transfer between two Cairns; the replica adopts them as they are. Both "
             "sides must say yes and have the same format on disk, and no database may have the `storage-mode` hdd or "
             "memory; otherwise, and to or from Redis, the transfer is an RDB file."},
    {.name = "repl-sync-rate", .section = kRepl, .kind = Kind::kMemory, .fallback = "64mb", .min = 0,
     .target = &S::repl_sync_rate,
     .help = "The most bytes per second for file transfers to all replicas together, because clients use the same "
             "disk; 0 is no limit."},
    {.name = "min-replicas-to-write", .alias = "min-slaves-to-write", .section = kRepl, .kind = Kind::kNumber,
     .fallback = "0", .min = 0, .max = kMaxInt, .target = &S::min_replicas_to_write,
     .help = "A primary refuses writes while fewer replicas than this have acknowledged within `min-replicas-max-lag`; "
             "0 is no limit."},
    {.name = "min-replicas-max-lag", .alias = "min-slaves-max-lag", .section = kRepl, .kind = Kind::kNumber,
     .fallback = "10", .min = 0, .max = kMaxInt, .target = &S::min_replicas_max_lag_s, .syntax = "<seconds>",
     .help = "A replica counts for `min-replicas-to-write` if it has acknowledged within this many seconds."},
};
// clang-format on

}  // namespace

std::span<const Directive> ReplicationDirectives() { return kRows; }

}  // namespace cairn
