// SPDX-License-Identifier: BSD-3-Clause
//
// Redacting: taking passwords out of a request before it is kept where others can read it.
//
// Thread: any; pure.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "command/table.h"

namespace cairn {

// The request with "(redacted)" in place of secrets, as in Redis: what follows AUTH, in HELLO and MIGRATE what follows
// their AUTH, a user's rules, values of secret directives. Unlike Redis, also in a request that ACL DRYRUN or COMMAND
// GETKEYS has as arguments.
std::vector<std::string_view> RedactSecrets(const Command& command, std::span<const std::string_view> argv);

}  // namespace cairn
