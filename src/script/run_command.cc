// SPDX-License-Identifier: BSD-3-Clause
#include "script/run_command.h"

#include "acl/catalogue.h"
#include "base/clock.h"
#include "base/number.h"
#include "command/writable.h"
#include "script/flags.h"
#include "script/scripting.h"

namespace cairn {

Result<ScriptArguments> ReadScriptArguments(const Args& args, std::string_view not_a_number) {
  constexpr size_t kFirstKey = 3;
  const auto count = ParseInt64(args[2]);
  if (!count) return Status::Reply(not_a_number);
  if (*count > static_cast<int64_t>(args.size() - kFirstKey)) {
    return Status::Reply("ERR Number of keys can't be greater than number of args");
  }
  if (*count < 0) return Status::Reply("ERR Number of keys can't be negative");
  const auto rest = args.all().subspan(kFirstKey);
  const auto keys = static_cast<size_t>(*count);
  return ScriptArguments{rest.first(keys), rest.subspan(keys)};
}

Status CheckSize(CommandContext& ctx, const Args& args, std::string_view code) {
  constexpr size_t kMostCodeBytes = 64 << 10;
  constexpr size_t kMostBytes = 1 << 20;
  constexpr size_t kBytesPerArgument = 64;
  if (ctx.txn().command().lane() == Lane::kSlow) return Ok();
  size_t bytes = args.size() * kBytesPerArgument;
  for (const std::string_view arg : args.all()) bytes += arg.size();
  return code.size() > kMostCodeBytes || bytes > kMostBytes ? Status::WouldWait() : Ok();
}

bool IsSaidToOnlyRead(const Scripting& scripting, std::string_view command, std::span<const std::string_view> argv) {
  if (command == "fcall") {
    const std::shared_ptr<const Libraries> libraries = scripting.libraries();
    const Libraries::Found found = libraries->FindFunction(argv[1]);
    return found.library != nullptr && (found.function->flags & kNoWrites) != 0;
  }
  if (command == "evalsha") {
    const std::shared_ptr<const Script> script = scripting.cache().Find(LowerCase(argv[1]));
    return script != nullptr && (script->flags & kNoWrites) != 0;
  }
  const Result<ScriptHead> head = ReadScriptHead(argv[1]);
  return head.ok() && (head->flags & kNoWrites) != 0;
}

namespace {

// The keys that the script declares decide its slot; the dispatcher has checked them.
Status PrepareSlots(ScriptRun& run, uint32_t flags) {
  if (flags & kNoCluster) return Status::Reply("ERR Can not run script on cluster, 'no-cluster' flag is set.");
  SlotGate::Call call{run.ctx.session(), run.ctx.command(), run.argv};
  run.crosses_slots = flags & (kNoShebang | kAllowCrossSlotKeys);
  if (run.crosses_slots || run.ctx.session().is_primary) return Ok();
  TRY(run.scripting.slot_gate()->FindSlot(call));
  run.slot = call.slot;
  return Ok();
}

// A replica of a cluster sends a script that may write to its master.
Status CheckSlotForWrites(const ScriptRun& run) {
  SlotGate::Call call{run.ctx.session(), run.ctx.command(), run.argv};
  TRY(run.scripting.slot_gate()->FindSlot(call));
  return run.scripting.slot_gate()->CheckMayWrite(call);
}

void WriteLines(const ScriptRun& run) {
  for (const auto& [severity, line] : run.log) Log(severity, "{}", line);
  if (!run.log_is_cut) return;
  Log(LogSeverity::kWarning, "Script {} logged more than {} bytes. The rest of its lines was dropped.", run.name,
      ScriptRun::kMostLogBytes);
}

}  // namespace

Status PrepareRun(ScriptRun& run, uint32_t flags, bool read_only) {
  const bool says_so = !(flags & kNoShebang);
  const bool is_gated = !run.ctx.session().is_primary;
  if (is_gated && run.scripting.conditions().Has(kStaleReplica) && !(says_so && (flags & kAllowStale))) {
    return Status::Reply(kStaleText);
  }
  if (says_so && !(flags & kNoWrites)) {
    if (is_gated && run.scripting.slot_gate() != nullptr) TRY(CheckSlotForWrites(run));
    if (is_gated) TRY(CheckWritable(run.scripting.conditions()));
    TRY(CheckWritable(run.ctx.session(), run.ctx.txn().store()));
    if (read_only) return Status::Reply("ERR Can not execute a script with write flag using *_ro command.");
    const bool must_fit = is_gated && !(flags & kAllowOom);
    if (must_fit && IsOutOfMemory(run.scripting.conditions(), run.ctx.txn().store(), run.ctx.session().db)) {
      return Status::Reply(
          "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'");
    }
  }
  if (run.scripting.slot_gate() != nullptr) TRY(PrepareSlots(run, flags));
  run.allow_oom = says_so && (flags & kAllowOom);
  run.read_only = read_only || (says_so && (flags & kNoWrites));
  return Ok();
}

Status RunAsScript(ScriptRun& run, const std::function<Status()>& body) {
  Session& session = run.ctx.session();
  const int db = session.db;
  session.script.runs = true;
  session.script.time_us = WallUs();
  Status status = body();
  session.script.time_us = 0;
  session.script.runs = false;
  session.db = db;
  if (status.ok()) WriteLines(run);
  return status;
}

}  // namespace cairn
