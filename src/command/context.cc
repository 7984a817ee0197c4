// SPDX-License-Identifier: BSD-3-Clause
#include "command/context.h"

namespace cairn {

void CommandContext::EmitToOthers(int db, EventClass of, std::string_view event, std::string_view key) {
  if (WantsEvent(txn_, of)) EmitEvent(txn_, db, event, key);
  if (!(txn_.replicated_commands().interest() & kInterestInKeys)) return;
  txn_.notifications().Add({NotificationKind::kKeyChanged, std::string(key), {}, session_.id()});
}

void CommandContext::NotifyFlushed() {
  if (txn_.replicated_commands().interest() & kInterestInKeys)
    txn_.notifications().Add({NotificationKind::kAllChanged, {}, {}});
}

// Called before the command reads its keys, so that no change falls between the registration and the read.
void CommandContext::RememberReads(std::span<const std::string_view> argv) {
  std::vector<uint32_t> positions;
  if (!command_.has_keys() || !command_.FindKeys(argv, positions)) return;
  std::vector<std::string_view> keys;
  for (const uint32_t position : positions) keys.push_back(argv[position]);
  session_.RememberReads(keys);
  // The client has not been notified of changes that this transaction made before the read, and need not be: it sees
  // them.
  if (txn_.notifications().empty()) return;
  for (const std::string_view key : keys) {
    txn_.notifications().Add({NotificationKind::kKeyRead, std::string(key), {}, session_.id()});
  }
}

Status RunCommand(CommandContext& ctx, std::span<const std::string_view> argv, Reply& reply) {
  const bool reads = ctx.command_.Has(kReadonly) && !ctx.command_.Has(kRunsScript);  // its calls do
  if (reads && ctx.session_.tracking.on && ctx.session_.tracking.remembers()) ctx.RememberReads(argv);
  Args args(argv);
  TRY(ctx.command_.row().run(ctx, args, reply));
  if (ctx.changes_ > 0) {
    ctx.txn_.command().CountChanges(ctx.changes_);
    if (ctx.is_replicated() && !ctx.replicates_itself_) ctx.txn_.replicated_commands().Add(ctx.session_.db, argv);
  }
  return ctx.txn_.command().TakeRefusal();
}

}  // namespace cairn
