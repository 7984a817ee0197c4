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
    {"Network", "Where clients connect, and what one of them may ask for."},
    {"TLS",
     "Certificates, keys and rules of TLS, for `tls-port`, for each `listen` line that says `tls`, and for links to "
     "other servers. A change is for connections that come later."},
    {"Process", "The process, its files and its threads."},
    {"Security", "Who may do what."},
    {"Replication", "Replicas of this server, and the primary it is one of."},
    {"Durability", "When a write is safe."},
    {"Memory", "One number bounds it all."},
    {"Collections",
     "Up to where a hash, set, sorted set or list is kept packed, as one row. Beyond that it is "
     "spread, a row per element."},
    {"Expiry and lazy freeing", "How keys leave."},
    {"Observation", "What the server tells of itself."},
    {"RocksDB", "The engine underneath. The defaults need no attention."},
    {"Accepted for compatibility",
     "Directives of Redis about things that Cairn does not have, and of earlier versions of Cairn. "
     "They are checked, kept and shown by CONFIG GET, so that a redis.conf or an older cairn.conf can "
     "be used as it is; they change nothing."},
};

std::vector<Directive> JoinRows() {
  std::vector<Directive> rows;
  for (const auto part : {NetworkDirectives(), TlsDirectives(), ProcessDirectives(), ReplicationDirectives(),
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
