// SPDX-License-Identifier: BSD-3-Clause
//
// The directives about clusters.
#include "config/directive.h"
#include "config/directive_syntax.h"

namespace cairn {
namespace {

using S = Settings;

constexpr auto kClu = Section::kCluster;

// In the order of EndpointType.
constexpr std::string_view kEndpoints[] = {"ip", "hostname", "unknown-endpoint"};

// clang-format off
const Directive kRows[] = {
    {.name = "cluster-enabled", .section = kClu, .kind = Kind::kBool, .fallback = "no", .flags = kStartOnly,
     .target = &S::cluster_enabled,
     .help = "This server is a node of a Redis Cluster. It has one database then."},
    {.name = "cluster-config-file", .section = kClu, .kind = Kind::kText, .fallback = "nodes.conf", .flags = kStartOnly,
     .syntax = "<file name>",
     .help = "The file in the data directory in which this node keeps what it knows of the cluster, in Redis's format. "
             "The server writes it; do not edit it while the server runs."},
    {.name = "cluster-port", .section = kClu, .kind = Kind::kNumber, .fallback = "0", .min = 0, .max = 65535,
     .flags = kStartOnly, .help = "The port of the cluster bus; 0 is `port` plus 10000."},
    {.name = "cluster-node-timeout", .section = kClu, .kind = Kind::kNumber, .fallback = "15000", .min = 1,
     .max = INT32_MAX,
     .help = "The time in milliseconds after which a node that does not answer counts as failing. A master that does "
             "not reach most masters for this time refuses requests."},
    {.name = "cluster-replica-validity-factor", .alias = "cluster-slave-validity-factor", .section = kClu,
     .kind = Kind::kNumber, .fallback = "10", .min = 0, .max = INT32_MAX,
     .help = "A replica does not replace a failed master if it has heard nothing from it for longer than this many "
             "times `cluster-node-timeout` and a `repl-ping-replica-period`; 0 is no limit."},
    {.name = "cluster-replica-no-failover", .alias = "cluster-slave-no-failover", .section = kClu,
     .kind = Kind::kBool, .fallback = "no",
     .help = "This node does not replace a failed master by itself; CLUSTER FAILOVER still works."},
    {.name = "cluster-migration-barrier", .section = kClu, .kind = Kind::kNumber, .fallback = "1", .min = 0,
     .max = INT32_MAX,
     .help = "A replica migrates to a master without replicas only if its own master keeps this many."},
    {.name = "cluster-allow-replica-migration", .section = kClu, .kind = Kind::kBool, .fallback = "yes",
     .help = "A replica may migrate to a master without replicas. A master that loses its last slot becomes a replica "
             "of the slot's new owner."},
    {.name = "cluster-link-sendbuf-limit", .section = kClu, .kind = Kind::kMemory, .fallback = "0",
     .help = "A link of the bus with more unsent bytes than this is closed; 0 is no limit."},
    {.name = "cluster-announce-ip", .section = kClu, .kind = Kind::kText, .fallback = "", .syntax = "<address>",
     .help = "The address of this node for clients and other nodes; if empty, the one that others see."},
    {.name = "cluster-announce-hostname", .section = kClu, .kind = Kind::kText, .fallback = "", .syntax = "<name>",
     .help = "The hostname of this node, see `cluster-preferred-endpoint-type`."},
    {.name = "cluster-announce-human-nodename", .section = kClu, .kind = Kind::kText, .fallback = "",
     .syntax = "<name>", .help = "A name of this node for logs."},
    {.name = "cluster-announce-port", .section = kClu, .kind = Kind::kNumber, .fallback = "0", .min = 0, .max = 65535,
     .help = "The port of this node for clients; 0 is `port`."},
    {.name = "cluster-announce-tls-port", .section = kClu, .kind = Kind::kNumber, .fallback = "0", .min = 0,
     .max = 65535, .help = "The port of this node for clients with TLS; 0 is `tls-port`."},
    {.name = "cluster-announce-bus-port", .section = kClu, .kind = Kind::kNumber, .fallback = "0", .min = 0,
     .max = 65535, .help = "The port of the bus for other nodes; 0 is `cluster-port`."},
    {.name = "cluster-preferred-endpoint-type", .section = kClu, .kind = Kind::kChoice, .fallback = "ip",
     .choices = kEndpoints, .target = &S::cluster_preferred_endpoint_type,
     .help = "The address of a node in redirections, CLUSTER SLOTS and CLUSTER SHARDS; with unknown-endpoint a client "
             "keeps the address that it has, and changes only the port."},
    {.name = "cluster-require-full-coverage", .section = kClu, .kind = Kind::kBool, .fallback = "yes",
     .target = &S::cluster_require_full_coverage,
     .help = "Requests are refused (CLUSTERDOWN) while a slot has no owner. With no, the other slots are served."},
    {.name = "cluster-allow-reads-when-down", .section = kClu, .kind = Kind::kBool, .fallback = "no",
     .target = &S::cluster_allow_reads_when_down,
     .help = "Reads are served even while the cluster is down, as this node has the data."},
    {.name = "cluster-allow-pubsubshard-when-down", .section = kClu, .kind = Kind::kBool, .fallback = "yes",
     .target = &S::cluster_allow_pubsubshard_when_down,
     .help = "Shard channels are served even while the cluster is down."},
    {.name = "cluster-slot-stats-enabled", .section = kClu, .kind = Kind::kBool, .fallback = "no",
     .help = "Measure the time and the bytes that commands cost in each slot, for CLUSTER SLOT-STATS."},
};
// clang-format on

}  // namespace

std::span<const Directive> ClusterDirectives() { return kRows; }

}  // namespace cairn
