// SPDX-License-Identifier: BSD-3-Clause
#include "config/directive.h"

#include "command/args.h"

namespace cairn {
namespace {

struct SectionRow {
  std::string_view title;
  std::string_view text;
};

// In the order of Section.
constexpr SectionRow kSections[kSectionCount] = {
    {"Network", "The listeners, and the limits of a client."},
    {"TLS",
     "Certificates, keys and rules of TLS, for `tls-port`, for each `listen` line with `tls`, and for links to other "
     "servers. A change applies to new connections."},
    {"Process", "The process, its files and its threads."},
    {"Security", "Users, passwords and permissions."},
    {"Replication", "The replicas of this server, and its primary."},
    {"Cluster", "This server as a node of a Redis Cluster ([cluster](cluster.md))."},
    {"Durability", "When a write is safe on the disk, and RDB files."},
    {"Memory", "The limits on memory; `memory-budget` is the one that matters."},
    {"Collections",
     "The limits up to which a collection is packed into one row. A larger one is spread: it has a row per element."},
    {"Expiry and lazy freeing", "How expired and deleted keys are removed."},
    {"Observation", "The slow log, latencies and keyspace notifications."},
    {"RocksDB", "The storage engine. The defaults suit most servers."},
    {"Accepted for compatibility",
     "Directives of Redis about features that Cairn does not have, and of earlier versions of Cairn. They are checked, "
     "stored and shown by CONFIG GET, so that a redis.conf or an older cairn.conf works unchanged, but they have no "
     "effect."},
};

std::vector<Directive> JoinRows() {
  std::vector<Directive> rows;
  for (const auto part :
       {NetworkDirectives(), TlsDirectives(), ProcessDirectives(), ReplicationDirectives(), ClusterDirectives(),
        StorageDirectives(), TypeDirectives(), ObservationDirectives(), AcceptedDirectives()}) {
    rows.insert(rows.end(), part.begin(), part.end());
  }
  return rows;
}

}  // namespace

std::string_view SectionTitle(Section section) { return kSections[static_cast<int>(section)].title; }

std::string_view SectionText(Section section) { return kSections[static_cast<int>(section)].text; }

std::span<const Directive> AllDirectives() {
  static const std::vector<Directive> rows = JoinRows();
  return rows;
}

const Directive* FindDirective(std::string_view name) {
  for (const Directive& directive : AllDirectives()) {
    if (EqualsIgnoreCase(directive.name, name)) return &directive;
    if (!directive.alias.empty() && EqualsIgnoreCase(directive.alias, name)) return &directive;
  }
  return nullptr;
}

}  // namespace cairn
