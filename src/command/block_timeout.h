// SPDX-License-Identifier: BSD-3-Clause
//
// The timeout argument of all blocking commands: seconds, with decimals; 0 blocks forever.
#pragma once

#include <string_view>

#include "base/result.h"
#include "command/context.h"

namespace cairn {

// Parses `seconds` into the context's timeout, rounded up to whole milliseconds.
Status SetBlockTimeout(CommandContext& ctx, std::string_view seconds);

}  // namespace cairn
