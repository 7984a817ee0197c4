// SPDX-License-Identifier: BSD-3-Clause
#include "command/context.h"

#include <new>

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
  const std::vector<std::string_view> added = session_.RememberReads(keys);
  // A client that reads a key for the first time sees the changes that this transaction made before, and needs no
  // message. A client that was remembered before may have an older copy, and gets one.
  if (txn_.notifications().empty()) return;
  for (const std::string_view key : added) {
    txn_.notifications().Add({NotificationKind::kKeyRead, std::string(key), {}, session_.id()});
  }
}

namespace {

// Without memory the command fails. An exception ends the process where it would leave Lua's frames behind, or where a
// replica would go on without the command.
Status CallRun(CommandContext& ctx, const Command& command, bool may_fail, Args& args, Reply& reply) {
  const auto run = [&] { return command.row().run(ctx, args, reply); };
  if (!may_fail) return [&]() noexcept { return run(); }();
  try {
    return run();
  } catch (const std::bad_alloc&) {
    return Status::Reply("ERR out of memory: the server cannot allocate what the command needs");
  }
}

}  // namespace

Status RunCommand(CommandContext& ctx, std::span<const std::string_view> argv, Reply& reply) {
  const bool reads = ctx.command_.Has(kReadonly) && !ctx.command_.Has(kRunsScript);  // its calls do
  if (reads && ctx.session_.tracking.on && ctx.session_.tracking.remembers()) ctx.RememberReads(argv);
  const bool no_touch = ctx.session_.no_touch.load(std::memory_order_relaxed);
  ctx.txn_.command().OnlyPeek(no_touch && ctx.command_.row().name != "touch");
  Args args(argv);
  const bool may_fail = !ctx.command_.Has(kRunsScript) && !ctx.session_.is_primary;
  TRY(CallRun(ctx, ctx.command_, may_fail, args, reply));
  if (ctx.changes_ > 0) {
    ctx.txn_.command().CountChanges(ctx.changes_);
    if (ctx.is_replicated() && !ctx.replicates_itself_) ctx.txn_.replicated_commands().Add(ctx.session_.db, argv);
  }
  return ctx.txn_.command().TakeRefusal();
}

}  // namespace cairn
