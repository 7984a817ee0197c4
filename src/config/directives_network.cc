// SPDX-License-Identifier: BSD-3-Clause
//
// The directives about listening and about clients.
#include "config/directive.h"
#include "config/directive_syntax.h"

namespace cairn {
namespace {

constexpr int64_t kMaxInt = INT32_MAX;
constexpr int64_t kMegabyte = 1 << 20;
constexpr int64_t kMostBulkBytes = int64_t{2} << 30;  // two of them, a key and its value, make a row (storage/batch.h)

using S = Settings;

constexpr auto kNet = Section::kNetwork;

const Directive kRows[] = {
    {.name = "bind", .section = kNet, .kind = Kind::kSpecial, .fallback = "* -::*", .special = &kBindSyntax,
     .syntax = "<address> [<address> ...]",
     .help = "Addresses that `port` and `tls-port` listen on. * is every IPv4 address, ::* every IPv6 one; an "
             "address with a dash in front may be missing on this machine; \"\" is none. While there is no password "
             "`protected-mode` keeps other machines out. A change is for clients that come later."},
    {.name = "bind-source-addr", .section = kNet, .kind = Kind::kText, .fallback = "", .syntax = "<address>",
     .help = "The address of this machine that connections to a primary come from; the kernel chooses when it is "
             "empty, or cannot be had."},
    {.name = "port", .section = kNet, .kind = Kind::kNumber, .fallback = "6380", .min = 0,
     .max = 65535, .target = &S::port,
     .help = "TCP port on each address of `bind`; 0 listens on none, so that only `listen` and "
             "`unixsocket` count. A change is for clients that come later."},
    {.name = "metrics-port", .section = kNet, .kind = Kind::kNumber, .fallback = "0", .min = 0,
     .max = 65535, .flags = kStartOnly, .target = &S::metrics_port,
     .help = "TCP port on each address that `bind` has at the start where Prometheus finds the metrics, at /metrics, "
             "over HTTP and without a password; `protected-mode` holds here too. At most 16 connections, of which a "
             "new one replaces the one that has been idle longest. 0 is none."},
    {.name = "listen", .section = kNet, .kind = Kind::kSpecial, .special = &kListenSyntax,
     .flags = kStartOnly | kRepeatable,
     .syntax = "<address:port | [ipv6]:port | unix:path> [io-threads N] [qps-limit N] [readonly] [tls]",
     .help = "One more listener, with I/O threads of its own, so that a flood on it leaves the "
             "others alone. `qps-limit` delays what exceeds so many commands a second; `readonly` "
             "refuses commands that write; `tls` speaks TLS with the certificate of `tls-cert-file`. May be "
             "given any number of times."},
    {.name = "unixsocket", .section = kNet, .kind = Kind::kText, .fallback = "",
     .flags = kStartOnly, .syntax = "<path>",
     .help = "A Unix socket to listen on beside `port`, served by the same I/O threads."},
    {.name = "unixsocketperm", .section = kNet, .kind = Kind::kOctal, .fallback = "0", .min = 0,
     .max = 0777, .flags = kStartOnly, .target = &S::unixsocketperm,
     .help = "File permissions of `unixsocket`, in octal; 0 leaves them to the umask."},
    {.name = "io-threads", .section = kNet, .kind = Kind::kNumber, .fallback = "1", .min = 1,
     .max = 128, .flags = kStartOnly, .target = &S::io_threads,
     .help = "I/O threads that serve `port` and `unixsocket`. A connection belongs to one of them "
             "for life, but that of a replica moves to another."},
    {.name = "tcp-backlog", .section = kNet, .kind = Kind::kNumber, .fallback = "511", .min = 1,
     .max = kMaxInt, .flags = kStartOnly, .target = &S::tcp_backlog,
     .help = "Connections the kernel may hold that have not been accepted yet; the kernel's own "
             "bound (net.core.somaxconn) applies too."},
    {.name = "tcp-keepalive", .section = kNet, .kind = Kind::kNumber, .fallback = "300", .min = 0,
     .max = kMaxInt, .target = &S::tcp_keepalive_s, .syntax = "<seconds>",
     .help = "Seconds of silence after which the kernel probes whether a client is still there; 0 "
             "never. Connections accepted from now on follow a change."},
    {.name = "timeout", .section = kNet, .kind = Kind::kNumber, .fallback = "0", .min = 0,
     .max = kMaxInt, .target = &S::timeout_s, .syntax = "<seconds>",
     .help = "Seconds after which a client that sends nothing is disconnected; 0 never."},
    {.name = "auth-timeout", .section = kNet, .kind = Kind::kNumber, .fallback = "60", .min = 0,
     .max = kMaxInt, .target = &S::auth_timeout_s, .syntax = "<seconds>",
     .help = "Seconds that a client has to authenticate, where it must, and for the TLS handshake; then it is "
             "disconnected. 0 is no limit."},
    {.name = "maxclients", .section = kNet, .kind = Kind::kNumber, .fallback = "10000", .min = 1,
     .max = UINT32_MAX, .target = &S::maxclients,
     .help = "Clients connected at one time; a client beyond that is told so and disconnected. Lowered at the start, "
             "and refused by CONFIG SET, where the limit on open files (ulimit -n) leaves too few beside tables "
             "and logs."},
    {.name = "client-query-buffer-limit", .section = kNet, .kind = Kind::kMemory, .fallback = "1gb",
     .min = kMegabyte, .target = &S::client_query_buffer_limit,
     .help = "Bytes of requests not yet run that one client may have here; beyond that it is "
             "disconnected."},
    {.name = "tracking-table-max-keys", .section = kNet, .kind = Kind::kNumber, .fallback = "1000000",
     .help = "Keys that are remembered at most because clients have read them (CLIENT TRACKING); beyond "
             "that, or when they take more than a 16th of `memory-budget`, clients are told to forget some. 0 is no "
             "limit to their number."},
    {.name = "client-output-buffer-limit", .section = kNet, .kind = Kind::kSpecial,
     .fallback = "normal 0 0 0 replica 256mb 64mb 60 pubsub 32mb 8mb 60",
     .special = &kOutputLimitSyntax, .flags = kRepeatable, .target = PublishOutputLimits,
     .syntax = "<normal | replica | pubsub> <hard> <soft> <soft seconds> [...]",
     .help = "Bytes of replies that may wait for a client of a class to take them: it is "
             "disconnected at once above the hard limit, and after so many seconds above the soft "
             "one. 0 is no limit. One line per class, or several classes on a line."},
    {.name = "proto-max-bulk-len", .section = kNet, .kind = Kind::kMemory, .fallback = "512mb",
     .min = kMegabyte, .max = kMostBulkBytes, .target = &Limits::proto_max_bulk_len,
     .help = "The longest argument a client may send, and so the longest string there can be. At most "
             "2 GB: a value and its key have to be stored as one row, which RocksDB allows 4 GB."},
};

}  // namespace

std::span<const Directive> NetworkDirectives() { return kRows; }

}  // namespace cairn
