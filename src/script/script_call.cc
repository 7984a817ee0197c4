// SPDX-License-Identifier: BSD-3-Clause
#include "script/script_call.h"

#include <optional>

#include "base/clock.h"
#include "command/access.h"
#include "command/script_calls.h"
#include "command/writable.h"
#include "script/scripting.h"

namespace cairn {
namespace {

constexpr std::string_view kTooManyChanges = "OOM the changes of the script exceed the memory limit of scripts";
constexpr std::string_view kCrossesSlots = "ERR Script attempted to access keys that do not hash to the same slot";

// Checks the conditions of the server. A script that has begun to write is not checked again.
Status CheckState(const ScriptRun& run, const Command& command, std::span<const std::string_view> argv) {
  if (run.ctx.session().is_primary) return Ok();
  const Conditions& conditions = run.scripting.conditions();
  TRY(CheckWritable(conditions));
  if (!run.allow_oom) TRY(CheckMemory(conditions, run.ctx.txn().store(), command, argv, run.ctx.session().db));
  if (!conditions.Has(kLowOnDisk)) return Ok();
  return CheckRoom(conditions, run.ctx.txn().store(), command.Has(kDenyOom), command.Has(kLockAll));
}

// All changes and messages of a script wait in memory for its commit. A script that the primary sent runs to its end.
bool HasTooManyChanges(const ScriptRun& run) {
  if (run.ctx.session().is_primary) return false;
  return run.pending_bytes() > run.pending_before + run.scripting.most_bytes();
}

// Returns the error text that refuses the command; empty: it may run.
std::string Refusal(ScriptRun& run, const Command* command, std::span<const std::string_view> argv) {
  if (command == nullptr) return "ERR Unknown Redis command called from script";
  if (!command->AcceptsArity(argv.size())) return "ERR Wrong number of args calling Redis command from script";
  if (command->Has(kNoScript) && !run.scripting.allows_any_command()) {
    return "ERR This Redis command is not allowed from script";
  }
  Session& session = run.ctx.session();
  if (const Denial denial = CheckAccess(session, *command, argv)) {
    run.ctx.script_calls().Deny(denial.reason, DeniedObject(denial, *command, argv));
    return "ERR ACL failure in script: " + DenialText(denial, session.login.user_name(), *command);
  }
  if (run.read_only && (command->flags() & (kWrite | kMayReplicate))) {
    return "ERR Write commands are not allowed from read-only scripts.";
  }
  if ((command->flags() & (kWrite | kMayReplicate)) && HasTooManyChanges(run)) return std::string(kTooManyChanges);
  if (command->Has(kWrite) && !run.has_written) {
    Status refused = CheckState(run, *command, argv);
    if (refused.ok()) refused = CheckWritable(session, run.ctx.txn().store());
    if (!refused.ok()) return std::string(refused.text());
  }
  if (!session.is_primary && run.scripting.conditions().Has(kStaleReplica) && !command->Has(kStale)) {
    return "ERR Can not execute the command on a stale replica";
  }
  return {};
}

// The words of an error of the slot gate in a script.
std::string SlotRefusal(const Status& refused) {
  const std::string_view text = refused.text();
  if (text.starts_with("ERR ")) return std::string(text);
  if (text.starts_with("CROSSSLOT ")) return std::string(kCrossesSlots);
  if (text.ends_with("only accepts read commands")) {
    return "ERR Script attempted to execute a write command while the cluster is down and readonly";
  }
  if (text.ends_with("is down")) return "ERR Script attempted to execute a command while the cluster is down";
  return "ERR Script attempted to access a non local key in a cluster node";
}

// On a node of a cluster: checks that the keys are served here, and are in the script's slot. Returns the error text;
// empty: the command may run. kWouldWait: a key of a slot that migrates has to be read from the disk.
Result<std::string> CheckSlots(ScriptRun& run, const Command& command, std::span<const std::string_view> argv) {
  const SlotGate* const gate = run.scripting.slot_gate();
  if (gate == nullptr || run.ctx.session().is_primary) return std::string();
  SlotGate::Call call{run.ctx.session(), command, argv};
  Status refused = gate->Check(call);
  if (refused.ok()) refused = gate->CheckLocked(call, run.ctx.txn(), run.ctx.limits());
  if (refused.Is(Code::kReply)) return SlotRefusal(refused);
  TRY(std::move(refused));
  if (call.slot == -1 || run.crosses_slots) return std::string();
  if (run.slot == -1) run.slot = call.slot;
  return std::string(run.slot == call.slot ? "" : kCrossesSlots);
}

// A script must not start over after a command that acts on another server. So it locks all keys before, and its reads
// must still hold. In a pause of writes it counts a change, so that the dispatcher holds it back.
Status LockToRunOnce(ScriptRun& run) {
  Transaction& txn = run.ctx.txn();
  TRY(txn.LockAll());
  const bool is_paused = run.ctx.session().script.began_in_pause;
  if (is_paused) txn.command().CountChanges(1);
  return is_paused || !txn.ReadsHold() ? Status::WouldWait() : Ok();
}

Status LockKeys(ScriptRun& run, const Command& command, std::span<const std::string_view> argv) {
  Transaction& txn = run.ctx.txn();
  if (command.Has(kSlowLane) && txn.command().lane() == Lane::kFast) return Status::WouldWait();
  if (command.Has(kLockAll)) return txn.LockAll();
  if (command.Has(kRunsOnce)) return LockToRunOnce(run);
  if (!command.has_keys() || !(command.flags() & (kWrite | kKeepsAnswer))) return Ok();
  std::vector<uint32_t>& scratch = run.scratch;
  scratch.clear();
  (void)command.FindKeys(argv, scratch);
  bool holds_all = true;
  for (uint32_t& position : scratch) {
    position = StripeOf(argv[position]);
    holds_all = holds_all && txn.stripes().Has(position);
  }
  return holds_all ? Ok() : txn.Lock(scratch);
}

// Returns whether writes are held back that were not when the command began. A script that only reads is not.
bool IsHeldBack(const ScriptRun& run) {
  const Session& session = run.ctx.session();
  if (session.is_primary || run.read_only) return false;
  const SlotGate* const gate = run.scripting.slot_gate();
  if (gate != nullptr && gate->routes().holds_any()) return true;
  return run.scripting.conditions().Has(kPausesExpiry) && !session.script.began_in_pause;
}

// A thread that holds writes back waits for the holders of keys afterwards. It does not wait for a script that has not
// locked any key, so such a script starts over, and the dispatcher holds it back.
Status LockForCall(ScriptRun& run, const Command& command, std::span<const std::string_view> argv) {
  const HeldStripes& held = run.ctx.txn().stripes();
  const bool holds_none = held.empty();
  TRY(LockKeys(run, command, argv));
  return holds_none && !held.empty() && IsHeldBack(run) ? Status::WouldWait() : Ok();
}

bool EndsRun(const Status& status) {
  return status.Is(Code::kWouldWait) || status.Is(Code::kCorruption) || status.Is(Code::kIo);
}

// Bounds a command's reply to a script, before it is converted for Lua.
class CallRoom : public ReplyRoom {
 public:
  explicit CallRoom(uint64_t most_bytes) : most_bytes_(most_bytes) {}
  bool MayHold(uint64_t bytes) override { return bytes <= most_bytes_; }

 private:
  const uint64_t most_bytes_;
};

// Runs the command. An error, or a reply that is too large, reverts its writes and becomes its reply.
Status RunOne(ScriptRun& run, const Command& command, std::span<const std::string_view> argv, Reply& reply) {
  Transaction& txn = run.ctx.txn();
  CommandContext ctx = run.ctx.For(command);
  if (!run.replicates) txn.replicated_commands().Silence(true);
  std::optional<Transaction::Savepoint> savepoint;
  if (command.flags() & (kWrite | kMayReplicate)) savepoint = txn.MakeSavepoint();
  Status status = RunCommand(ctx, argv, reply);
  txn.replicated_commands().Silence(false);
  if (EndsRun(status) || (status.ok() && !reply.is_cut())) return status;
  // A command that would block keeps its writes: XREADGROUP may have created its consumer.
  if (savepoint && !status.Is(Code::kMustBlock)) txn.RollbackTo(*savepoint);
  if (reply.is_cut()) return Ok();
  reply.Rewind();
  if (status.Is(Code::kReply)) {
    reply.Error(status.text());
  } else {
    reply.NullArray();  // it would block
  }
  return Ok();
}

}  // namespace

const Command* FindCalled(const CommandTable& table, std::span<const std::string_view> argv) {
  const Command* command = table.Resolve(argv);
  const bool lacks_subcommand =
      command != nullptr && command->Has(kSubcommands) && command->parent() == nullptr && argv.size() > 1;
  return lacks_subcommand && command->row().run == nullptr ? nullptr : command;
}

CallResult CallCommand(ScriptRun& run, std::span<const std::string_view> argv, std::string& out) {
  out.clear();
  const Command* command = FindCalled(run.ctx.table(), argv);
  ScriptCalls& calls = run.ctx.script_calls();
  if (std::string refusal = Refusal(run, command, argv); !refusal.empty()) {
    calls.CountRejected(command, refusal);
    out = std::move(refusal);
    return CallResult::kRefused;
  }
  const int64_t started_us = MonotonicUs();
  if (run.scripting.shows_calls()) calls.Show(*command, run.ctx.session().db, argv);
  const bool begins_to_write = command->Has(kWrite) && !run.has_written;
  CallRoom room(run.scripting.most_bytes());
  Reply reply(out, run.protocol, &room);
  Status status = LockForCall(run, *command, argv);
  if (status.ok()) {
    Result<std::string> refusal = CheckSlots(run, *command, argv);
    if (refusal.ok() && !refusal->empty()) {
      calls.CountRejected(command, *refusal);
      out = std::move(*refusal);
      return CallResult::kRefused;
    }
    status = std::move(refusal).TakeStatus();
  }
  // The conditions may have changed during the wait for locks. The rerun returns the error.
  if (status.ok() && begins_to_write && !CheckState(run, *command, argv).ok()) status = Status::WouldWait();
  if (status.ok() && begins_to_write) status = run.scripting.BeginWrite(run);
  if (status.ok()) status = RunOne(run, *command, argv, reply);
  if (!status.ok()) {
    run.stop = std::move(status);
    return CallResult::kEnded;
  }
  if (reply.is_cut()) {
    out = "ERR the reply of the command exceeds the memory limit of scripts";
    return CallResult::kRefused;
  }
  calls.Count(*command, MonotonicUs() - started_us, out);
  return CallResult::kReplied;
}

}  // namespace cairn
