// SPDX-License-Identifier: BSD-3-Clause
//
// ClientFilter: selects the clients for CLIENT KILL and CLIENT LIST, with the filters of Valkey 9.1.
//
// Thread: any; a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acl/users.h"
#include "base/result.h"
#include "command/args.h"
#include "command/session.h"

namespace cairn {

enum class ClientType : unsigned char { kNormal, kSubscriber, kReplica, kPrimary };

// Facts about a client, each optional. A filter names facts that a client must have (ID, TYPE, ...), and facts that it
// must not have (NOT-ID, NOT-TYPE, ...).
struct ClientFacts {
  std::vector<uint64_t> ids;
  std::optional<ClientType> type;
  std::optional<std::string> peer;
  std::optional<std::string> local;
  std::optional<std::string> ip;
  std::optional<std::string> user;
  std::optional<std::string> flags;         // all of them
  std::optional<std::string> capabilities;  // all of them
  std::optional<std::string> name;
  std::optional<std::string> lib_name;
  std::optional<std::string> lib_version;
  std::optional<int64_t> db;
};

struct ClientFilter {
  ClientFacts required;
  ClientFacts excluded;
  int64_t least_age_s = 0;
  int64_t least_idle_s = 0;
  bool skip_me = true;

  // Whether the session meets every condition that is set. `now_us` is monotonic.
  bool Matches(Session& session, uint64_t my_id, int64_t now_us) const;
};

// The state that the arguments are checked against.
struct FilterContext {
  const Users& users;
  int64_t databases;
};

// Parses the options of CLIENT KILL and of CLIENT LIST, each with its value, in any number. Errors in an id are those
// of Redis 7.2, which differ between the two.
Result<ClientFilter> ParseKillFilter(Args& args, const FilterContext& context);
Result<ClientFilter> ParseListFilter(Args& args, const FilterContext& context);

}  // namespace cairn
