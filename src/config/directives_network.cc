// SPDX-License-Identifier: BSD-3-Clause
//
// The directives about listening and clients.
#include "config/directive.h"
#include "config/directive_syntax.h"

namespace cairn {
namespace {

constexpr int64_t kMaxInt = INT32_MAX;
constexpr int64_t kMegabyte = 1 << 20;
constexpr int64_t kMostBulkBytes = int64_t{2} << 30;  // a key and a value of this size fit into a row (storage/batch.h)

using S = Settings;

constexpr auto kNet = Section::kNetwork;

// In the order of DoubleFormat.
constexpr std::string_view kDoubleFormats[] = {"shortest", "17-digits"};

// clang-format off
const Directive kRows[] = {
    {.name = "bind", .section = kNet, .kind = Kind::kSpecial, .fallback = "* -::*", .special = &kBindSyntax,
     .syntax = "<address> [<address> ...]",
     .help = "Addresses that `port` and `tls-port` listen on. * is every IPv4 address, ::* every IPv6 one. An address "
             "with a dash in front is skipped if this machine does not have it; \"\" is none. Without a password, "
             "`protected-mode` refuses clients from other machines. A change applies to new connections."},
    {.name = "bind-source-addr", .section = kNet, .kind = Kind::kText, .fallback = "", .syntax = "<address>",
     .help = "The local address of connections to a primary; the kernel chooses one if this is empty or not "
             "available."},
    {.name = "port", .section = kNet, .kind = Kind::kNumber, .fallback = "6380", .min = 0, .max = 65535,
     .target = &S::port,
     .help = "TCP port on each address of `bind`; with 0 the server listens only on `listen` and `unixsocket`. A "
             "change applies to new connections."},
    {.name = "metrics-port", .section = kNet, .kind = Kind::kNumber, .fallback = "0", .min = 0, .max = 65535,
     .flags = kStartOnly, .target = &S::metrics_port,
     .help = "TCP port of the metrics for Prometheus (/metrics) and of a page with the same figures for people (/), "
             "over HTTP, without a password, on each address that `bind` has at the start, so `bind` must have one; "
             "`protected-mode` applies here too. At most 16 connections: a new one replaces the one that has been idle "
             "longest. 0 is none."},
    {.name = "metrics-details", .section = kNet, .kind = Kind::kBool, .fallback = "no",
     .help = "Show names of keys (HOTKEYS), arguments of slow commands, and the addresses and names of their clients "
             "on the page of `metrics-port`. Everyone who reaches that port reads them."},
    {.name = "listen", .section = kNet, .kind = Kind::kSpecial, .special = &kListenSyntax,
     .flags = kStartOnly | kRepeatable,
     .syntax = "<address:port | [ipv6]:port | unix:path> [io-threads N] [qps-limit N] [readonly] [tls]",
     .help = "An additional listener with I/O threads of its own, so that a flood on it does not slow the others down. "
             "`qps-limit` delays commands beyond that many per second; `readonly` refuses commands that write; `tls` "
             "speaks TLS with the certificate of `tls-cert-file`. May be given several times."},
    {.name = "unixsocket", .section = kNet, .kind = Kind::kText, .fallback = "", .flags = kStartOnly,
     .syntax = "<path>", .help = "A Unix socket to listen on in addition to `port`, served by the same I/O threads."},
    {.name = "unixsocketperm", .section = kNet, .kind = Kind::kOctal, .fallback = "0", .min = 0, .max = 0777,
     .flags = kStartOnly, .target = &S::unixsocketperm,
     .help = "File permissions of `unixsocket`, in octal; 0 leaves them to the umask."},
    {.name = "io-threads", .section = kNet, .kind = Kind::kNumber, .fallback = "1", .min = 1, .max = 128,
     .flags = kStartOnly, .target = &S::io_threads,
     .help = "I/O threads that serve `port` and `unixsocket`. A connection stays with one of them; a replica's moves "
             "to a thread for replicas."},
    {.name = "tcp-backlog", .section = kNet, .kind = Kind::kNumber, .fallback = "511", .min = 1, .max = kMaxInt,
     .flags = kStartOnly, .target = &S::tcp_backlog,
     .help = "Connections that the kernel queues before the server accepts them; the kernel's own limit "
             "(net.core.somaxconn) applies too."},
    {.name = "tcp-keepalive", .section = kNet, .kind = Kind::kNumber, .fallback = "300", .min = 0, .max = kMaxInt,
     .target = &S::tcp_keepalive_s, .syntax = "<seconds>",
     .help = "Seconds of silence after which the kernel probes a client; 0 is never. A change applies to new "
             "connections."},
    {.name = "timeout", .section = kNet, .kind = Kind::kNumber, .fallback = "0", .min = 0, .max = kMaxInt,
     .target = &S::timeout_s, .syntax = "<seconds>",
     .help = "Seconds after which a client that sends nothing is disconnected; 0 is never."},
    {.name = "auth-timeout", .section = kNet, .kind = Kind::kNumber, .fallback = "60", .min = 0, .max = kMaxInt,
     .target = &S::auth_timeout_s, .syntax = "<seconds>",
     .help = "Seconds within which a client must complete its TLS handshake and, where that is required, authenticate; "
             "otherwise it is disconnected. 0 is no limit."},
    {.name = "maxclients", .section = kNet, .kind = Kind::kNumber, .fallback = "10000", .min = 1, .max = UINT32_MAX,
     .target = &S::maxclients,
     .help = "Clients that may be connected at the same time; a further client gets an error and is disconnected. The "
             "limit on open files (ulimit -n) must leave descriptors for tables and logs: the server lowers this value "
             "at the start, and refuses a higher one by CONFIG SET."},
    {.name = "client-query-buffer-limit", .section = kNet, .kind = Kind::kMemory, .fallback = "1gb", .min = kMegabyte,
     .target = &S::client_query_buffer_limit,
     .help = "The most bytes of unprocessed requests of one client; a client with more is disconnected."},
    {.name = "tracking-table-max-keys", .section = kNet, .kind = Kind::kNumber, .fallback = "1000000",
     .help = "The most keys that the server remembers for clients that cache them (CLIENT TRACKING). Beyond that, or "
             "when they take more than a 16th of `memory-budget`, the server forgets some keys and sends invalidation "
             "messages for them. 0 is no limit on their number."},
    {.name = "client-output-buffer-limit", .section = kNet, .kind = Kind::kSpecial,
     .fallback = "normal 0 0 0 replica 256mb 64mb 60 pubsub 32mb 8mb 60", .special = &kOutputLimitSyntax,
     .flags = kRepeatable | kMerged, .target = PublishOutputLimits,
     .syntax = "<normal | replica | pubsub> <hard> <soft> <soft seconds> [...]",
     .help = "The most bytes of unread replies, by class of clients. A client is disconnected at once above the hard "
             "limit, and after the given seconds above the soft limit. 0 is no limit. One line per class, or several "
             "classes on a line."},
    {.name = "double-format", .section = kNet, .kind = Kind::kChoice, .fallback = "shortest",
     .choices = kDoubleFormats, .target = &S::double_format,
     .help = "How replies show numbers such as scores: with the shortest digits that read back as the same number, as "
             "Redis 7.2 and later and Valkey (3.1), or with 17 digits, as Redis 7.0 (3.1000000000000001)."},
    {.name = "proto-max-bulk-len", .section = kNet, .kind = Kind::kMemory, .fallback = "512mb", .min = kMegabyte,
     .max = kMostBulkBytes, .target = &Limits::proto_max_bulk_len,
     .help = "Length of the longest argument that a client may send, and so of the longest string. At most 2 GB: a key "
             "and its value are stored as one row, and RocksDB's limit for a row is 4 GB."},
};
// clang-format on

}  // namespace

std::span<const Directive> NetworkDirectives() { return kRows; }

}  // namespace cairn
