// SPDX-License-Identifier: BSD-3-Clause
//
// Redact: removes passwords from a request before it is stored where others can read it.
//
// Thread: any; pure.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "command/table.h"

namespace cairn {

// Returns the request with "(redacted)" in place of secrets, as in Redis: the arguments of AUTH (also within HELLO and
// MIGRATE), the rules of a user, values of secret directives. Unlike Redis, it also redacts a request within the
// arguments of ACL DRYRUN or COMMAND GETKEYS.
std::vector<std::string_view> RedactSecrets(const Command& command, std::span<const std::string_view> argv);

}  // namespace cairn
