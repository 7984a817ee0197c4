// SPDX-License-Identifier: BSD-3-Clause
#include "replication/stream_log.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "config/settings.h"
#include "storage/old_logs.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr uint64_t kBytesPerAnchor = 1 << 20;
constexpr size_t kMostAnchors = 4096;
// No client waits for this thread, so it gathers the commits of some time before it reads.
constexpr int64_t kGatherUs = 2000;
constexpr int64_t kLongestWaitUs = 1000000;
constexpr int64_t kRetryUs = 50000;
constexpr int64_t kPatienceUs = 2000000;
constexpr std::string_view kGetAck[] = {"REPLCONF", "GETACK", "*"};
constexpr int kBatchesPerRound = 64;    // batches read before other threads get the mutex
constexpr int kMostFailedRounds = 200;  // in a row, 10 seconds; a later read may succeed

}  // namespace

StreamLog::StreamLog(Store& store, const Settings& settings, Events events)
    : store_(store), settings_(settings), events_(std::move(events)) {}
StreamLog::~StreamLog() { Stop(); }

// ---- start and stop

Status StreamLog::Start() {
  {
    const MutexLock lock(mutex_);
    txn_ = std::make_unique<Transaction>(store_);
    txn_->replicated_commands().Mute(true);
    TRY(TakeUp());
  }
  thread_ = StartThread("stream", [this] { Run(); });
  return Ok();
}

// From here on the stream has a new id: the directory may be a copy, or an older state of one, and the log may lack its
// end after a power loss. In these cases other bytes may have been sent under the old id.
Status StreamLog::TakeUp() {
  const std::string kept = TRY(store_.ReadNote(kHistoryRow));
  if (kept.empty()) {
    history_.id = DrawReplicationId();
    return Save();
  }
  history_ = TRY(DecodeHistory(kept));
  // Databases in memory are empty now, which no position of the stream says: replicas, and this one, start anew.
  const bool has_lost_rows = store_.engines().memory() != nullptr;
  if (has_lost_rows) history_.logs = false;
  is_replica_ = history_.is_replica;
  if (const std::string applied = TRY(store_.ReadNote(kAppliedRow)); !applied.empty()) {
    SetApplied(TRY(DecodeApplied(applied)));
  }
  logs_ = history_.logs;
  can_continue_ = history_.logs;
  if (!history_.logs) {
    if (!history_.is_replica || has_lost_rows) history_.StartAnew();
    return Save();
  }
  if (history_.is_replica) {
    history_.anchors.push_back({applied_offset_, store_.log().LatestSequence() + 1, kNoDb});
    Restart(history_.anchors.back());
    return Save();
  }
  store_.interests().Set(kInterestInReplication, kInterestInReplication);
  Restart(history_.anchors.back());
  const Status read = ReadToEnd(LogReader::Patience::kLong);
  if (!read.ok()) {
    Log(LogSeverity::kWarning,
        "replication: the log no longer has the position that was read last; replicas need a full transfer: {}",
        read.text());
    history_.StartAnew();
    const Anchor last = history_.anchors.back();
    history_.anchors = {{last.offset, store_.log().LatestSequence() + 1, kNoDb}};
    Restart(history_.anchors.back());
  } else {
    NoteOwnEnd();
    txn_->on_commit().PutNote(kAppliedRow, EncodeApplied(applied()));
    TRY(ForkHere(stream_->offset()));
  }
  return Save();
}

// A replica that reads through this position must end in the same state as one that starts here: no database selected.
Status StreamLog::ForkHere(uint64_t offset) {
  txn_->replicated_commands().AddStream("");
  TRY(txn_->Commit(CommitMode::kWait));
  history_.Fork(offset);
  history_.anchors.push_back({offset, store_.log().LatestSequence() + 1, kNoDb});
  Restart(history_.anchors.back());
  return Ok();
}

void StreamLog::Stop() {
  {
    const MutexLock lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  Kick();
  const bool has_run = thread_.joinable();
  if (has_run) thread_.join();
  const MutexLock lock(mutex_);
  const Status saved = has_run ? Save() : Ok();
  if (!saved.ok()) Log(LogSeverity::kWarning, "replication: {}", saved.text());
  stream_.reset();
  txn_.reset();
}

Status StreamLog::Save() {
  txn_->on_commit().PutNote(kHistoryRow, EncodeHistory(history_));
  return txn_->Commit(CommitMode::kWait);
}

// ---- queries

History StreamLog::history() const {
  const MutexLock lock(mutex_);
  return history_;
}

uint64_t StreamLog::offset() const { return is_replica_ || !logs_ ? applied_offset_ : read_offset_; }

void StreamLog::SetApplied(const Applied& applied) {
  applied_db_ = applied.db;
  applied_offset_ = applied.offset;
}

Result<uint64_t> StreamLog::ReadOffset(LogReader::Patience patience) {
  const bool is_for_wait = patience == LogReader::Patience::kLong;
  if (is_for_wait) store_.log().MakeReadable();
  const int64_t until_us = MonotonicUs() + (is_for_wait ? kPatienceUs : 0);
  for (;;) {
    {
      const MutexLock lock(mutex_);
      Status read = history_.logs && !history_.is_replica ? ReadToEnd() : Ok();
      if (read.ok()) return offset();
      if (MonotonicUs() >= until_us) return read;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(kRetryUs));
  }
}

uint64_t StreamLog::OffsetNow() {
  const Result<uint64_t> end = ReadOffset();
  return end.ok() ? *end : offset();
}

Anchor StreamLog::position() const {
  const MutexLock lock(mutex_);
  return stream_ == nullptr ? Anchor{applied_offset_, 1, kNoDb} : stream_->position();
}

Applied StreamLog::applied() const { return {applied_offset_, applied_db_}; }

uint64_t StreamLog::FirstByte() const {
  const uint64_t end = offset();
  const auto kept = static_cast<uint64_t>(settings_.repl_backlog_size.load());
  const MutexLock lock(mutex_);
  if (history_.anchors.empty()) return end + 1;
  return std::max(history_.anchors.front().offset, end > kept ? end - kept : 0) + 1;
}

uint64_t StreamLog::FirstNeeded() const {
  const MutexLock lock(mutex_);
  return history_.logs ? history_.anchors.front().sequence : kNothingNeeded;
}

void StreamLog::ShortenTo(uint64_t first) {
  const MutexLock lock(mutex_);
  if (stream_ == nullptr) return;
  std::vector<Anchor>& anchors = history_.anchors;
  if (stream_->offset() - anchors.back().offset >= kBytesPerAnchor) anchors.push_back(stream_->position());
  const auto later = std::find_if(anchors.begin() + 1, anchors.end(),
                                  [first](const Anchor& anchor) { return anchor.sequence > first; });
  if (later == anchors.begin() + 1) return;
  anchors.erase(anchors.begin(), later - 1);
  Log(LogSeverity::kNotice, "replication: the disk is nearly full; replicas behind offset {} need a full transfer",
      anchors.front().offset);
  if (const Status saved = Save(); !saved.ok()) {
    Log(LogSeverity::kWarning, "replication: {}", saved.text());
  }
}

// ---- on the disk

// Reads the offset first: the stream up to there is in the log already, so the sync after it covers it.
Status StreamLog::Sync() {
  ReleasableMutexLock lock(mutex_);
  const std::string id = history_.id;
  const bool is_read = !history_.logs || history_.is_replica || (stream_ != nullptr && ReadToEnd().ok());
  const uint64_t reached = offset();
  lock.Unlock();
  const uint64_t latest = store_.log().LatestSequence();
  if (latest > synced_sequence_) TRY(store_.log().Sync());
  lock.Lock();
  synced_sequence_ = std::max(synced_sequence_.load(), latest);
  // The offset of a former stream does not apply to the present one.
  if (is_read && history_.id == id) synced_offset_ = std::max(synced_offset_.load(), reached);
  return Ok();
}

bool StreamLog::is_synced() const { return store_.log().LatestSequence() <= synced_sequence_; }

// Under `appendfsync always` a commit becomes visible only after its sync.
uint64_t StreamLog::synced_offset() const {
  return settings_.fsync_policy() == AppendFsync::kAlways ? offset() : synced_offset_.load();
}

// ---- logging on and off

// Waits for all commands that hold stripes. No command that writes can begin while the returned transaction exists.
Result<std::unique_ptr<Transaction>> StreamLog::LockOutWriters() {
  std::unique_ptr<Transaction> all = std::make_unique<Transaction>(store_);
  TRY(BeginAlone(*all, WallMs()));
  return all;
}

// The caller is counted as a replica already, so logging stays on after this look at history_ (EndLogging). A command
// that waits for a lock meanwhile learns, when it gets the lock, that it must replicate.
Status StreamLog::BeginLogging() {
  {
    const MutexLock lock(mutex_);
    if (history_.logs) return Ok();
  }
  const std::unique_ptr<Transaction> all = TRY(LockOutWriters());
  const MutexLock lock(mutex_);
  if (history_.logs) return Ok();
  if (history_.is_replica) return Status::Io("the server has become a replica");
  const History before = history_;
  store_.interests().Set(kInterestInReplication, kInterestInReplication);
  if (!history_.anchors.empty()) history_.StartAnew();  // a log existed once, and changes were made without one since
  history_.logs = true;
  history_.anchors = {{applied_offset_, store_.log().LatestSequence() + 1, kNoDb}};
  Restart(history_.anchors.back());
  if (Status saved = Save(); !saved.ok()) {
    history_ = before;
    StopLogging();
    return saved;
  }
  can_continue_ = true;
  logs_ = true;
  return Ok();
}

// The store must say that the log ends before a commit lacks its replicated commands: a start would take the log for
// complete. If the save fails, logging goes on, and the next tick tries again.
void StreamLog::EndLogging() {
  const MutexLock lock(mutex_);
  if (!history_.logs || history_.is_replica || events_.has_replicas()) return;
  history_.logs = false;
  if (const Status saved = Save(); !saved.ok()) {
    history_.logs = true;
    Log(LogSeverity::kWarning, "replication: the backlog is kept, because its end cannot be saved: {}", saved.text());
    return;
  }
  SetApplied({stream_->offset(), 0});
  logs_ = can_continue_ = false;
  StopLogging();
}

void StreamLog::StopLogging() {
  store_.interests().Set(kInterestInReplication, 0);
  stream_.reset();
  store_.log().tail().Turn(false);
}

void StreamLog::Restart(const Anchor& anchor) {
  store_.log().tail().Turn(true);
  stream_ = std::make_unique<LogStream>(store_, anchor);
  read_offset_ = anchor.offset;
  Kick();
}

Status StreamLog::LogLocked(std::span<const std::string_view> argv) {
  if (!history_.logs || history_.is_replica) return Ok();
  const int db = stream_->position().db;
  txn_->replicated_commands().Add(std::max(db, 0), argv);
  return txn_->Commit(CommitMode::kWait);
}

Status StreamLog::LogCommand(std::span<const std::string_view> argv) {
  const MutexLock lock(mutex_);
  return LogLocked(argv);
}

void StreamLog::WantAcks() {
  {
    const MutexLock lock(mutex_);
    wants_acks_ = true;
  }
  Kick();
}

// ---- reading

void StreamLog::DropAnchor() {
  const Anchor here = stream_->position();
  const auto kept = static_cast<uint64_t>(settings_.repl_backlog_size.load());
  if (here.offset - history_.anchors.back().offset < std::max(kBytesPerAnchor, kept / (kMostAnchors - 2))) return;
  history_.anchors.push_back(here);
  // The oldest anchor needed is the last one at or before the kept bytes.
  const uint64_t from = here.offset > kept ? here.offset - kept : 0;
  while (history_.anchors.size() > 1 &&
         (history_.anchors[1].offset <= from || history_.anchors.size() > kMostAnchors)) {
    history_.anchors.erase(history_.anchors.begin());
  }
  const Status saved = Save();
  if (!saved.ok()) Log(LogSeverity::kWarning, "replication: {}", saved.text());
}

// Reads a batch if the log has one.
Status StreamLog::ReadOn(bool& progressed, LogReader::Patience patience) {
  scratch_.clear();
  const LogReader::Outcome outcome = TRY(stream_->Next(scratch_, patience));
  if (outcome == LogReader::Outcome::kGone) return Status::Corruption("a part of the log is missing");
  progressed = outcome == LogReader::Outcome::kBatch;
  read_offset_ = stream_->offset();
  if (progressed) DropAnchor();
  return Ok();
}

Status StreamLog::ReadToEnd(LogReader::Patience patience) {
  for (bool progressed = true; progressed;) TRY(ReadOn(progressed, patience));
  return Ok();
}

// The end of a replica's stream. The replica goes on committing, so only a snapshot gives a consistent answer.
Result<Anchor> StreamLog::AnchorOfNow() {
  const std::unique_ptr<StoreSnapshot> snapshot = TRY(StoreSnapshot::Take(store_));
  const Applied applied = TRY(DecodeApplied(TRY(snapshot->ReadNote(kAppliedRow))));
  return Anchor{applied.offset, snapshot->sequence() + 1, applied.db};
}

// The thread cannot read on: it continues at the log's end, and all replicas need a full transfer.
void StreamLog::LeaveGap() {
  Log(LogSeverity::kWarning, "replication: the log cannot be read further; replicas need a full transfer");
  Anchor end{stream_->offset(), store_.log().LatestSequence() + 1, kNoDb};
  if (history_.is_replica) {
    const Result<Anchor> now = AnchorOfNow();
    if (!now.ok()) return;  // the thread retries
    end = *now;
  } else {
    history_.StartAnew();
  }
  history_.anchors = {end};
  Restart(end);
  static_cast<void>(Save().ok());
  events_.on_stream_changed();  // the acknowledged offsets belong to the old stream
}

void StreamLog::PassHole(const Anchor& unread) {
  const MutexLock lock(mutex_);
  if (stream_ == nullptr) return;
  if (unread.sequence >= stream_->position().sequence) return LeaveGap();
  const size_t had = history_.anchors.size();
  std::erase_if(history_.anchors, [&unread](const Anchor& anchor) { return anchor.sequence <= unread.sequence; });
  if (history_.anchors.size() == had) return;  // another replica has found the same hole
  if (history_.anchors.empty()) history_.anchors.push_back(stream_->position());
  const uint64_t kept = history_.anchors.front().offset;
  Log(LogSeverity::kWarning,
      "replication: the log cannot be read at offset {}; replicas behind offset {} need a full transfer", unread.offset,
      kept);
  if (const Status saved = Save(); !saved.ok()) {
    Log(LogSeverity::kWarning, "replication: {}", saved.text());
  }
}

void StreamLog::Kick() {
  kicked_ = true;
  store_.log().tail().news().Notify();
  called_.Notify();
}

// Reads a limited number of batches, so that other threads get the mutex.
Status StreamLog::ReadSome(bool& has_more) {
  has_more = stream_ != nullptr;
  for (int batches = kBatchesPerRound; has_more && batches > 0; --batches) TRY(ReadOn(has_more));
  return Ok();
}

void StreamLog::AskForAcks() {
  static_cast<void>(LogLocked(kGetAck).ok());
  ++acks_asked_;
  called_.Notify();
}

void StreamLog::AwaitAckRequest(uint64_t asked, int64_t most_us) {
  called_.Await(most_us, [this, asked] { return acks_asked_ != asked; });
}

void StreamLog::Run() {
  int failed_rounds = 0;
  ReleasableMutexLock lock(mutex_);
  while (!stopping_) {
    kicked_ = false;
    if (std::exchange(wants_acks_, false)) AskForAcks();
    bool has_more = false;
    const Status status = ReadSome(has_more);
    failed_rounds = status.ok() ? 0 : failed_rounds + 1;
    if (failed_rounds == 1) {
      Log(LogSeverity::kWarning, "replication: the log could not be read: {}", status.text());
    }
    if (failed_rounds > kMostFailedRounds) {
      LeaveGap();
      failed_rounds = 0;
    }
    const uint64_t next = stream_ == nullptr ? kNothingNeeded : stream_->position().sequence;
    lock.Unlock();
    if (failed_rounds > 0) {
      called_.Await(kRetryUs, [this] { return kicked_.load(); });
    } else if (!has_more) {
      AwaitCommits(next);
    }
    lock.Lock();
  }
}

void StreamLog::AwaitCommits(uint64_t next) {
  LogTail& tail = store_.log().tail();
  const bool has_come = tail.news().Await(kLongestWaitUs, [&] { return kicked_ || tail.newest() > next; });
  if (has_come) called_.Await(kGatherUs, [this] { return kicked_.load(); });
}

// ---- roles

Status StreamLog::TurnReplica(bool wants_acks) {
  const std::unique_ptr<Transaction> all = TRY(LockOutWriters());
  const MutexLock lock(mutex_);
  if (history_.is_replica) return Ok();
  if (wants_acks) TRY(LogLocked(kGetAck));
  store_.interests().EndReplication();
  store_.log().MakeReadable();
  Status status = ReadUp();
  const History before = history_;
  if (status.ok()) {
    history_.is_replica = is_replica_ = true;
    // The new primary knows this stream by the id it had before a start or promotion that changed nothing. Without
    // logging, this server cannot know that nothing has changed since.
    if (history_.logs) history_.TakeForkBack(applied_offset_);
    txn_->on_commit().PutNote(kAppliedRow, EncodeApplied(applied()));
    status = Save();
  }
  if (status.ok()) return status;
  history_ = before;
  is_replica_ = false;
  if (history_.logs) store_.interests().Set(kInterestInReplication, kInterestInReplication);
  return status;
}

// Catches up until the applied offset is the whole stream. REQUIRES: no thread writes.
Status StreamLog::ReadUp() {
  if (!history_.logs) return Ok();
  TRY(ReadToEnd());
  NoteOwnEnd();
  return Ok();
}

// A stream without a command since it forked from another one has selected no database of its own: the former one's
// holds, because this server may resume the former stream there.
void StreamLog::NoteOwnEnd() {
  const Anchor end = stream_->position();
  const bool has_own = end.db != kNoDb || end.offset != applied_offset_;
  SetApplied({end.offset, has_own ? std::max(end.db, 0) : applied_db_.load()});
}

Status StreamLog::TurnPrimary() {
  {
    const MutexLock lock(mutex_);
    if (!history_.is_replica) return Ok();
    if (!history_.logs) return SaveAsPrimary(History(history_));
  }
  const std::unique_ptr<Transaction> all = TRY(LockOutWriters());
  const MutexLock lock(mutex_);
  const History before = history_;
  TRY(ForkHere(applied_offset_));
  TRY(SaveAsPrimary(before));
  // Only now, because a replica's log must not get commands: PUBLISH does not wait for stripes.
  store_.interests().Set(kInterestInReplication, kInterestInReplication);
  return Ok();
}

Status StreamLog::SaveAsPrimary(const History& before) {
  history_.is_replica = false;
  if (Status saved = Save(); !saved.ok()) {
    history_ = before;
    return saved;
  }
  is_replica_ = false;
  return Ok();
}

void StreamLog::AddApplied(Transaction& txn, const Applied& applied, std::string_view stream) const {
  if (!stream.empty()) txn.replicated_commands().AddStream(stream);
  txn.on_commit().PutNote(kAppliedRow, EncodeApplied(applied));
}

void StreamLog::NoteApplied(const Applied& applied) { SetApplied(applied); }

Status StreamLog::Fork() {
  const MutexLock lock(mutex_);
  history_.StartAnew();
  return Save();
}

Status StreamLog::Rename(const std::string& id) {
  const MutexLock lock(mutex_);
  if (id.empty() || id == history_.id) return Ok();
  history_.Fork(applied_offset_, id);
  return Save();
}

StreamLog::Adoption::Adoption(StreamLog& log, const std::string& id, const Applied& applied, Transaction& txn)
    : log_(log), lock_(log.mutex_), history_(log.history_), applied_(applied) {
  history_.StartAnew(id);
  history_.is_replica = history_.logs = true;
  history_.anchors = {{applied.offset, log.store_.log().LatestSequence() + 1, kNoDb}};
  txn.on_commit().PutNote(kHistoryRow, EncodeHistory(history_));
  txn.on_commit().PutNote(kAppliedRow, EncodeApplied(applied));
}

void StreamLog::Adoption::Done() {
  log_.history_ = history_;
  log_.SetApplied(applied_);
  log_.synced_offset_ = 0;  // it was an offset of another stream
  log_.is_replica_ = true;
  log_.Restart(history_.anchors.back());
  log_.logs_ = log_.can_continue_ = true;
}

// ---- for a replica that begins or resumes

Result<std::optional<Anchor>> StreamLog::FindStart(std::string_view id, uint64_t next) {
  if (id.empty() || !logs() || next == 0) return std::optional<Anchor>();
  const History history = this->history();
  // The log may have bytes that the replica has seen and that this server has not read yet.
  const uint64_t end = TRY(ReadOffset());
  const Anchor here = position();
  if (!history.Covers(id, next) || next < FirstByte() || next > end + 1) return std::optional<Anchor>();
  const Anchor* const anchor = here.offset < next ? &here : history.AnchorBefore(next - 1);
  if (anchor == nullptr) return std::optional<Anchor>();
  LogStream probe(store_, *anchor);
  std::string bytes;
  const Result<LogReader::Outcome> first = probe.Next(bytes, LogReader::Patience::kLong);
  if (!first.ok() || *first == LogReader::Outcome::kGone) return std::optional<Anchor>();
  return std::optional<Anchor>(*anchor);
}

Result<std::unique_ptr<StoreSnapshot>> StreamLog::TakeSnapshot(Anchor& start) {
  // An empty piece of stream: after it the stream selects its database again, as a replica that begins here expects.
  const std::unique_ptr<Transaction> txn = std::make_unique<Transaction>(store_);
  txn->replicated_commands().AddStream("");
  TRY(txn->Commit(CommitMode::kWait));
  const bool was_replica = history().is_replica;
  const Anchor before = position();
  std::unique_ptr<StoreSnapshot> snapshot = TRY(StoreSnapshot::Take(store_));
  start = TRY(AnchorOf(*snapshot, before, was_replica));
  return snapshot;
}

Result<Anchor> StreamLog::AnchorOf(const StoreSnapshot& snapshot, const Anchor& before, bool was_replica) {
  const uint64_t next = snapshot.sequence() + 1;
  {
    const MutexLock lock(mutex_);
    if (history_.is_replica != was_replica) return Status::Io("the role has changed during the snapshot");
  }
  if (was_replica) {
    const Applied applied = TRY(DecodeApplied(TRY(snapshot.ReadNote(kAppliedRow))));
    return Anchor{applied.offset, next, applied.db};
  }
  LogStream stream(store_, before);
  std::string bytes;
  while (stream.position().sequence < next) {
    const Anchor last = stream.position();
    bytes.clear();
    const LogReader::Outcome outcome = TRY(stream.Next(bytes, LogReader::Patience::kLong));
    if (outcome == LogReader::Outcome::kGone) return Status::Io("a part of the log is missing");
    if (outcome == LogReader::Outcome::kCaughtUp || stream.batch_sequence() >= next) {
      return Anchor{last.offset, next, last.db};
    }
  }
  return stream.position();
}

}  // namespace cairn
