// SPDX-License-Identifier: BSD-3-Clause
//
// Access: whether a user may run a command with these arguments. acl/ evaluates the rules, the command table knows
// commands and the positions of their keys; this file combines both.
//
// Thread: any unless stated otherwise; nothing is stored.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "acl/denial.h"
#include "acl/users.h"
#include "command/session.h"
#include "command/table.h"

namespace cairn {

// The commands and categories that rules may name. A command's id in the catalogue is its index().
Catalogue MakeCatalogue(const CommandTable& table);

// Returns no reason if one of the user's selectors allows the whole call in database `db`.
Denial CheckAccess(const AclUser& user, int64_t db, const Command& command, std::span<const std::string_view> argv);
// The same for the session's user and database. A session without an account may run everything. Thread: the session's
// worker.
Denial CheckAccess(Session& session, const Command& command, std::span<const std::string_view> argv);

// Whether one selector allows the command, the database and reading every key: then the command may read keys that its
// arguments do not name.
bool MayReadAllKeys(const AclUser& user, int64_t db, const Command& command, std::span<const std::string_view> argv);

// The database that the call names (SELECT, MOVE, COPY ... DB); of several the last one. None if it names none below
// `databases`.
std::optional<int> NamedDatabase(const Command& command, std::span<const std::string_view> argv, int databases);

// The denied object: the command's name, or the key, channel or database.
std::string_view DeniedObject(const Denial& denial, const Command& command, std::span<const std::string_view> argv);

// The reason why `user` may not call the command, without an error code. The verbose text also names the key or
// channel; `object` is DeniedObject(). LateDenialText is EXEC's reply to a queued call that is no longer allowed.
std::string DenialText(const Denial& denial, std::string_view user, const Command& command);
std::string VerboseDenialText(const Denial& denial, std::string_view user, std::string_view object);
std::string LateDenialText(const Denial& denial);

}  // namespace cairn
