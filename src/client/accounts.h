// SPDX-License-Identifier: BSD-3-Clause
//
// Accounts: what the server does with its users beyond their rules (acl/users.h): reads and writes
// their files, closes their clients, logs what they were refused.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "acl/denial.h"
#include "acl/users.h"
#include "base/result.h"

namespace cairn {

class AccessLog;
class ClientRegistry;
class CommandTable;
class Config;
class PubSub;
class Session;

// Sets the users that requirepass, the `user` lines and the ACL file tell of. The error is for the
// operator.
Status LoadUsers(Users& users, const Config& config);

// ACL LOAD and ACL SAVE. REQUIRES: aclfile is set. The error's text is without a prefix; that of
// saving is for the log.
Result<UserList> ReloadAclFile(Users& users, const Config& config);
Status SaveAclFile(const Users& users, const Config& config);

// Closes the clients of users that are no more; the caller's own gets its reply first.
void CloseClientsOf(const ClientRegistry& clients, const UserList& users, const Session& caller);

// Closes the users' clients that listen to a channel or a pattern which the users' rules do not allow any more, as
// Redis's ACL SETUSER and ACL LOAD do.
void CloseSubscribersBeyondRules(PubSub& pubsub, const UserList& users, const Session& caller);

// Adds to ACL LOG what the session was refused.
void LogDenial(AccessLog& log, const CommandTable& table, Session& session, DenialReason reason,
               std::string_view object, std::string_view username);

}  // namespace cairn
