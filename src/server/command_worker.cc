// SPDX-License-Identifier: BSD-3-Clause
#include "server/command_worker.h"

#include <algorithm>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/pages.h"
#include "client/client_line.h"
#include "client/client_pause.h"
#include "client/client_session.h"
#include "client/cross_protocol.h"
#include "client/monitors.h"
#include "client/notifier.h"
#include "client/pubsub.h"
#include "client/redact.h"
#include "command/dispatch.h"
#include "replication/replicas.h"
#include "script/run_command.h"
#include "script/scripting.h"
#include "server/committer.h"
#include "stats/command_log.h"
#include "stats/hot_keys.h"
#include "stats/latency_monitor.h"
#include "stats/slot_stats.h"
#include "stats/stats.h"
#include "storage/store.h"

namespace cairn {
namespace {

// A tick of this size is committed before more requests run.
constexpr size_t kFullTickBytes = 8 << 20;
constexpr size_t kFullTickRows = 2048;
// From this many rows on, writing them on another thread saves more time than the handover costs.
constexpr size_t kRowsWorthCommit = 192;
// The limit of the tick that runs beside such a commit. Its replies must wait for the next commit anyway, and both
// threads stay busy while their shares are similar (bench/compare, SPOP at -P 16: a tenth more).
constexpr size_t kFollowingTickRows = 2 * kRowsWorthCommit;
// The most keys of a request whose disk reads are started before it runs.
constexpr size_t kMostKeysAhead = 128;
// A request held back by CLIENT PAUSE is checked again after this time, however long the pause lasts.
constexpr int64_t kLongestHoldMs = 3600 * 1000;
constexpr int64_t kHoldAgainUs = 1000;  // then Run finds out how long the pause lasts, or the write runs again

// PUBLISH waits while the cluster bus has more bytes than this to send. A script waits for a longer queue only, because
// most scripts do not publish.
constexpr size_t kMostUnsentBytes = size_t{8} << 20;
constexpr size_t kMostUnsentBeforeScripts = 4 * kMostUnsentBytes;

constexpr size_t kKeptOfValue = 4096;  // for the slow log

// Frees the memory of a request's large values before its commit, which needs as much: the transaction has them. Keys
// stay for the statistics.
void DiscardValues(const Command& command, const std::vector<std::string_view>& argv) {
  std::vector<uint32_t> keys;
  if (command.has_keys()) (void)command.FindKeys(argv, keys);
  for (uint32_t i = 0; i < argv.size(); ++i) {
    if (argv[i].size() < kLargeValueBytes || std::find(keys.begin(), keys.end(), i) != keys.end()) continue;
    DiscardPages(argv[i].substr(kKeptOfValue));
  }
}

std::string_view ErrorOf(std::string_view reply) {
  if (reply.empty() || reply[0] != '-') return {};
  return reply.substr(1, reply.find('\r') - 1);
}

}  // namespace

BaseWorker::BaseWorker(const Parts& parts, Lane lane)
    : parts_(parts), lane_(lane), stats_(parts.stats.AddWorker()),
      random_(static_cast<uint64_t>(MonotonicUs()) ^ reinterpret_cast<uintptr_t>(this)),
      txn_(std::make_unique<Transaction>(parts.store)) {}

void BaseWorker::Fetch(std::string_view missing) { parts_.store.engine().Fetch(missing); }

// A wrong guess (a SELECT before, an element row instead of the key's) only costs some time.
void BaseWorker::ReadAhead(const Client& client, std::span<const std::string_view> argv, size_t least_keys) {
  const Command* const command = argv.empty() ? nullptr : parts_.table.Resolve(argv);
  if (command == nullptr || !command->AcceptsArity(argv.size()) || !command->has_keys()) return;
  positions_.clear();
  (void)command->FindKeys(argv, positions_);
  if (positions_.size() < least_keys) return;
  const auto& session = static_cast<const ClientSession&>(client);
  const KeyspaceId keyspace = txn_->databases().keyspace(session.db);
  positions_.resize(std::min(positions_.size(), kMostKeysAhead));
  for (const uint32_t position : positions_) {
    const RowKey row = MakeKeyRow(keyspace, argv[position]);
    const uint64_t hash = Overlay::HashOf(row.tagged());
    if (parts_.store.cache().IsComplete(hash) || parts_.store.cache().Has(row.tagged(), hash)) continue;
    parts_.store.engine().ReadAhead(row.tagged());
  }
}

bool BaseWorker::has_tick() const {
  return txn_->batch().dirty() || !txn_->stripes().empty() || !txn_->notifications().empty();
}
bool BaseWorker::is_full() const {
  return txn_->batch().bytes() > kFullTickBytes || txn_->batch().rows() > kFullTickRows;
}

void BaseWorker::NoteRead(Client& client, uint64_t bytes) {
  stats_.OnRead(bytes);
  auto& session = static_cast<ClientSession&>(client);
  ClientActivity::Count(session.activity.read_bytes, bytes);
  if (session.is_replica) [[unlikely]]
    parts_.replicas.NoteAlive(session);
}
void BaseWorker::NoteWritten(Client& client, uint64_t bytes) {
  stats_.OnWritten(bytes);
  auto& activity = static_cast<ClientSession&>(client).activity;
  ClientActivity::Count(activity.written_bytes, bytes);
}

std::string BaseWorker::commit_error() const {
  if (failure_ == kNoMemoryForCommit) return "-ERR " + failure_ + "\r\n";
  const std::string reason = parts_.store.recovery().write_error();  // empty if it has recovered by now
  return "-MISCONF Errors writing to the AOF file: " + (reason.empty() ? failure_ : reason) + "\r\n";
}

void BaseWorker::NoteFailure(const Status& status) {
  failure_ = status.text();
  Log(LogSeverity::kWarning, "storage: a commit failed and its commands were refused: {}", status.text());
}

RunResult BaseWorker::Run(Client& client, std::span<const std::string_view> argv, std::string& out) {
  auto& session = static_cast<ClientSession&>(client);
  if (parts_.pause.is_set()) [[unlikely]] {
    const int64_t left_ms = HeldBackUntil(session, argv) - MonotonicMs();
    if (left_ms > 0) {
      session.paused_until_us = MonotonicUs() + std::min(left_ms, kLongestHoldMs) * 1000;
      return RunResult::kPaused;
    }
  }
  if (parts_.pubsub.unsent_bytes() > kMostUnsentBytes && MustAwaitBus(session, argv)) [[unlikely]] {
    session.paused_until_us = MonotonicUs() + kHoldAgainUs;
    return RunResult::kPaused;
  }
  if (session.paused_until_us.load(std::memory_order_relaxed) != 0) session.paused_until_us = 0;
  return RunRequest(session, argv, out, false);
}

// Whether the request publishes messages faster than the cluster bus sends them. Without this limit they would fill the
// memory.
bool BaseWorker::MustAwaitBus(const ClientSession& session, std::span<const std::string_view> argv) const {
  const Command* const command = parts_.table.Resolve(argv);
  if (command == nullptr) return false;
  const bool includes_scripts = parts_.pubsub.unsent_bytes() > kMostUnsentBeforeScripts;
  const auto publishes = [includes_scripts](const Command& each) {
    if (each.Has(kRunsScript)) return includes_scripts && !each.Has(kReadonly);
    return each.Has(kPubsub) && each.Has(kMayReplicate);
  };
  if (!command->Has(kRunsQueue)) return publishes(*command);
  return std::ranges::any_of(session.multi.queue,
                             [&](const QueuedCommand& queued) { return publishes(*queued.command); });
}

bool BaseWorker::MayChangeData(const Command& command, std::span<const std::string_view> argv) {
  if (!(command.flags() & (kWrite | kMayReplicate))) return false;
  return !command.Has(kRunsScript) || !IsSaidToOnlyRead(parts_.scripting, command.row().name, argv);
}

// By MonotonicMs(), until when CLIENT PAUSE holds the request back; 0: it runs now. CLIENT UNPAUSE runs, so that it can
// end the pause; a request that is an error runs, too; and so do requests of replicas, which would otherwise time out.
int64_t BaseWorker::HeldBackUntil(const ClientSession& session, std::span<const std::string_view> argv) {
  if (session.is_replica) return 0;
  const Command* const command = parts_.table.Resolve(argv);
  if (command == nullptr || !command->AcceptsArity(argv.size()) || command->full_name() == "client|unpause") return 0;
  const ClientPause& pause = parts_.pause;
  return RequestMayChangeData(session, *command, argv) ? pause.writes_until_ms() : pause.others_until_ms();
}

bool BaseWorker::MayChange(const Client& client, std::span<const std::string_view> argv) {
  const Command* const command = argv.empty() ? nullptr : parts_.table.Resolve(argv);
  return command != nullptr && RequestMayChangeData(static_cast<const ClientSession&>(client), *command, argv);
}

bool BaseWorker::RequestMayChangeData(const ClientSession& session, const Command& command,
                                      std::span<const std::string_view> argv) {
  if (!command.Has(kRunsQueue)) return MayChangeData(command, argv);
  const std::vector<QueuedCommand>& queue = session.multi.queue;
  return std::any_of(queue.begin(), queue.end(), [this](const QueuedCommand& queued) {
    return MayChangeData(*queued.command, std::vector<std::string_view>(queued.argv.begin(), queued.argv.end()));
  });
}

RunResult BaseWorker::Resume(Client& client, std::string& out) {
  auto& session = static_cast<ClientSession&>(client);
  wrote_ = wakes_ = false;
  if (session.blocking.command == nullptr) return RunResult::kDone;
  UnblockRequest why = session.blocking.unblock.exchange(UnblockRequest::kNone);
  const int64_t deadline_us = session.blocking.command->deadline_us;
  if (why == UnblockRequest::kNone && deadline_us > 0 && MonotonicUs() >= deadline_us) {
    why = UnblockRequest::kTimeout;
  }
  if (why == UnblockRequest::kTimeout && session.blocking.command->command->Has(kAnswersTimeout)) {
    session.blocking.command->timed_out = true;
  } else if (why != UnblockRequest::kNone) {
    const Command& command = *session.blocking.command->command;
    const size_t start = out.size();
    Reply reply(out, session.protocol);
    parts_.dispatcher.GiveUp(session, why, reply);
    const std::string_view error = ErrorOf(std::string_view(out).substr(start));
    stats_.OnCommand(command, 0, !error.empty(), error);
    EndRequest(session, &command, session.is_monitor, out, start);
    return why == UnblockRequest::kDemoted ? RunResult::kClose : RunResult::kDone;
  }
  // Copies the arguments, because the end of the command frees session.blocking.command.
  const std::vector<std::string> owned = session.blocking.command->argv;
  const std::vector<std::string_view> argv(owned.begin(), owned.end());
  return RunRequest(session, argv, out, true);
}

RunResult BaseWorker::RunRequest(ClientSession& session, std::span<const std::string_view> argv, std::string& out,
                                 bool rerun) {
  // The reply to CLIENT KILL may be sent already, so a request that was still queued must have no effect.
  if (session.close.load(std::memory_order_relaxed) == CloseRequest::kNow) return RunResult::kAbort;
  const int64_t started_us = MonotonicUs();
  const size_t start = out.size();
  Reply reply(out, session.protocol, &session);
  CommandWorker worker{*txn_, random_, lane_, positions_, stripes_};
  if (session.has_cancelled_channels.load(std::memory_order_relaxed)) [[unlikely]]
    parts_.pubsub.DropCancelled(session);
  const bool was_monitor = session.is_monitor.load(std::memory_order_relaxed);
  const bool was_replica = session.is_replica.load(std::memory_order_relaxed);
  Outcome outcome = parts_.dispatcher.Execute(worker, session, argv, reply, rerun);
  is_write_ = outcome.command != nullptr && outcome.command->flags() & (kWrite | kRunsScript);
  const bool is_uncommitted =
      outcome.is_uncommitted || txn_->command().saw_uncommitted() || txn_->notifications().has_new();
  wrote_ = outcome.wrote || (lane_ == Lane::kFast && is_uncommitted);
  wakes_ = outcome.wakes;
  if (outcome.verdict == Verdict::kWouldWait) {
    stats_.OnSlowLane();
    return RunResult::kWouldWait;
  }
  if (outcome.verdict == Verdict::kHeldBack) {
    session.paused_until_us = MonotonicUs() + kHoldAgainUs;
    return RunResult::kPaused;
  }
  if (outcome.command == nullptr && CrossProtocolAlarm::IsHttp(argv[0])) {
    parts_.cross_protocol.Sound(session.socket.peer);
    return RunResult::kAbort;
  }
  if (parts_.monitors.any() && !outcome.rejected && !rerun) Feed(session, outcome, argv);
  AfterRequest(outcome, argv, out, start);
  const int64_t ended_us = MonotonicUs();
  session.activity.last_active_us.store(ended_us, std::memory_order_relaxed);
  if (outcome.verdict == Verdict::kParked) return RunResult::kParked;
  const int64_t usec = ended_us - started_us;
  if (rerun) parts_.latency.Note("command-unblocking", usec);
  Count(session, outcome, argv, usec, std::string_view(out).substr(start));
  if (was_replica && out.size() > start) return CutOffReplica(session, outcome, out, start);
  EndRequest(session, outcome.command, was_monitor, out, start);
  switch (session.close.load(std::memory_order_relaxed)) {
    case CloseRequest::kNow: return RunResult::kAbort;
    case CloseRequest::kAfterReply: return RunResult::kClose;
    case CloseRequest::kNone: break;
  }
  return RunResult::kDone;
}

// Applies CLIENT REPLY, and ends what lasts for one request or transaction: CLIENT CACHING and ASKING. `command` may be
// null.
void BaseWorker::EndRequest(ClientSession& session, const Command* command, bool was_monitor, std::string& out,
                            size_t start) {
  if (session.reply_mode != ReplyMode::kOn) {
    out.resize(start);
    out.append(session.subscriptions.confirmations());
    if (session.reply_mode == ReplyMode::kSkipping) session.reply_mode = ReplyMode::kOn;
    if (session.reply_mode == ReplyMode::kSkipNext) session.reply_mode = ReplyMode::kSkipping;
  }
  Settle(session, was_monitor, out, start);
  if (session.multi.active) return;
  if (session.tracking.caching) EndCaching(session, command);
  if (session.redirection.asks && (command == nullptr || command->row().name != "asking")) {
    session.redirection.asks = false;
  }
}

// A replica receives only its stream, and a reply would corrupt it.
RunResult BaseWorker::CutOffReplica(ClientSession& session, const Outcome& outcome, std::string& out, size_t start) {
  const std::string name = outcome.command == nullptr ? "unknown" : outcome.command->full_name();
  const std::string_view error = ErrorOf(std::string_view(out).substr(start));
  if (!error.empty()) {
    Log(LogSeverity::kWarning,
        "== CRITICAL == This master is sending an error to its replica: '{}' after processing the command '{}'", error,
        name);
  }
  Log(LogSeverity::kNotice, "Replica generated a reply to command '{}', disconnecting it: {}", name,
      ClientLine(session, parts_.table, MonotonicUs()));
  out.resize(start);
  return RunResult::kAbort;
}

// Shows the request to clients in MONITOR. A request that MULTI queues is shown when EXEC runs it.
void BaseWorker::Feed(const ClientSession& session, const Outcome& outcome, std::span<const std::string_view> argv) {
  if (session.multi.active && !outcome.command->Has(kNotQueued)) return;
  for (const QueuedCommand& queued : outcome.ran) {
    const std::vector<std::string_view> words(queued.argv.begin(), queued.argv.end());
    parts_.monitors.Feed(session, *queued.command, words);
  }
  parts_.monitors.Feed(session, *outcome.command, argv);
  if (outcome.called == nullptr) return;
  for (const ScriptCalls::Shown& call : outcome.called->shown) {
    const std::vector<std::string_view> words(call.argv.begin(), call.argv.end());
    parts_.monitors.FeedCall(call.db, *call.command, words);
  }
  const uint64_t not_shown = outcome.called->calls_not_shown;
  if (not_shown > 0) parts_.monitors.FeedCallsNotShown(session.db, *outcome.command, not_shown);
}

// If the request changed subscriptions or the protocol, messages pushed before that are inserted before its reply, at
// `start`.
void BaseWorker::Settle(ClientSession& session, bool was_monitor, std::string& out, size_t start) {
  const bool new_protocol = session.protocol != session.shown.protocol.load(std::memory_order_relaxed);
  const bool leaves_monitor = was_monitor && !session.is_monitor.load(std::memory_order_relaxed);
  if (!new_protocol && !leaves_monitor && !session.subscriptions.changed()) return;
  std::string before;
  parts_.pubsub.Settle(session, before);
  out.insert(start, before);
}

// CLIENT CACHING applies to the next command or transaction that is not a subcommand of CLIENT.
void BaseWorker::EndCaching(ClientSession& session, const Command* command) {
  const Command* const container = command == nullptr ? nullptr : command->parent();
  if (container == nullptr || !container->Has(kKeepsCaching)) session.tracking.caching = false;
}

Status BaseWorker::CommitNow(CommitMode mode) {
  const LatencyTimer timer(parts_.latency, txn_->batch().must_sync() ? "aof-fsync-always" : "commit");
  return txn_->Commit(mode);
}

void BaseWorker::Deliver(Transaction& txn) { parts_.notifier.Deliver(txn); }

void BaseWorker::Count(ClientSession& session, const Outcome& outcome, std::span<const std::string_view> argv,
                       int64_t usec, std::string_view reply) {
  if (outcome.rejected) {
    stats_.OnRejected(outcome.command, ErrorOf(reply));
    return;
  }
  if (outcome.queued) return;
  ClientActivity::Count(session.activity.commands, 1);
  if (outcome.called != nullptr) stats_.OnScriptCalls(*outcome.called);
  const std::string_view error = ErrorOf(reply);
  const bool passed_on = outcome.called != nullptr && outcome.called->HasError(error);
  stats_.OnCommand(*outcome.command, usec, !error.empty(), passed_on ? std::string_view() : error);
  parts_.latency.Note(outcome.command->Has(kFast) ? "fast-command" : "command", usec);
  for (const QueuedCommand& queued : outcome.ran) {
    stats_.OnCommand(*queued.command, queued.usec, !queued.error.empty(), queued.error);
    LogCommand(session, *queued.command, queued.argv, queued.usec, queued.reply_bytes);
    if (parts_.hot_keys.is_on()) NoteHotKeys(*queued.command, queued.argv, queued.usec, queued.reply_bytes);
    if (parts_.slots.is_on()) NoteSlot(*queued.command, queued.argv, queued.usec, queued.reply_bytes);
  }
  const size_t reply_bytes = session.reply_mode == ReplyMode::kOn ? reply.size() : 0;
  LogCommand(session, *outcome.command, argv, usec, reply_bytes);
  if (parts_.hot_keys.is_on()) [[unlikely]]
    NoteHotKeys(*outcome.command, argv, usec, reply_bytes);
  if (parts_.slots.is_on()) [[unlikely]]
    NoteSlot(*outcome.command, argv, usec, reply_bytes);
}

template <typename Words>
void BaseWorker::NoteSlot(const Command& command, const Words& argv, int64_t usec, size_t reply_bytes) {
  if (!command.has_keys()) return;
  const std::vector<std::string_view> words(argv.begin(), argv.end());
  positions_.clear();
  (void)command.FindKeys(words, positions_);
  if (positions_.empty()) return;
  // All keys of a command are in one slot.
  parts_.slots.Note(KeySlot(words[positions_.front()]),
                    {static_cast<uint64_t>(usec), CommandLogs::RequestBytes(words), reply_bytes});
}

template <typename Words>
void BaseWorker::NoteHotKeys(const Command& command, const Words& argv, int64_t usec, size_t reply_bytes) {
  if (!command.has_keys()) return;
  const std::vector<std::string_view> words(argv.begin(), argv.end());
  positions_.clear();
  (void)command.FindKeys(words, positions_);
  if (positions_.empty()) return;
  std::vector<std::string_view> keys;
  for (const uint32_t position : positions_) keys.push_back(words[position]);
  parts_.hot_keys.Note(keys, usec, CommandLogs::RequestBytes(words) + reply_bytes, WallMs());
}

template <typename Words>
void BaseWorker::LogCommand(ClientSession& session, const Command& command, const Words& argv, int64_t usec,
                            size_t reply_bytes) {
  const CommandLogs::Sizes sizes{usec, parts_.logs.MeasureRequest(argv), static_cast<int64_t>(reply_bytes)};
  if (!parts_.logs.AnyTakes(sizes) || command.Has(kSkipSlowlog)) [[likely]]
    return;
  const std::vector<std::string_view> words(argv.begin(), argv.end());
  const MutexLock lock(session.mutex());
  parts_.logs.Add(RedactSecrets(command, words), sizes, session.socket.peer, session.names.name);
}

FastWorker::FastWorker(const Parts& parts, Committer& committer)
    : BaseWorker(parts, Lane::kFast), committer_(committer), other_(std::make_unique<Transaction>(parts.store)) {}

Worker::MissingRow FastWorker::TakeMissing() {
  return {txn_->command().TakeMissingRow(), txn_->command().is_missing_row_on_its_way()};
}

bool FastWorker::is_full() const {
  return BaseWorker::is_full() || (is_handed_over_ && txn_->batch().rows() > kFollowingTickRows);
}

bool FastWorker::is_worth_commit() const { return txn_->batch().rows() >= kRowsWorthCommit; }

CommitResult FastWorker::Commit(std::function<void(bool ok)> done) {
  wakes_ = false;  // belongs to the tick that ends here
  if (is_lost_) {
    is_lost_ = false;
    (void)txn_->notifications().Take();
    txn_->Discard();
    return CommitResult::kFailed;
  }
  if (!txn_->batch().dirty()) {
    txn_->Discard();
    Deliver(*txn_);
    return CommitResult::kDone;
  }
  if (!is_worth_commit() && !txn_->batch().must_sync()) {
    Status status = CommitNow(CommitMode::kNoWait);
    if (status.ok()) {
      Deliver(*txn_);
      return CommitResult::kDone;
    }
    if (!status.Is(Code::kWouldWait)) {
      NoteFailure(status);
      (void)txn_->notifications().Take();
      return CommitResult::kFailed;
    }
  }
  HandOver(std::move(done));
  return CommitResult::kLater;
}

void FastWorker::HandOver(std::function<void(bool ok)> done) {
  std::swap(txn_, other_);
  is_handed_over_ = true;
  if (other_->databases().keyspaces().empty()) txn_->SetPredecessor(other_.get());
  committer_.HandOver(*other_, [this, done = std::move(done)](Status status) {
    if (status.ok()) {
      Deliver(*other_);
    } else {
      NoteFailure(status);
      (void)other_->notifications().Take();
    }
    is_written_ = status.ok();
    done(status.ok());
  });
}

void FastWorker::OnCommitted() {
  is_handed_over_ = false;
  is_lost_ = !is_written_ && txn_->stripes().has_taken_over();
  txn_->SetPredecessor(nullptr);
  other_->EndTick(is_written_);
}

void SlowWorker::AfterRequest(Outcome& outcome, std::span<const std::string_view> argv, std::string& out,
                              size_t start) {
  if (!txn_->batch().dirty()) {
    txn_->Discard();
    Deliver(*txn_);
    return;
  }
  if (txn_->batch().bytes() >= kLargeValueBytes) {
    DiscardValues(*outcome.command, {argv.begin(), argv.end()});
    for (const QueuedCommand& queued : outcome.ran) {
      DiscardValues(*queued.command, {queued.argv.begin(), queued.argv.end()});
    }
  }
  const Status status = CommitNow(CommitMode::kWait);
  wrote_ = false;
  if (status.ok()) {
    Deliver(*txn_);
    return;
  }
  NoteFailure(status);
  (void)txn_->notifications().Take();
  out.resize(start);
  out.append(commit_error());
  outcome.failed = true;
}

}  // namespace cairn
