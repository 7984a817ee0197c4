// SPDX-License-Identifier: BSD-3-Clause
#include "replication/primary_link.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "base/thread.h"
#include "config/config.h"
#include "rdb/rdb_file.h"
#include "replication/reload.h"
#include "replication/stream_log.h"
#include "storage/disk_reserve.h"
#include "storage/format.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr std::string_view kIsMaster = "can't be sent to a master";  // in the reply of a primary to PSYNC FAILOVER
constexpr int64_t kFirstPauseMs = 100;
constexpr int64_t kLongestPauseMs = 2000;
constexpr int64_t kAckMs = 1000;
constexpr int64_t kNoRoomPauseMs = 60000;
constexpr size_t kReadBytes = 256 * 1024;

// Sets the flag while it exists.
class LoadingFlag {
 public:
  explicit LoadingFlag(std::atomic<bool>& flag) : flag_(flag) { flag_ = true; }
  ~LoadingFlag() { flag_ = false; }
  LoadingFlag(const LoadingFlag&) = delete;
  LoadingFlag& operator=(const LoadingFlag&) = delete;

 private:
  std::atomic<bool>& flag_;
};

// Sends newlines to a primary while the thread of the link is busy, so that the primary does not time out.
class LifeSigns {
 public:
  explicit LifeSigns(BlockingSocket& socket) : socket_(socket), thread_(StartThread("life-signs", [this] { Run(); })) {}
  ~LifeSigns() {
    {
      const MutexLock lock(mutex_);
      over_ = true;
    }
    wake_.NotifyAll();
    thread_.join();
  }
  LifeSigns(const LifeSigns&) = delete;
  LifeSigns& operator=(const LifeSigns&) = delete;

 private:
  void Run() {
    ReleasableMutexLock lock(mutex_);
    while (!wake_.WaitFor(mutex_, std::chrono::milliseconds(kAckMs),
                          [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return over_; })) {
      static_cast<void>(socket_.Send("\n", kAckMs).ok());  // the next read reports a broken link
    }
  }

  BlockingSocket& socket_;
  Mutex mutex_;
  CondVar wake_;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace

PrimaryLink::PrimaryLink(const Parts& parts, StreamLog& log, Events events)
    : parts_(parts), events_(std::move(events)), log_(log), receiver_(parts.config.Text("dir") + "/sync-received"),
      applier_(parts.applier, log) {}

PrimaryLink::~PrimaryLink() { Stop(); }

void PrimaryLink::Start() {
  applier_.Start();
  thread_ = StartThread("primary-link", [this] { Run(); });
}

void PrimaryLink::Stop() {
  {
    const MutexLock lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
    ++epoch_;
    wanted_ = false;
    if (thread_.joinable()) AwaitRest();
  }
  if (thread_.joinable()) thread_.join();
  applier_.Stop();
}

void PrimaryLink::Connect(const PrimaryAddress& primary, bool failover) {
  {
    const MutexLock lock(mutex_);
    asks_failover_ = failover;
    transfer_.again_ms = 0;
    failover_refused_ = false;
    primary_ = primary;
    ++epoch_;
    wanted_ = true;
  }
  ShowState(State::kConnect);
  wake_.NotifyAll();
}

void PrimaryLink::Disconnect() {
  const MutexLock lock(mutex_);
  primary_ = {};
  ++epoch_;
  wanted_ = false;
  if (!stopping_) AwaitRest();
}

// Interrupts repeatedly: an interruption at the moment when the link starts to connect is lost.
void PrimaryLink::AwaitRest() {
  while (resting_epoch_ != epoch_) {
    link_.socket().Interrupt();
    wake_.NotifyAll();
    rest_.WaitFor(mutex_, std::chrono::milliseconds(10));
  }
}

int64_t PrimaryLink::DataAgeMs() const {
  if (state_ == State::kConnected) return MonotonicMs() - last_io_ms_;
  const int64_t down_since_ms = down_since_ms_;
  return down_since_ms == kNever ? INT64_MAX : MonotonicMs() - down_since_ms;
}

bool PrimaryLink::Break() {
  if (state_ != State::kConnected) return false;
  link_.socket().Interrupt();
  return true;
}

void PrimaryLink::ShowState(State state) { state_ = state; }

void PrimaryLink::Run() {
  int64_t pause_ms = kFirstPauseMs;
  ReleasableMutexLock lock(mutex_);
  while (!stopping_) {
    if (primary_.host.empty()) {
      resting_epoch_ = epoch_;
      rest_.NotifyAll();
      ShowState(State::kNone);
      while (!stopping_ && primary_.host.empty() && resting_epoch_ == epoch_) wake_.Wait(mutex_);
      pause_ms = kFirstPauseMs;
      continue;
    }
    const PrimaryAddress primary = primary_;
    const uint64_t epoch = epoch_;
    lock.Unlock();
    const Status status = ConnectOnce(primary);
    const bool was_up = state_ == State::kConnected;
    if (was_up) down_since_ms_ = MonotonicMs();
    link_.Close();
    applier_.Abandon();
    events_.on_link(false);
    lock.Lock();
    if (epoch != epoch_ || stopping_) continue;
    ShowState(State::kConnect);
    Log(LogSeverity::kNotice, "MASTER <-> REPLICA link to {}:{}: {}", primary.host, primary.port, status.text());
    pause_ms = was_up ? kFirstPauseMs : std::min(2 * pause_ms, kLongestPauseMs);
    wake_.WaitFor(mutex_, std::chrono::milliseconds(pause_ms),
                  [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || epoch != epoch_; });
  }
  resting_epoch_ = epoch_;
  rest_.NotifyAll();
}

Status PrimaryLink::ConnectOnce(const PrimaryAddress& primary) {
  TRY(CheckRoom());
  const bool has_room = parts_.store.engine().disk_reserve().left_bytes() >= transfer_.room_wanted;
  if (transfer_.is_needed && !has_room && MonotonicMs() < transfer_.again_ms) {
    return Status::Io(
        "the disk has no room for the primary's data set; the transfer is retried when there is more room, "
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
  Store& store = parts_.store;
  if (settings.repl_sync_files && store.databases().all_on_ssd()) {
    const FilesPlace received = receiver_.Find([this] { return wanted_.load(); });  // reads all of it after a start
    options.files_offer = EncodeFilesOffer(
        {kFormatVersion, static_cast<uint64_t>(store.databases().size()), store.staging().FreeNumbers(), received});
  }
  if (!wanted_) return Status::Io("the link is no longer needed");
  TRY(link_.Connect(options));
  ShowState(State::kHandshake);
  TRY(link_.Introduce(options));
  if (!wanted_) return Status::Io("the link is no longer needed");
  const bool has_database = log_.applied().db < parts_.store.databases().size();  // `databases` may have been reduced
  const bool goes_on = log_.can_continue() && !applier_.is_damaged() && has_database;
  const History history = log_.history();
  const PrimaryHandshake::Answer answer =
      TRY(link_.Psync(goes_on ? history.id : "", log_.applied().offset + 1, asks_failover_));
  const bool is_refused = answer.kind == PrimaryHandshake::Answer::Kind::kNotNow;
  // A target that is a primary has taken over, and its answer was lost: the next PSYNC follows it.
  // A refusal is final: a target that accepted a second request could take over while this server takes back its role.
  const bool has_taken_over = answer.text.find(kIsMaster) != std::string::npos;
  if (asks_failover_ && is_refused && !has_taken_over) failover_refused_ = true;
  asks_failover_ = false;
  switch (answer.kind) {
    case PrimaryHandshake::Answer::Kind::kNotNow: return Status::Io("PSYNC was refused: " + answer.text);
    case PrimaryHandshake::Answer::Kind::kFull:
      transfer_.is_needed = true;
      TRY(CheckRoom());
      TRY(LoadEverything(answer));
      transfer_.is_needed = false;
      applier_.NoteAdopted();
      ++full_syncs_;
      break;
    case PrimaryHandshake::Answer::Kind::kContinue:
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

// A replica may not refuse a command of its primary. It applies the stream as long as the disk has room for
// compactions, because these free space. It does not start a full transfer while the disk is low.
Status PrimaryLink::CheckRoom() const {
  const DiskReserve& reserve = parts_.store.engine().disk_reserve();
  if (reserve.level() == DiskReserve::Level::kFull || !reserve.HasRoomForCompaction(0)) {
    return Status::Io("the disk is full and most of min-free-disk is used; the stream waits until there is room");
  }
  return transfer_.is_needed ? reserve.CheckGrowth() : Ok();
}

// ---- the first transfer

Status PrimaryLink::KeepAlive() {
  const int64_t now_ms = MonotonicMs();
  if (now_ms - acked_ms_ < kAckMs) return Ok();
  acked_ms_ = now_ms;
  return link_.socket().Send("\n", kAckMs);
}

void PrimaryLink::NoteProgress(uint64_t received, uint64_t total) {
  transfer_.size = total;
  transfer_.received = received;
  last_io_ms_ = MonotonicMs();
  static_cast<void>(KeepAlive().ok());  // the next read reports a broken link
  const DiskReserve& reserve = parts_.store.engine().disk_reserve();
  const uint64_t rest = total > received ? total - received : 0;
  if (CheckRoom().ok() && reserve.left_bytes() >= reserve.size() + rest) return;
  transfer_.lacks_room = true;
  transfer_.room_wanted = reserve.size() + std::max(total, 2 * received);
  transfer_.again_ms = last_io_ms_ + kNoRoomPauseMs;
  link_.socket().Interrupt();
}

Status PrimaryLink::LoadEverything(const PrimaryHandshake::Answer& answer) {
  transfer_.size = transfer_.received = 0;
  transfer_.lacks_room = false;
  ShowState(State::kSync);
  Log(LogSeverity::kNotice, "Full resync from master: {}:{}", answer.id, answer.offset);
  TRY(link_.AwaitFile());
  Status loaded;
  RunAtLowPriority("load",
                   [&] { loaded = link_.files_head() ? LoadFiles(answer, *link_.files_head()) : LoadFile(answer); });
  if (!loaded.ok() && transfer_.lacks_room) {
    receiver_.Drop();
    return Status::Io("the disk has no room for the primary's data set");
  }
  TRY(std::move(loaded));
  receiver_.Drop();
  events_.on_stream_changed();
  return Ok();
}

Status PrimaryLink::BeforeAdopting(const PrimaryHandshake::Answer& answer, int64_t selected_db, Transaction& txn,
                                   std::unique_ptr<StreamLog::Adoption>& adoption) {
  if (!wanted_) return Status::Io("the link is no longer needed");
  if (selected_db >= parts_.store.databases().size()) {
    return Status::Io(fmt::format("the stream is in database {}; raise `databases` to follow it", selected_db));
  }
  const Applied applied{.offset = answer.offset, .db = static_cast<int>(std::max<int64_t>(selected_db, 0))};
  adoption = std::make_unique<StreamLog::Adoption>(log_, answer.id, applied, txn);
  return Ok();
}

Status PrimaryLink::LoadFile(const PrimaryHandshake::Answer& answer) {
  transfer_.size = link_.file_size();
  ReloadOptions options;
  options.keeps_expired = true;
  options.on_progress = [this](uint64_t position) { NoteProgress(position, link_.file_size()); };
  std::unique_ptr<StreamLog::Adoption> adoption;
  options.before_adopting = [&](const Reloaded& reloaded, Transaction& txn) {
    const auto db = reloaded.aux.find(kAuxReplicationDb);
    const int64_t selected = db == reloaded.aux.end() ? 0 : ParseInt64(db->second).value_or(0);
    return BeforeAdopting(answer, selected, txn, adoption);
  };
  const LoadingFlag loading(transfer_.is_loading);
  const Reloaded reloaded = TRY(ReplaceDataset(parts_.dataset, applier_.txn(), link_.Source(), options));
  adoption->Done();
  Log(LogSeverity::kNotice, "MASTER <-> REPLICA sync: Finished with success, {} keys loaded", reloaded.keys);
  return Ok();
}

// A broken link keeps the received files. An error after the import has begun deletes them: some were moved already.
Status PrimaryLink::LoadFiles(const PrimaryHandshake::Answer& answer, const FilesHead& head) {
  const auto on_progress = [this](uint64_t received, uint64_t total) { NoteProgress(received, total); };
  const LoadingFlag loading(transfer_.is_loading);
  TRY(receiver_.Receive(link_.socket(), head, parts_.config.settings().repl_timeout_s * 1000, on_progress));
  Log(LogSeverity::kNotice, "MASTER <-> REPLICA sync: received {} files of {} bytes, {} of them in an earlier transfer",
      receiver_.files().size(), transfer_.received, receiver_.spared());
  std::unique_ptr<StreamLog::Adoption> adoption;
  const int64_t selected = receiver_.content().selected_db;
  const LifeSigns life_signs(link_.socket());
  Result<uint64_t> keys =
      AdoptRowFiles(parts_.dataset, applier_.txn(), receiver_.files(), head.first, receiver_.content(),
                    [&](Transaction& txn) { return BeforeAdopting(answer, selected, txn, adoption); });
  if (!keys.ok()) receiver_.Drop();
  const uint64_t loaded = TRY(std::move(keys));
  adoption->Done();
  Log(LogSeverity::kNotice, "MASTER <-> REPLICA sync: Finished with success, {} keys in files", loaded);
  return Ok();
}

// ---- the stream

Status PrimaryLink::CarryOut(const PrimaryAddress& primary) {
  applier_.Begin(fmt::format("{}:{}", primary.host, primary.port));
  received_offset_ = applier_.applied_offset();
  last_io_ms_ = MonotonicMs();
  ShowState(State::kConnected);
  events_.on_link(true);
  TRY(SendAck());
  while (wanted_) {
    TRY(CheckRoom());
    if (!applier_.has_more()) TRY(ReadSome());
    TRY(applier_.RunBuffered());
    if (!applier_.has_more()) applier_.parser().Shrink(2 * kReadBytes);
    TRY(AckWhenDue());
  }
  return Status::Io("the link is no longer needed");
}

Status PrimaryLink::ReadSome() {
  // Reserves no more than has already arrived: an announced argument may never arrive.
  RequestParser& parser = applier_.parser();
  const size_t most = std::max(kReadBytes, parser.pending_bytes());
  const int64_t until_ack_ms = std::clamp<int64_t>(acked_ms_ + kAckMs - MonotonicMs(), 0, kAckMs);
  char* const place = parser.Reserve(std::clamp(parser.missing_bytes(), kReadBytes, most));
  const size_t got = TRY(link_.socket().Read(place, parser.reserved(), until_ack_ms));
  if (got == 0) return CheckSilence();
  parser.Filled(got);
  received_offset_ += got;
  last_io_ms_ = MonotonicMs();
  return Ok();
}

// Called when nothing can be read: what arrived while this thread applied commands shows that the primary is alive.
Status PrimaryLink::CheckSilence() const {
  const bool is_long = MonotonicMs() - last_io_ms_ > parts_.config.settings().repl_timeout_s * 1000;
  return is_long ? Status::Io("no data nor PING received...") : Ok();
}

Status PrimaryLink::AckWhenDue() {
  return applier_.TakeAckRequest() || MonotonicMs() - acked_ms_ >= kAckMs ? SendAck() : Ok();
}

Status PrimaryLink::SendAck() {
  acked_ms_ = MonotonicMs();
  const uint64_t applied = applier_.applied_offset();
  const std::string offset = std::to_string(applied);
  const std::string synced = std::to_string(std::min(applied, log_.synced_offset()));
  return link_.socket().SendCommand({"REPLCONF", "ACK", offset, "FACK", synced}, kAckMs);
}

}  // namespace cairn
