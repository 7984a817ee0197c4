// SPDX-License-Identifier: BSD-3-Clause
#include "replication/follower.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "base/thread.h"
#include "client/announcer.h"
#include "client/monitors.h"
#include "client/redact.h"
#include "command/dispatch.h"
#include "config/config.h"
#include "rdb/rdb_file.h"
#include "replication/reload.h"
#include "replication/stream_log.h"
#include "stats/slow_log.h"
#include "stats/stats.h"
#include "storage/batch.h"
#include "storage/disk_reserve.h"
#include "storage/format.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr int64_t kFirstPauseMs = 100;
constexpr int64_t kLongestPauseMs = 2000;
constexpr int64_t kAckMs = 1000;
constexpr int64_t kNoRoomPauseMs = 60000;
constexpr size_t kReadBytes = 256 * 1024;
constexpr size_t kCommitBytes = 512 * 1024;
constexpr size_t kCommitRows = 512;  // who reads one of them waits for the commit
constexpr int kMostTries = 8;

// What the primary says is run in the name of a client that no gate applies to.
class PrimarySession : public Session {
 public:
  explicit PrimarySession(uint64_t id) : Session(id) { is_primary = true; }
};

// A primary says nothing else: what is told of a change, and what frames it.
bool IsForReplicas(const Command& command) {
  if (command.flags() & (kWrite | kMayReplicate | kRunsQueue | kRunsScript)) return true;
  const std::string_view name = command.top().row().name;
  return name == "select" || name == "multi" || name == "script";
}

// Whether something is being loaded: for as long as this lives.
class LoadingFlag {
 public:
  explicit LoadingFlag(std::atomic<bool>& flag) : flag_(flag) { flag_ = true; }
  ~LoadingFlag() { flag_ = false; }
  LoadingFlag(const LoadingFlag&) = delete;
  LoadingFlag& operator=(const LoadingFlag&) = delete;

 private:
  std::atomic<bool>& flag_;
};

// Newlines to a primary while nothing else can be said to it: it sees that somebody is there.
class LifeSigns {
 public:
  explicit LifeSigns(Wire& wire) : wire_(wire), thread_(StartThread("life-signs", [this] { Run(); })) {}
  ~LifeSigns() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  LifeSigns(const LifeSigns&) = delete;
  LifeSigns& operator=(const LifeSigns&) = delete;

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::milliseconds(kAckMs), [this] { return over_; })) {
      static_cast<void>(wire_.Send("\n", kAckMs).ok());  // a broken link shows when it is read
    }
  }

  Wire& wire_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace

Follower::Follower(const Parts& parts, StreamLog& log, Events events)
    : parts_(parts), events_(std::move(events)), log_(log), receiver_(parts.config.Text("dir") + "/sync-received"),
      random_(static_cast<uint64_t>(WallUs())), stats_(parts.stats.AddWorker()) {}

Follower::~Follower() { Stop(); }

void Follower::Start() {
  txn_ = std::make_unique<Transaction>(parts_.store);
  txn_->effects().Mute(true);
  txn_->KeepExpired(true);
  thread_ = StartThread("follow", [this] { Run(); });
}

void Follower::Stop() {
  {
    std::unique_lock lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
    ++epoch_;
    wanted_ = false;
    if (thread_.joinable()) AwaitRest(lock);
  }
  if (thread_.joinable()) thread_.join();
  txn_.reset();
}

void Follower::Follow(const PrimaryAddress& primary, bool failover) {
  {
    const std::lock_guard lock(mutex_);
    asks_failover_ = failover;
    transfer_.again_ms = 0;
    failover_refused_ = false;
    primary_ = primary;
    ++epoch_;
    wanted_ = true;
  }
  ShowState(State::kConnect);
  down_since_ms_ = WallMs();
  wake_.notify_all();
}

void Follower::Leave() {
  std::unique_lock lock(mutex_);
  primary_ = {};
  ++epoch_;
  wanted_ = false;
  if (!stopping_) AwaitRest(lock);
}

// An interruption that comes as the link begins to connect is lost, so there may have to be more of them.
void Follower::AwaitRest(std::unique_lock<std::mutex>& lock) {
  while (resting_epoch_ != epoch_) {
    link_.wire().Interrupt();
    wake_.notify_all();
    rest_.wait_for(lock, std::chrono::milliseconds(10));
  }
}

bool Follower::Break() {
  if (state_ != State::kConnected) return false;
  link_.wire().Interrupt();
  return true;
}

void Follower::ShowState(State state) { state_ = state; }

void Follower::Run() {
  int64_t pause_ms = kFirstPauseMs;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (primary_.host.empty()) {
      resting_epoch_ = epoch_;
      rest_.notify_all();
      ShowState(State::kNone);
      wake_.wait(lock, [this] { return stopping_ || !primary_.host.empty() || resting_epoch_ != epoch_; });
      pause_ms = kFirstPauseMs;
      continue;
    }
    const PrimaryAddress primary = primary_;
    const uint64_t epoch = epoch_;
    lock.unlock();
    const Status status = FollowOnce(primary);
    const bool was_up = state_ == State::kConnected;
    link_.Close();
    txn_->AbandonCommand();
    txn_->Discard();
    static_cast<void>(txn_->announcements().Take());  // they come again with what is not committed
    events_.on_link(false);
    lock.lock();
    if (epoch != epoch_ || stopping_) continue;
    ShowState(State::kConnect);
    if (was_up) down_since_ms_ = WallMs();
    Log(LogSeverity::kNotice, "MASTER <-> REPLICA link to " + primary.host + ":" + std::to_string(primary.port) +
                                  ": " + std::string(status.text()));
    pause_ms = was_up ? kFirstPauseMs : std::min(2 * pause_ms, kLongestPauseMs);
    wake_.wait_for(lock, std::chrono::milliseconds(pause_ms), [&] { return stopping_ || epoch != epoch_; });
  }
  resting_epoch_ = epoch_;
  rest_.notify_all();
}

Status Follower::FollowOnce(const PrimaryAddress& primary) {
  TRY(CheckRoom());
  const bool has_room = parts_.store.disk_reserve().left_bytes() >= transfer_.room_wanted;
  if (transfer_.is_needed && !has_room && WallMs() < transfer_.again_ms) {
    return Status::Io("the disk has no room for everything that the primary has; it is asked again when there is more, "
                      "or in a minute");
  }
  ShowState(State::kConnecting);
  Config& config = parts_.config;
  LinkOptions options{.host = primary.host, .port = primary.port};
  options.user = config.Text("masteruser");
  options.password = config.Text("masterauth");
  const int64_t announced = config.Number("replica-announce-port");
  const Settings& settings = parts_.config.settings();
  const int64_t own_port = settings.tls_replication ? settings.tls_port : settings.port;
  options.listening_port = static_cast<int>(announced != 0 ? announced : own_port);
  if (settings.tls_replication) options.tls = &parts_.tls;
  options.bind_from = config.Text("bind-source-addr");
  options.announced_ip = config.Text("replica-announce-ip");
  options.timeout_ms = settings.repl_timeout_s * 1000;
  if (settings.repl_sync_files) {
    const Store& store = parts_.store;
    options.files_offer = EncodeFilesOffer({kFormatVersion, static_cast<uint64_t>(store.databases().size()),
                                            store.FreeNumbers(), receiver_.Find()});
  }
  if (!wanted_) return Status::Io("not wanted any more");
  TRY(link_.Connect(options));
  ShowState(State::kHandshake);
  TRY(link_.Introduce(options));
  if (!wanted_) return Status::Io("not wanted any more");
  const bool has_database = log_.applied().db < parts_.store.databases().size();  // `databases` may be fewer now
  const bool goes_on = log_.can_continue() && !is_damaged_ && has_database;
  const History history = log_.history();
  const PrimaryLink::Answer answer =
      TRY(link_.Psync(goes_on ? history.id : "", log_.applied().offset + 1, asks_failover_));
  failover_refused_ = asks_failover_ && answer.kind == PrimaryLink::Answer::Kind::kNotNow;
  if (!failover_refused_) asks_failover_ = false;
  switch (answer.kind) {
    case PrimaryLink::Answer::Kind::kNotNow: return Status::Io("PSYNC was refused: " + answer.text);
    case PrimaryLink::Answer::Kind::kFull:
      transfer_.is_needed = true;
      TRY(CheckRoom());
      TRY(LoadEverything(answer));
      transfer_.is_needed = is_damaged_ = false;
      ++full_syncs_;
      break;
    case PrimaryLink::Answer::Kind::kContinue:
      transfer_.is_needed = false;
      if (!answer.id.empty() && answer.id != history.id) {
        TRY(log_.Rename(answer.id));
        events_.on_stream_changed();
      }
      ++partial_syncs_;
      receiver_.Drop();
      Log(LogSeverity::kNotice, "MASTER <-> REPLICA sync: Master accepted a Partial Resynchronization.");
      break;
  }
  return CarryOut(primary);
}

// A replica may not refuse a command of its primary's. It applies the stream as long as compactions have room, because
// they make more, and is not sent everything while the disk is low.
Status Follower::CheckRoom() const {
  const DiskReserve& reserve = parts_.store.disk_reserve();
  if (reserve.level() == DiskReserve::Level::kFull || !reserve.HasRoomForCompaction(0)) {
    return Status::Io("the disk is full, also the most of min-free-disk; the stream waits until there is room");
  }
  return transfer_.is_needed ? reserve.CheckGrowth() : Ok();
}

// ---- the first transfer

Status Follower::KeepAlive() {
  const int64_t now_ms = WallMs();
  if (now_ms - acked_ms_ < kAckMs) return Ok();
  acked_ms_ = now_ms;
  return link_.wire().Send("\n", kAckMs);
}

void Follower::NoteProgress(uint64_t received, uint64_t total) {
  sync_size_ = total;
  sync_received_ = received;
  last_io_ms_ = WallMs();
  static_cast<void>(KeepAlive().ok());  // a broken link shows when it is read
  const DiskReserve& reserve = parts_.store.disk_reserve();
  const uint64_t rest = total > received ? total - received : 0;
  if (CheckRoom().ok() && reserve.left_bytes() >= reserve.size() + rest) return;
  transfer_.lacks_room = true;
  transfer_.room_wanted = reserve.size() + std::max(total, 2 * received);
  transfer_.again_ms = last_io_ms_ + kNoRoomPauseMs;
  link_.wire().Interrupt();
}

Status Follower::LoadEverything(const PrimaryLink::Answer& answer) {
  sync_size_ = sync_received_ = 0;
  transfer_.lacks_room = false;
  ShowState(State::kSync);
  Log(LogSeverity::kNotice, "Full resync from master: " + answer.id + ":" + std::to_string(answer.offset));
  TRY(link_.AwaitFile());
  Status loaded;
  RunAtLowPriority("load", [&] {
    loaded = link_.files_head() ? LoadFiles(answer, *link_.files_head()) : LoadFile(answer);
  });
  if (!loaded.ok() && transfer_.lacks_room) {
    receiver_.Drop();
    return Status::Io("the disk has no room for everything that the primary has");
  }
  TRY(std::move(loaded));
  receiver_.Drop();
  events_.on_stream_changed();
  return Ok();
}

Status Follower::BeforeAdopting(const PrimaryLink::Answer& answer, int64_t selected_db, Transaction& txn,
                                std::unique_ptr<StreamLog::Adoption>& adoption) {
  if (!wanted_) return Status::Io("not wanted any more");
  const bool is_one = selected_db >= 0 && selected_db < parts_.store.databases().size();
  const Applied applied{.offset = answer.offset, .db = is_one ? static_cast<int>(selected_db) : 0};
  adoption = std::make_unique<StreamLog::Adoption>(log_, answer.id, applied, txn);
  return Ok();
}

Status Follower::LoadFile(const PrimaryLink::Answer& answer) {
  sync_size_ = link_.file_size();
  ReloadOptions options;
  options.keeps_expired = true;
  options.on_progress = [this](uint64_t position) { NoteProgress(position, link_.file_size()); };
  std::unique_ptr<StreamLog::Adoption> adoption;
  options.before_adopting = [&](const Reloaded& reloaded, Transaction& txn) {
    const auto db = reloaded.aux.find(kAuxReplicationDb);
    const int64_t selected = db == reloaded.aux.end() ? 0 : ParseInt64(db->second).value_or(0);
    return BeforeAdopting(answer, selected, txn, adoption);
  };
  const LoadingFlag loading(is_loading_);
  const Reloaded reloaded = TRY(ReplaceDataset(parts_.dataset, *txn_, link_.Source(), options));
  adoption->Done();
  Log(LogSeverity::kNotice, "MASTER <-> REPLICA sync: Finished with success, " + std::to_string(reloaded.keys) +
                                " keys loaded");
  return Ok();
}

// What has come is kept when the link breaks. Once the files are being taken in they are not in their place any more.
Status Follower::LoadFiles(const PrimaryLink::Answer& answer, const FilesHead& head) {
  const auto on_progress = [this](uint64_t received, uint64_t total) { NoteProgress(received, total); };
  const LoadingFlag loading(is_loading_);
  TRY(receiver_.Receive(link_.wire(), head, parts_.config.settings().repl_timeout_s * 1000, on_progress));
  Log(LogSeverity::kNotice, "MASTER <-> REPLICA sync: received " + std::to_string(receiver_.files().size()) +
                                " files of " + std::to_string(sync_received_) + " bytes, of which " +
                                std::to_string(receiver_.spared()) + " were there already");
  std::unique_ptr<StreamLog::Adoption> adoption;
  const int64_t selected = receiver_.content().selected_db;
  const LifeSigns life_signs(link_.wire());
  Result<uint64_t> keys =
      AdoptRowFiles(parts_.dataset, *txn_, receiver_.files(), head.first, receiver_.content(),
                    [&](Transaction& txn) { return BeforeAdopting(answer, selected, txn, adoption); });
  if (!keys.ok()) receiver_.Drop();
  const uint64_t loaded = TRY(std::move(keys));
  adoption->Done();
  Log(LogSeverity::kNotice, "MASTER <-> REPLICA sync: Finished with success, " + std::to_string(loaded) +
                                " keys in files");
  return Ok();
}

// ---- the stream

Status Follower::CarryOut(const PrimaryAddress& primary) {
  applied_ = log_.applied();
  received_offset_ = applied_.offset;
  session_ = std::make_unique<PrimarySession>(0);
  session_->db = applied_.db;
  session_->socket.peer = primary.host + ":" + std::to_string(primary.port);
  parser_ = std::make_unique<RequestParser>();
  stream_.clear();
  in_multi_ = 0;
  last_io_ms_ = WallMs();
  ShowState(State::kConnected);
  events_.on_link(true);
  TRY(SendAck());
  while (wanted_) {
    TRY(CheckRoom());
    TRY(ReadSome());
    TRY(RunBuffered());
    parser_->Shrink(2 * kReadBytes);
    TRY(AckWhenDue());
    if (WallMs() - last_io_ms_ > parts_.config.settings().repl_timeout_s * 1000) {
      return Status::Io("no data nor PING received...");
    }
  }
  return Status::Io("not wanted any more");
}

Status Follower::ReadSome() {
  // What is announced has not come yet: no more is taken than has come before.
  const size_t most = std::max(kReadBytes, parser_->pending_bytes());
  const int64_t until_ack_ms = std::clamp<int64_t>(acked_ms_ + kAckMs - WallMs(), 0, kAckMs);
  char* const place = parser_->Reserve(std::clamp(parser_->missing_bytes(), kReadBytes, most));
  const size_t got = TRY(link_.wire().Read(place, parser_->reserved(), until_ack_ms));
  if (got == 0) return Ok();
  parser_->Filled(got);
  received_offset_ += got;
  last_io_ms_ = WallMs();
  return Ok();
}

// Runs the whole commands that have come. A commit falls anywhere but within a MULTI.
Status Follower::RunBuffered() {
  auto outcome = RequestParser::Outcome::kRequest;
  while (outcome == RequestParser::Outcome::kRequest) {
    outcome = ahead_.Read(*parser_, *txn_, session_->db);
    clock_us_ = MonotonicUs();
    for (const StreamAhead::Request& request : ahead_.requests()) TRY(RunRequest(request));
  }
  if (outcome == RequestParser::Outcome::kError) return Damaged(parser_->error());
  return session_->multi.active ? Ok() : CommitApplied();
}

Status Follower::RunRequest(const StreamAhead::Request& request) {
  if (!request.argv.empty() && request.raw.front() != '*') return Damaged("a command as people type them");
  if (!request.argv.empty()) TRY(RunCommand(request.argv));
  if (request.raw.size() > kMostLogDataBytes - stream_.size()) return Damaged("a transaction of more than 4 GB");
  stream_.append(request.raw);
  in_multi_ = session_->multi.active ? in_multi_ + request.raw.size() : 0;
  const bool is_large = txn_->pending_rows() > kCommitRows || txn_->pending_bytes() > kCommitBytes ||
                        stream_.size() > kCommitBytes;
  if (!is_large || session_->multi.active) return Ok();
  TRY(CommitApplied());
  clock_us_ = MonotonicUs();
  return Ok();
}

// To go on from where it is would be to meet the same bytes again, or to take more of what was not meant.
Status Follower::Damaged(const std::string& how) {
  is_damaged_ = true;
  return Status::Io("the stream is damaged, everything is asked for again: " + how);
}

Status Follower::CommitApplied() {
  if (stream_.empty()) return Ok();
  const Applied applied{applied_.offset + stream_.size(), session_->db};
  log_.AddApplied(*txn_, applied, stream_);
  TRY(txn_->Commit(CommitMode::kWait));
  parts_.announcer.Deliver(*txn_);
  applied_ = applied;
  log_.NoteApplied(applied);
  stream_.clear();
  return Ok();
}

Status Follower::RunCommand(std::span<const std::string_view> argv) {
  if (IsCommand(argv, "ping")) return Ok();
  if (IsCommand(argv, "replconf")) {
    ack_wanted_ = ack_wanted_ || (argv.size() > 1 && EqualsIgnoreCase(argv[1], "getack"));
    return Ok();
  }
  const Settings& settings = parts_.config.settings();
  const auto kept = archive_filter_.Apply(argv, settings.replica_ignore_del, settings.replica_ignore_expire);
  return kept.empty() ? Ok() : RunRetried(kept);
}

// As of a client's command, which counts when it is run and not when EXEC is still to come.
void Follower::Account(const Command& command, std::span<const std::string_view> argv, int64_t usec,
                       std::string_view error) {
  if (session_->multi.active && !command.Has(kNotQueued)) return;
  for (const QueuedCommand& queued : std::exchange(ran_, {})) {
    Account(*queued.command, std::vector<std::string_view>(queued.argv.begin(), queued.argv.end()), queued.usec,
            queued.error);
  }
  stats_.OnCommand(command, usec, !error.empty(), error);
  if (parts_.monitors.any()) parts_.monitors.Feed(*session_, command, argv);
  if (!parts_.slow_log.IsSlow(usec) || command.Has(kSkipSlowlog)) return;
  parts_.slow_log.Add(RedactSecrets(command, {argv.begin(), argv.end()}), usec, session_->socket.peer, {});
}

// What has to wait for a stripe lets go of its own first.
Status Follower::RunRetried(std::span<const std::string_view> argv) {
  CommandWorker worker{*txn_, random_, Lane::kSlow, positions_, stripes_};
  const Command* const command = parts_.table.ResolveAny(argv);
  if (command != nullptr && !IsForReplicas(*command)) {
    Log(LogSeverity::kWarning, "== CRITICAL == The primary sends '" + std::string(command->full_name()) +
                                   "', which is no command for replicas; it is passed over");
    return Ok();
  }
  const int64_t begin_us = clock_us_;
  for (int tries = 0;; ++tries) {
    reply_.clear();
    Reply reply(reply_, 2);
    const Status status = parts_.dispatcher.Apply(worker, *session_, command, argv, reply, tries > 1, ran_);
    if (!status.Is(Code::kWouldWait)) {
      clock_us_ = MonotonicUs();
      if (command != nullptr) Account(*command, argv, clock_us_ - begin_us, status.text());
      if (!status.ok()) {
        Log(LogSeverity::kWarning, "== CRITICAL == This replica is sending an error to its master: '" +
                                       std::string(status.text()) + "' after processing the command '" +
                                       std::string(argv[0]) + "'");
      }
      return status.Is(Code::kIo) || status.Is(Code::kCorruption) ? Status::Io(status.text()) : Ok();
    }
    if (tries == kMostTries) return Status::Io("a command could not be run");
    // The bytes of a MULTI that is being run are not carried out yet.
    std::string open = stream_.substr(stream_.size() - in_multi_);
    stream_.resize(stream_.size() - in_multi_);
    Status committed = CommitApplied();
    stream_.append(open);
    TRY(std::move(committed));
    txn_->Discard();
  }
}

Status Follower::AckWhenDue() { return ack_wanted_ || WallMs() - acked_ms_ >= kAckMs ? SendAck() : Ok(); }

Status Follower::SendAck() {
  ack_wanted_ = false;
  acked_ms_ = WallMs();
  const std::string offset = std::to_string(applied_.offset);
  const std::string synced = std::to_string(std::min(applied_.offset, log_.synced_offset()));
  return link_.wire().SendCommand({"REPLCONF", "ACK", offset, "FACK", synced}, kAckMs);
}

}  // namespace cairn
