// SPDX-License-Identifier: BSD-3-Clause
//
// Fixed: the function of a command that shares its code with others and differs from them in constants, as its row
// names it: .run = Fixed<SetDeadline, Unit::kSeconds, Origin::kNow>.
#pragma once

#include "command/context.h"

namespace cairn {

template <auto kFunction, auto... kConstants>
Status Fixed(CommandContext& ctx, Args& args, Reply& reply) {
  return kFunction(ctx, args, reply, kConstants...);
}

}  // namespace cairn
