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

// The request with "(redacted)" in place of secrets: what follows AUTH, in HELLO what follows its
// AUTH, and the value of CONFIG SET requirepass.
std::vector<std::string_view> RedactSecrets(const Command& command,
                                            std::span<const std::string_view> argv);

}  // namespace cairn
