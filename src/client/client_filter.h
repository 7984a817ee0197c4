// SPDX-License-Identifier: BSD-3-Clause
//
// ClientFilter: selects the clients for CLIENT KILL and CLIENT LIST.
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

struct ClientFilter {
  std::vector<uint64_t> ids;  // empty: any
  enum class Type : unsigned char { kNormal, kSubscriber, kReplica, kPrimary };
  std::optional<Type> type;
  std::optional<std::string> peer;
  std::optional<std::string> local;
  std::optional<std::string> user;
  bool skip_me = true;

  // Whether the session meets every condition that is set.
  bool Matches(Session& session, uint64_t my_id) const;
};

// Parses CLIENT KILL's options: ID id | TYPE type | USER name | ADDR ip:port | LADDR ip:port | SKIPME yes/no, each with
// its value, in any number.
Result<ClientFilter> ParseKillFilter(Args& args, const Users& users);

// Parses CLIENT LIST's options: none, TYPE type, or ID id [id ...].
Result<ClientFilter> ParseListFilter(Args& args);

}  // namespace cairn
