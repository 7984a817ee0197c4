// SPDX-License-Identifier: BSD-3-Clause
#include "command/dispatch.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "base/clock.h"
#include "base/deadline.h"
#include "command/access.h"
#include "command/writable.h"
#include "encoding/row_key.h"
#include "resp/errors.h"
#include "storage/store.h"
#include "types/expiry.h"

namespace cairn {
namespace {

// A slow lane command whose reads keep changing locks everything after this many retries.
constexpr int kTriesBeforeLockAll = 1;
constexpr int kMostTries = 8;
constexpr int64_t kMostWaitMs = 24 * 3600 * 1000;  // then a command with a later time of its rerun runs again
constexpr std::string_view kRedirect = "REDIRECT ";
// Without data, but they may run twice: what they do ends with the transaction, or is their reply.
constexpr std::string_view kPlainCommands[] = {"ping", "echo", "select", "time"};

std::string OnlyListens(const Command& command) {
  std::string text("ERR Can't execute '");
  text.append(command.full_name());
  return text.append("': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context");
}

// Whether a second run would meet what the first has done: commands without data change the session, other clients or
// the server at once, and not by the transaction.
bool ActsAtOnce(const Command& command) {
  if (command.flags() & (kWrite | kReadonly | kMayReplicate | kRunsScript | kPubsub)) return false;
  return std::ranges::find(kPlainCommands, command.full_name()) == std::end(kPlainCommands);
}

// The database in which the session's next command runs; in MULTI, after the SELECTs of the queue.
int NextDatabase(const Session& session) {
  const std::vector<QueuedCommand>& queue = session.multi.queue;
  return queue.empty() ? session.db.load() : queue.back().next_db;
}

// Whether the deletion of a key unblocks the command: XREADGROUP's reply is an error then.
bool UnblocksOnNoKey(const Command& command) { return command.row().awaits == Type::kNone && command.Has(kWrite); }

}  // namespace

struct Dispatcher::Call {
  CommandWorker& worker;
  Session& session;
  std::span<const std::string_view> argv;
  const Command* command = nullptr;
  bool rerun = false;
  bool is_gated = false;    // checks the state of the server; not for a primary's stream
  bool on_replica = false;  // when the command began
  bool refused_late = false;
  bool is_held_back = false;  // by a pause of writes, or because its slot is about to move to another node
  bool keeps_writes = false;  // it parks, and its writes stay
  int64_t block_timeout_ms = 0;
  int64_t run_again_in_ms = 0;                           // of a command that parks; 0: only when a key changes
  std::vector<std::pair<size_t, std::string>> replaced;  // replaced arguments of a command that parks
  std::unique_ptr<ScriptCalls> called;                   // by its scripts
  std::optional<SlotGate::Call> slots;                   // on a node of a cluster, once the gate has checked it
};

// ---- gates

Status Dispatcher::CheckGates(Call& call) {
  const Command* command = call.command;
  const Session& session = call.session;
  if (command == nullptr) {
    return Status::Reply(errors::UnknownCommand(call.argv[0], call.argv.data() + 1, call.argv.size() - 1));
  }
  if (command->Has(kSubcommands) && command->parent() == nullptr && call.argv.size() > 1 &&
      command->row().run == nullptr) {
    std::string container(call.argv[0]);
    for (char& c : container) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    return Status::Reply(errors::UnknownSubcommand(call.argv[1], container));
  }
  if (!command->AcceptsArity(call.argv.size())) return Status::Reply(errors::WrongArity(command->full_name()));
  if (!command->Has(kNoAuth) && !session.login.is_let_in()) {
    return Status::Reply("NOAUTH Authentication required.");
  }
  if (session.multi.active && command->Has(kNoMulti)) {
    return Status::Reply("ERR Command not allowed inside a transaction");
  }
  if (session.is_replica && command->flags() & (kWrite | kReadonly)) {
    return Status::Reply("ERR Replica can't interact with the keyspace");
  }
  if (session.login.account != nullptr && !session.login.account->is_unrestricted()) TRY(CheckUser(call));
  if (session.only_listens() && !command->Has(kForListener)) return Status::Reply(OnlyListens(*command));
  if (slot_gate_ != nullptr) {
    call.slots.emplace(session, *command, call.argv);
    TRY(slot_gate_->Check(*call.slots));
  }
  if (conditions_.any()) TRY(CheckConditions(call));
  if (command->Has(kWrite)) TRY(CheckWritable(session, call.worker.txn.store()));
  // A blocked client stays blocked, or gets its reply.
  if (busy_scripts_.any() && !call.rerun && !command->Has(kAllowBusy)) {
    return Status::Reply(std::string(busy_scripts_.refusal()));
  }
  return Ok();
}

// Returns whether the command, or one that EXEC is about to run, has the flag; with `missing`, whether one lacks it.
bool Dispatcher::AnyOf(const Call& call, CommandFlag flag, bool missing) {
  if (call.command->Has(flag) != missing) return true;
  if (!call.command->Has(kRunsQueue)) return false;
  const std::vector<QueuedCommand>& queue = call.session.multi.queue;
  return std::any_of(queue.begin(), queue.end(),
                     [&](const QueuedCommand& queued) { return queued.command->Has(flag) != missing; });
}

// A replica refers a client that has announced CAPA REDIRECT to its primary.
Status Dispatcher::CheckRedirect(const Call& call, bool writes) const {
  const bool must_move = writes || (AnyOf(call, kReadonly, false) && !call.session.redirection.reads_replica);
  const std::string primary = must_move && primary_address_ ? primary_address_() : std::string();
  return primary.empty() ? Ok() : Status::Reply(std::string(kRedirect) + primary);
}

Status Dispatcher::CheckConditions(const Call& call) {
  const bool writes = AnyOf(call, kWrite, false);
  if (conditions_.Has(kKeepsExpired) && call.session.redirection.is_followed) TRY(CheckRedirect(call, writes));
  if (writes) TRY(CheckWritable(conditions_));
  if (writes && conditions_.Has(kLowOnDisk)) {
    TRY(CheckRoom(conditions_, call.worker.txn.store(), AnyOf(call, kDenyOom, false), !AnyOf(call, kLockAll, true)));
  }
  if (conditions_.Has(kFullMemory | kFullData)) TRY(CheckDataLimits(call));
  if (conditions_.Has(kStaleReplica) && AnyOf(call, kStale, true)) return Status::Reply(kStaleText);
  if (conditions_.Has(kLoadingData) && AnyOf(call, kLoading, true)) {
    return Status::Reply("LOADING Redis is loading the dataset in memory");
  }
  return Ok();
}

// Checks the limit of the database to which the command adds data; for EXEC, to which each queued command does.
Status Dispatcher::CheckDataLimits(const Call& call) const {
  Store& store = call.worker.txn.store();
  if (!call.command->Has(kRunsQueue)) {
    return CheckMemory(conditions_, store, *call.command, call.argv, NextDatabase(call.session));
  }
  int db = call.session.db;
  for (const QueuedCommand& queued : call.session.multi.queue) {
    const std::vector<std::string_view> argv(queued.argv.begin(), queued.argv.end());
    TRY(CheckMemory(conditions_, store, *queued.command, argv, db));
    db = queued.next_db;
  }
  return Ok();
}

Status Dispatcher::CheckUser(const Call& call) {
  const Denial denial = CheckAccess(call.session, *call.command, call.argv);
  if (!denial) return Ok();
  if (denial_listener_) {
    denial_listener_(call.session, denial.reason, DeniedObject(denial, *call.command, call.argv));
  }
  return Status::Reply("NOPERM " + DenialText(denial, call.session.login.user_name(), *call.command));
}

// Reports the queued calls that EXEC denied.
void Dispatcher::LogLateDenials(const Call& call) {
  if (!denial_listener_) return;
  for (const QueuedCommand& queued : call.session.multi.queue) {
    if (!queued.denial) continue;
    const std::vector<std::string_view> argv(queued.argv.begin(), queued.argv.end());
    denial_listener_(call.session, queued.denial.reason, DeniedObject(queued.denial, *queued.command, argv));
  }
}

// Reports the calls of scripts that were denied. Only the final run is reported.
void Dispatcher::LogScriptDenials(const Call& call) {
  if (!denial_listener_ || call.called == nullptr) return;
  call.session.script.runs = true;
  for (const ScriptCalls::Refused& refused : call.called->denials) {
    denial_listener_(call.session, refused.reason, refused.object);
  }
  call.session.script.runs = false;
}

// Replies with an error. A refused command aborts the transaction that it was to be queued for; EXEC then fails.
void Dispatcher::Refuse(const Call& call, std::string_view text, Reply& reply) {
  Session& session = call.session;
  if (call.rerun) {
    waiters_.Leave(session);
    session.EndBlock();
  }
  if (call.command == nullptr || !call.command->Has(kRunsQueue)) {
    session.multi.aborted |= session.multi.active;
    reply.Error(text);
    return;
  }
  session.multi = MultiState();
  session.ShowQueued();
  waiters_.Unwatch(session);
  if (IsRedirection(text)) {
    reply.Error(text);
    return;
  }
  if (text.starts_with("ERR ")) text.remove_prefix(4);
  reply.Error("EXECABORT Transaction discarded because of: " + std::string(text));
}

void Dispatcher::Enqueue(const Call& call, Reply& reply) {
  QueuedCommand queued{.command = call.command};
  MultiState& multi = call.session.multi;
  queued.next_db = NextDatabase(call.session);
  if (call.command->full_name() == "select") {
    const int databases = call.worker.txn.store().databases().size();
    queued.next_db = NamedDatabase(*call.command, call.argv, databases).value_or(queued.next_db);
  }
  multi.bytes += sizeof queued;
  for (const std::string_view arg : call.argv) {
    multi.bytes += sizeof(std::string) + queued.argv.emplace_back(arg).capacity();
  }
  multi.queue.push_back(std::move(queued));
  call.session.ShowQueued();
  reply.Simple("QUEUED");
}

// ---- locks

bool Dispatcher::AddStripes(CommandWorker& worker, const Command& command, std::span<const std::string_view> argv,
                            bool reads_too) {
  if (command.Has(kLockAll)) return false;
  const bool writes_maybe = command.Has(kRunsScript) && !command.Has(kReadonly);
  const bool locks = reads_too || writes_maybe || command.flags() & (kWrite | kKeepsAnswer);
  // A write without keys changes the function libraries, which are rows of the meta space.
  if (!command.has_keys() && command.Has(kWrite)) worker.stripes.push_back(MakeMetaRow({}).stripe());
  if (!command.has_keys() || !locks) return true;
  worker.positions.clear();
  // If the arguments do not determine the keys, the command will reply with an error before it uses a key.
  (void)command.FindKeys(argv, worker.positions);
  for (const uint32_t position : worker.positions) worker.stripes.push_back(StripeOf(argv[position]));
  return true;
}

Status Dispatcher::LockFor(Call& call, bool everything) {
  CommandWorker& worker = call.worker;
  worker.stripes.clear();
  bool by_key = !everything;
  if (by_key && call.command->Has(kRunsQueue)) {
    for (const WatchedKey& key : call.session.watch.keys) worker.stripes.push_back(key.stripe);
    TRY(worker.txn.AwaitListener(worker.stripes));
    std::vector<std::string_view> argv;
    bool runs_once = false;
    bool acts_at_once = false;
    bool runs_script = false;
    for (const QueuedCommand& queued : call.session.multi.queue) {
      argv.assign(queued.argv.begin(), queued.argv.end());
      by_key = AddStripes(worker, *queued.command, argv, true) && by_key;
      runs_once = runs_once || queued.command->Has(kRunsOnce);
      acts_at_once = acts_at_once || ActsAtOnce(*queued.command);
      runs_script = runs_script || queued.command->Has(kRunsScript);
    }
    // Some commands must run only once, but a script starts the queue over to lock more keys, and so does a change of a
    // key that SORT has read by a pattern.
    if (runs_once || (acts_at_once && runs_script)) by_key = false;
  } else if (by_key) {
    by_key = AddStripes(worker, *call.command, call.argv, worker.lane == Lane::kSlow);
  }
  if (!by_key) return worker.txn.LockAll();
  return worker.stripes.empty() ? Ok() : worker.txn.Lock(worker.stripes);
}

// EXEC runs only once there: all keys are locked, and may be read from the disk.
bool Dispatcher::StartsOnSlowLane(const Call& call) const {
  if (call.command->Has(kSlowLane)) return true;
  if (!call.command->Has(kRunsQueue)) return false;
  const std::vector<QueuedCommand>& queue = call.session.multi.queue;
  return std::ranges::any_of(
      queue, [](const QueuedCommand& queued) { return queued.command->Has(kSlowLane) || ActsAtOnce(*queued.command); });
}

// ---- running

// The conditions and the routes of slots may have changed during the wait for the locks. A thread that changes them
// waits for all stripe holders.
Status Dispatcher::CheckLocked(Call& call) {
  if (conditions_.any()) TRY(CheckConditions(call));
  return call.slots ? slot_gate_->CheckLocked(*call.slots, call.worker.txn, limits_) : Ok();
}

// A command that brings what it writes (RESTORE, MSET) may use more than one that finds it (COPY, SUNIONSTORE): a short
// member of a sorted set needs 16 times its bytes in a payload. The fast lane is for less than either.
uint64_t Dispatcher::MostMemory(const Call& call) const {
  constexpr uint64_t kMostPerRequestByte = 16;
  const uint64_t most = ReadLimit(limits_.command_max_memory);
  if (call.worker.lane == Lane::kFast) return most;
  uint64_t request_bytes = call.command->Has(kRunsQueue) ? call.session.multi.bytes : 0;
  for (const std::string_view arg : call.argv) request_bytes += arg.size();
  return most + kMostPerRequestByte * request_bytes;
}

Status Dispatcher::RunOnce(Call& call, Reply& reply, bool everything) {
  CommandWorker& worker = call.worker;
  worker.txn.BeginCommand(worker.lane, WallMs(), call.command->Has(kReadonly));
  // A replica must run what its primary ran.
  if (!call.session.is_primary) worker.txn.command().memory().Limit(MostMemory(call));
  if (call.slots) worker.txn.command().KeepExpired(call.session.is_primary);
  if (call.command->Has(kReadonly)) worker.txn.command().StopAt(reply.cut_flag());
  call.session.subscriptions.Rewind();
  TRY(LockFor(call, everything));
  // A pause of writes may have begun since the request was admitted. The thread that began it may wait for the holders
  // of locks, so a command that had locked its keys before completes, also one that begins the pause itself (EXEC).
  const bool is_paused = call.is_gated && conditions_.Has(kPausesExpiry);
  call.session.script.began_in_pause = is_paused;
  if (call.is_gated && (conditions_.any() || slot_gate_ != nullptr)) [[unlikely]] {
    if (Status refused = CheckLocked(call); !refused.ok()) {
      call.refused_late = !refused.Is(Code::kWouldWait);
      return refused;
    }
    // A pause drops the changes of other writes after their run. It could not drop those at another server.
    const bool must_not_begin = is_paused && AnyOf(call, kRunsOnce, false);
    if (must_not_begin || (call.slots && slot_gate_->IsHeld(*call.slots))) {
      if (call.rerun) return Status::MustBlock();
      call.is_held_back = true;
      return Status::WouldWait();
    }
  }
  if (call.rerun && !waiters_.TakeTurn(call.session)) return Status::MustBlock();
  CommandContext ctx(worker.txn, call.session, *call.command, table_, limits_, worker.random);
  ctx.set_waiters(&waiters_);
  call.called.reset();
  ctx.set_script_calls(&call.called);
  Status status = RunCommand(ctx, call.argv, reply);
  call.block_timeout_ms = ctx.wait().timeout_ms;
  const int64_t run_again_ms = ctx.wait().run_again_ms;
  call.run_again_in_ms = run_again_ms > 0 ? std::clamp(run_again_ms - ctx.now_ms(), int64_t{1}, kMostWaitMs) : 0;
  call.replaced = ctx.TakeReplaced();
  if (is_paused && worker.txn.command().changes() > 0) {
    if (call.rerun) return Status::MustBlock();
    call.is_held_back = true;
    return Status::WouldWait();
  }
  if (status.ok()) return worker.txn.FinishCommand();
  call.keeps_writes = status.Is(Code::kMustBlock) && call.command->Has(kWrite);
  const bool is_wrong_type = status.Is(Code::kReply) && status.text() == errors::kWrongType;
  if (call.rerun && is_wrong_type && !TRY(HasAwaitedKey(call))) status = Status::MustBlock();
  if (call.keeps_writes) TRY(worker.txn.FinishCommand());  // a blocked XREADGROUP may have created its consumer
  if (!status.Is(Code::kWouldWait) && !worker.txn.ReadsHold()) return Status::WouldWait();
  return status;
}

// Deletes the expired keys that the command found, in a command of its own; on a replica only those that a write found.
// If the keys must stay, emits only the misses. Returns false if it would have to wait: another thread, most likely
// active expiry, is changing such a key.
bool Dispatcher::ExpireFound(CommandWorker& worker, const Command& command) {
  const std::vector<StaleKey> found = worker.txn.replicated_commands().TakeStaleKeys();
  if (found.empty()) return true;
  const bool keeps = conditions_.Has(kPausesExpiry) || !worker.txn.store().recovery().writable() ||
                     (conditions_.Has(kKeepsExpired) && !command.Has(kWrite));
  worker.txn.BeginCommand(worker.lane, WallMs(), false);
  if (keeps) EmitMisses(worker.txn, found);
  Status status = keeps ? Ok() : ExpireKeys(worker.txn, limits_, found);
  if (status.ok()) status = worker.txn.FinishCommand();
  if (!status.ok()) worker.txn.AbandonCommand();
  return !status.Is(Code::kWouldWait);
}

Outcome Dispatcher::Execute(CommandWorker& worker, Session& session, std::span<const std::string_view> argv,
                            Reply& reply, bool rerun) {
  session.subscriptions.Rewind();  // of a run on the fast lane that gave up
  Call call{worker, session, argv, table_.Resolve(argv), rerun, true, conditions_.Has(kKeepsExpired)};
  Outcome outcome{.command = call.command};
  if (call.command != nullptr) session.activity.last_command.store(call.command->index(), std::memory_order_relaxed);
  if (Status refused = CheckGates(call); !refused.ok()) {
    Refuse(call, refused.text(), reply);
    outcome.rejected = true;
    return outcome;
  }
  if (session.multi.active && !call.command->Has(kNotQueued)) {
    Enqueue(call, reply);
    outcome.queued = true;
    return outcome;
  }
  if (worker.lane == Lane::kFast && StartsOnSlowLane(call)) {
    outcome.verdict = Verdict::kWouldWait;
    return outcome;
  }
  const int db = session.db;
  for (int tries = 0;; ++tries) {
    Status status = RunOnce(call, reply, tries > kTriesBeforeLockAll);
    if (call.refused_late) {
      worker.txn.AbandonCommand();
      Refuse(call, status.text(), reply);
      outcome.rejected = true;
      return outcome;
    }
    if (status.Is(Code::kWouldWait)) {
      worker.txn.AbandonCommand();
      reply.Rewind();
      session.db = db;
      if (call.is_held_back) {
        if (worker.lane == Lane::kSlow) worker.txn.Discard();
        outcome.verdict = Verdict::kHeldBack;
        return outcome;
      }
      if (worker.lane == Lane::kFast) {
        outcome.verdict = Verdict::kWouldWait;
        return outcome;
      }
      worker.txn.Discard();
      if (tries < kMostTries) continue;
      status = Status::Reply("ERR the command was given up because its keys kept changing; try again");
    }
    // If deleting the keys would have to wait, a read runs again on the slow lane, so that a later DBSIZE does not
    // count them.
    outcome.is_uncommitted = worker.txn.command().saw_uncommitted() || worker.txn.notifications().has_new();
    const bool reads_only = status.ok() && worker.lane == Lane::kFast && call.command->Has(kReadonly) && !rerun;
    if (reads_only && !ExpireFound(worker, *call.command)) {
      reply.Rewind();
      outcome.verdict = Verdict::kWouldWait;
      return outcome;
    }
    Conclude(call, std::move(status), reply, outcome);
    (void)ExpireFound(worker, *call.command);
    return outcome;
  }
}

Status Dispatcher::Apply(CommandWorker& worker, Session& session, const Command* command,
                         std::span<const std::string_view> argv, Reply& reply, bool everything,
                         std::vector<QueuedCommand>& ran) {
  Call call{worker, session, argv, command};
  if (call.command == nullptr || !call.command->AcceptsArity(argv.size())) {
    return Status::Reply(errors::UnknownCommand(argv[0], argv.data() + 1, argv.size() - 1));
  }
  if (session.multi.active && !call.command->Has(kNotQueued)) {
    Enqueue(call, reply);
    return Ok();
  }
  const int db = session.db;
  Status status = RunOnce(call, reply, everything);
  if (!status.ok()) worker.txn.AbandonCommand();
  if (status.Is(Code::kWouldWait)) {
    session.db = db;
    return status;
  }
  (void)worker.txn.replicated_commands().TakeStaleKeys();
  if (call.command->Has(kRunsQueue)) {
    if (session.multi.ran) ran = std::move(session.multi.queue);
    session.multi = MultiState();
  }
  return status.Is(Code::kMustBlock) ? Ok() : std::move(status);
}

void Dispatcher::Conclude(Call& call, Status status, Reply& reply, Outcome& outcome) {
  Transaction& txn = call.worker.txn;
  if (status.Is(Code::kMustBlock)) {
    ParkOn(call, call.block_timeout_ms);
    if (!call.keeps_writes) txn.AbandonCommand();
    reply.Rewind();
    outcome.verdict = Verdict::kParked;
    return;
  }
  if (status.ok()) {
    outcome.wrote = call.command->flags() & (kWrite | kRunsQueue | kKeepsAnswer | kRunsScript);
    outcome.wakes = outcome.wrote && std::any_of(call.worker.stripes.begin(), call.worker.stripes.end(),
                                                 [this](uint32_t s) { return waiters_.IsInterested(s); });
  } else {
    txn.AbandonCommand();
    call.session.subscriptions.Rewind();
    reply.Rewind();
    reply.Error(status.Is(Code::kReply) ? std::string(status.text()) : "ERR " + std::string(status.text()));
    outcome.failed = true;
  }
  LogScriptDenials(call);
  outcome.called = std::move(call.called);
  if (call.command->Has(kRunsQueue)) {
    LogLateDenials(call);
    if (status.ok() && call.session.multi.ran) outcome.ran = std::move(call.session.multi.queue);
    call.session.multi = MultiState();
    call.session.ShowQueued();
    waiters_.Unwatch(call.session);
  }
  if (call.rerun || call.session.blocking.command != nullptr) {
    waiters_.Leave(call.session);
    call.session.EndBlock();
  }
}

// ---- parking

// Finds the keys that a blocking command takes elements from, without the key it moves an element to.
void Dispatcher::FindAwaitedKeys(const Call& call) {
  std::vector<uint32_t>& positions = call.worker.positions;
  positions.clear();
  (void)call.command->FindKeys(call.argv, positions);
  const KeySpec* specs = call.command->row().keys;
  const bool has_target = specs[1].begin != 0 && !(specs[1].flags & kAccess);
  if (has_target && positions.size() > 1) positions.pop_back();
}

// Returns whether a key of the awaited type exists. If so, an error is about another key, and it ends the wait.
Result<bool> Dispatcher::HasAwaitedKey(Call& call) {
  const Type type = call.command->row().awaits;
  if (type == Type::kNone) return true;
  FindAwaitedKeys(call);
  Keyspace keys(call.worker.txn, call.session.db, limits_);
  for (const uint32_t position : call.worker.positions) {
    const KeyEntry entry = TRY(keys.Find(keys.Name(call.argv[position])));
    if (entry.exists() && entry.type() == type) return true;
  }
  return false;
}

void Dispatcher::ParkOn(Call& call, int64_t timeout_ms) {
  CommandWorker& worker = call.worker;
  FindAwaitedKeys(call);
  const KeyspaceId keyspace = worker.txn.databases().keyspace(call.session.db);
  Keyspace found(worker.txn, call.session.db, limits_);
  std::vector<Waiters::AwaitedKey> keys;
  for (const uint32_t position : worker.positions) {
    const RowKey row = MakeKeyRow(keyspace, call.argv[position]);
    bool exists = false;
    if (call.rerun || call.command->row().awaits == Type::kNone) {
      const Result<KeyEntry> entry = found.Find(found.Name(call.argv[position]));
      exists = !entry.ok() || entry->exists();  // a key that cannot be read now may exist
    }
    keys.push_back({std::string(row.row()), row.stripe(), exists});
  }
  if (call.session.blocking.command == nullptr) {
    auto blocked = std::make_unique<BlockedCommand>();
    for (const std::string_view arg : call.argv) blocked->argv.emplace_back(arg);
    for (auto& [position, text] : call.replaced) blocked->argv[position] = std::move(text);
    blocked->command = call.command;
    if (timeout_ms > 0) blocked->deadline_us = DeadlineUs(timeout_ms);
    call.session.blocking.unblock = UnblockRequest::kNone;
    call.session.Block(std::move(blocked));
  }
  BlockedCommand& blocked = *call.session.blocking.command;
  blocked.run_again_us = call.run_again_in_ms > 0 ? MonotonicUs() + call.run_again_in_ms * 1000 : 0;
  waiters_.Park(call.session, keys, UnblocksOnNoKey(*call.command));
  // A thread that makes this server a replica unblocks the clients parked by then.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!call.on_replica && conditions_.Has(kKeepsExpired)) call.session.Unblock(UnblockRequest::kDemoted);
  // A thread that changes the routes wakes the clients parked by then. This one runs again and is redirected.
  if (call.slots && call.slots->version != slot_gate_->routes().version()) call.session.Wake();
}

void Dispatcher::GiveUp(Session& session, UnblockRequest why, Reply& reply) {
  waiters_.Leave(session);
  session.EndBlock();
  if (why == UnblockRequest::kError) {
    reply.Error("UNBLOCKED client unblocked via CLIENT UNBLOCK");
  } else if (why == UnblockRequest::kDemoted) {
    reply.Error("UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)");
  } else {
    reply.NullArray();  // also for BLMOVE, which otherwise replies with one element
  }
}

void Dispatcher::Forget(Session& session) {
  waiters_.Leave(session);
  waiters_.Unwatch(session);
  session.multi = MultiState();
  session.ShowQueued();
  session.EndBlock();
}

}  // namespace cairn
