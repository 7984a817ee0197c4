// SPDX-License-Identifier: BSD-3-Clause
#include "replication/stream_applier.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "client/monitors.h"
#include "client/notifier.h"
#include "client/redact.h"
#include "command/dispatch.h"
#include "config/config.h"
#include "replication/stream_log.h"
#include "resp/errors.h"
#include "stats/command_log.h"
#include "stats/stats.h"
#include "storage/batch.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr size_t kCommitBytes = 512 * 1024;
constexpr size_t kCommitRows = 512;  // a reader of one of them waits for the commit
constexpr int kMostTries = 8;
constexpr int64_t kTurnUs = 500 * 1000;  // the primary gets an acknowledgement every second

// The client that runs the primary's commands; no gate applies to it.
class PrimarySession : public Session {
 public:
  explicit PrimarySession(uint64_t id) : Session(id) { is_primary = true; }
};

// Whether a primary may send this command: it replicates a change, or frames others.
bool IsForReplicas(const Command& command) {
  if (command.flags() & (kWrite | kMayReplicate | kRunsQueue | kRunsScript)) return true;
  const std::string_view name = command.top().row().name;
  return name == "select" || name == "multi" || name == "script";
}

}  // namespace

StreamApplier::StreamApplier(const Parts& parts, StreamLog& log)
    : parts_(parts), log_(log), random_(static_cast<uint64_t>(WallUs())), stats_(parts.stats.AddWorker()) {}

StreamApplier::~StreamApplier() = default;

void StreamApplier::Start() {
  txn_ = std::make_unique<Transaction>(parts_.store);
  txn_->replicated_commands().Mute(true);
  txn_->command().KeepExpired(true);
}

void StreamApplier::Stop() { txn_.reset(); }

void StreamApplier::Begin(const std::string& peer) {
  applied_ = log_.applied();
  session_ = std::make_unique<PrimarySession>(0);
  session_->db = applied_.db;
  session_->socket.peer = peer;
  parser_ = std::make_unique<RequestParser>();
  ahead_left_ = {};
  outcome_ = RequestParser::Outcome::kIncomplete;
  stream_.clear();
  in_multi_ = 0;
}

void StreamApplier::Abandon() {
  txn_->AbandonCommand();
  txn_->Discard();
  static_cast<void>(txn_->notifications().Take());  // the commands that were not committed are applied again
}

Status StreamApplier::RunBuffered() {
  clock_us_ = MonotonicUs();
  const int64_t until_us = clock_us_ + kTurnUs;
  do {
    if (ahead_left_.empty()) ReadAhead();
    if (ahead_left_.empty()) break;
    const StreamPrefetcher::Request& request = ahead_left_.front();
    ahead_left_ = ahead_left_.subspan(1);
    TRY(RunRequest(request));
  } while (clock_us_ < until_us || session_->multi.active);
  if (ahead_left_.empty() && outcome_ == RequestParser::Outcome::kError) return Damaged(parser_->error());
  return CommitApplied();
}

void StreamApplier::ReadAhead() {
  if (outcome_ == RequestParser::Outcome::kError) return;
  outcome_ = ahead_.Read(*parser_, *txn_, session_->db);
  ahead_left_ = ahead_.requests();
  clock_us_ = MonotonicUs();
}

Status StreamApplier::RunRequest(const StreamPrefetcher::Request& request) {
  if (!request.argv.empty() && request.raw.front() != '*') return Damaged("an inline command");
  if (!request.argv.empty()) TRY(RunCommand(request.argv));
  if (request.raw.size() > kMostLogDataBytes - stream_.size()) return Damaged("a transaction of more than 4 GB");
  stream_.append(request.raw);
  in_multi_ = session_->multi.active ? in_multi_ + request.raw.size() : 0;
  const bool is_large =
      txn_->batch().rows() > kCommitRows || txn_->batch().bytes() > kCommitBytes || stream_.size() > kCommitBytes;
  if (!is_large || session_->multi.active) return Ok();
  TRY(CommitApplied());
  clock_us_ = MonotonicUs();
  return Ok();
}

// Resuming would receive the same bytes again, or misread the bytes that follow.
Status StreamApplier::Damaged(const std::string& how) {
  is_damaged_ = true;
  return Status::Io("the stream cannot be followed, a full transfer is needed: " + how);
}

// After a SELECT that failed, the stream would change the database that was selected before.
Status StreamApplier::Judge(const Status& outcome, std::string_view name) {
  const auto lacks_database = [](const QueuedCommand& queued) { return queued.error == errors::kDbIndexRange; };
  if (outcome.text() == errors::kDbIndexRange || std::any_of(ran_.begin(), ran_.end(), lacks_database)) {
    return Damaged("it names a database that this server lacks; raise `databases`");
  }
  if (outcome.ok()) return Ok();
  Log(LogSeverity::kWarning,
      "== CRITICAL == This replica is sending an error to its master: '{}' after processing the command '{}'",
      outcome.text(), name);
  return outcome.Is(Code::kIo) || outcome.Is(Code::kCorruption) ? Status::Io(outcome.text()) : Ok();
}

// The bytes of an open MULTI are not applied yet. Its EXEC may come much later, so the commands before it are
// committed: their stripes are locked until then.
Status StreamApplier::CommitApplied() {
  if (stream_.size() == in_multi_) return Ok();
  const std::string open = stream_.substr(stream_.size() - in_multi_);
  stream_.resize(stream_.size() - in_multi_);
  Status committed = CommitStream();
  stream_.append(open);
  return committed;
}

Status StreamApplier::CommitStream() {
  const Applied applied{applied_.offset + stream_.size(), session_->db};
  log_.AddApplied(*txn_, applied, stream_);
  TRY(txn_->Commit(CommitMode::kWait));
  parts_.notifier.Deliver(*txn_);
  applied_ = applied;
  log_.NoteApplied(applied);
  stream_.clear();
  return Ok();
}

Status StreamApplier::RunCommand(std::span<const std::string_view> argv) {
  if (IsCommand(argv, "ping")) return Ok();
  if (IsCommand(argv, "replconf")) {
    ack_wanted_ = ack_wanted_ || (argv.size() > 1 && EqualsIgnoreCase(argv[1], "getack"));
    return Ok();
  }
  const Settings& settings = parts_.config.settings();
  const auto kept = stream_filter_.Apply(argv, settings.replica_ignore_del, settings.replica_ignore_expire);
  return kept.empty() ? Ok() : RunRetried(kept);
}

// Counts like for a client: when a command runs, not when it is queued for EXEC.
void StreamApplier::Account(const Command& command, std::span<const std::string_view> argv, int64_t usec,
                            std::string_view error) {
  if (session_->multi.active && !command.Has(kNotQueued)) return;
  for (const QueuedCommand& queued : std::exchange(ran_, {})) {
    Account(*queued.command, std::vector<std::string_view>(queued.argv.begin(), queued.argv.end()), queued.usec,
            queued.error);
  }
  stats_.OnCommand(command, usec, !error.empty(), error);
  if (parts_.monitors.any()) parts_.monitors.Feed(*session_, command, argv);
  const CommandLogs::Sizes sizes{usec, parts_.logs.MeasureRequest(argv), 0};
  if (!parts_.logs.AnyTakes(sizes) || command.Has(kSkipSlowlog)) return;
  parts_.logs.Add(RedactSecrets(command, {argv.begin(), argv.end()}), sizes, session_->socket.peer, {});
}

// Before it waits for a stripe, it commits and so releases its own stripes.
Status StreamApplier::RunRetried(std::span<const std::string_view> argv) {
  CommandWorker worker{*txn_, random_, Lane::kSlow, positions_, stripes_};
  const Command* const command = parts_.table.ResolveAny(argv);
  if (command != nullptr && !IsForReplicas(*command)) {
    Log(LogSeverity::kWarning,
        "== CRITICAL == The primary sends '{}', which is not a command for replicas; it is ignored",
        command->full_name());
    return Ok();
  }
  const int64_t begin_us = clock_us_;
  for (int tries = 0;; ++tries) {
    reply_.clear();
    Reply reply(reply_, 2);
    const Status status = parts_.dispatcher.Apply(worker, *session_, command, argv, reply, tries > 1, ran_);
    if (!status.Is(Code::kWouldWait)) {
      clock_us_ = MonotonicUs();
      Status judged = Judge(status, argv[0]);  // before Account, which takes ran_
      if (command != nullptr) Account(*command, argv, clock_us_ - begin_us, status.text());
      return judged;
    }
    if (tries == kMostTries) return Status::Io("a command did not get its locks");
    TRY(CommitApplied());
    txn_->Discard();
  }
}

}  // namespace cairn
