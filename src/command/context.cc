// SPDX-License-Identifier: BSD-3-Clause
#include "command/context.h"

namespace cairn {

Status RunCommand(CommandContext& ctx, std::span<const std::string_view> argv, Reply& reply) {
  Args args(argv);
  TRY(ctx.command_.row().run(ctx, args, reply));
  if (ctx.changes_ == 0) return Ok();
  ctx.txn_.CountChanges(ctx.changes_);
  if (ctx.wants_effects() && !ctx.has_own_effects_) ctx.txn_.AddEffect(ctx.session_.db, argv);
  return Ok();
}

}  // namespace cairn
