// SPDX-License-Identifier: BSD-3-Clause
//
// Accounts: everything about users except their rules (acl/users.h): reads and writes the files of users, closes the
// clients of users, and logs denied access.
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

// Sets the users from requirepass, the `user` lines and the ACL file. The error is for the operator.
Status LoadUsers(Users& users, const Config& config);

// ACL LOAD and ACL SAVE. REQUIRES: aclfile is set. The error's text has no prefix; the error of a save is for the log.
Result<UserList> ReloadAclFile(Users& users, const Config& config);
Status SaveAclFile(const Users& users, const Config& config);

// Closes the clients of deleted users; the caller's own connection closes after its reply.
void CloseClientsOf(const ClientRegistry& clients, const UserList& users, const Session& caller);

// Closes clients of these users that subscribe to a channel or pattern which the users' rules no longer allow, as
// Redis's ACL SETUSER and ACL LOAD do.
void CloseSubscribersBeyondRules(PubSub& pubsub, const UserList& users, const Session& caller);

// Adds a denied access of the session to ACL LOG.
void LogDenial(AccessLog& log, const CommandTable& table, Session& session, DenialReason reason,
               std::string_view object, std::string_view username);

}  // namespace cairn
