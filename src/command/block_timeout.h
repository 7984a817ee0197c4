// SPDX-License-Identifier: BSD-3-Clause
//
// The timeout argument that all blocking commands share: seconds, with decimals, 0 for ever.
#pragma once

#include <string_view>

#include "base/result.h"
#include "command/context.h"

namespace cairn {

// Reads `seconds` and tells the context; rounds up to whole milliseconds.
Status SetBlockTimeout(CommandContext& ctx, std::string_view seconds);

}  // namespace cairn
