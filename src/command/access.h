// SPDX-License-Identifier: BSD-3-Clause
//
// Access: whether a user may run a command with these arguments. acl/ knows the rules, the command
// table what a command is and where its keys stand; here the two meet.
//
// Thread: any but where said; nothing is kept.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "acl/denial.h"
#include "acl/users.h"
#include "command/session.h"
#include "command/table.h"

namespace cairn {

// The commands and categories as rules name them; a command's id there is its index().
Catalogue MakeCatalogue(const CommandTable& table);

// No reason when one of the user's selectors allows all of the call.
Denial CheckAccess(const AclUser& user, const Command& command, std::span<const std::string_view> argv);
// The same for who the session is; one without an account may do everything. Thread: the session's worker.
Denial CheckAccess(Session& session, const Command& command, std::span<const std::string_view> argv);

// Whether one selector allows the command and the reading of every key: then a call may find its keys on the way.
bool MayReadAllKeys(const AclUser& user, const Command& command, std::span<const std::string_view> argv);

// What was denied: the command's name, or the key or channel.
std::string_view DeniedObject(const Denial& denial, const Command& command, std::span<const std::string_view> argv);

// Why `user` may not call the command, without an error code. The verbose text names a key or channel as well;
// `object` is DeniedObject(). The last is the error reply to a queued call that EXEC finds to be no longer allowed.
std::string DenialText(const Denial& denial, std::string_view user, const Command& command);
std::string VerboseDenialText(const Denial& denial, std::string_view user, std::string_view object);
std::string LateDenialText(const Denial& denial);

}  // namespace cairn
