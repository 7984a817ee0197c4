// SPDX-License-Identifier: BSD-3-Clause
#include "replication/replicas.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "base/words.h"
#include "client/client_registry.h"
#include "client/client_session.h"
#include "config/config.h"
#include "rdb/rdb_disk.h"
#include "rdb/rdb_file.h"
#include "replication/rdb_file_writer.h"
#include "replication/stream_log.h"
#include "script/library_store.h"
#include "storage/disk_reserve.h"
#include "storage/old_logs.h"
#include "storage/store.h"
#include "storage/store_snapshot.h"

namespace cairn {
namespace {

constexpr uint64_t kMostUnsent = 4 << 20;  // most bytes that wait in a connection
constexpr uint64_t kLeastUnsent = 4096;    // allowed in any case, even if a limit is lower
constexpr size_t kPieceBytes = 256 * 1024;
constexpr int64_t kNewlineMs = 1000;
// Events end the waits. These limits are for timeouts and changed settings, which raise no event.
constexpr int64_t kLongestWaitUs = 1000000;
constexpr int64_t kLongestRoomWaitUs = 100000;
// The shortest time between two pieces of the stream. A piece wakes three threads and costs two system calls, so under
// load it should hold several commits.
constexpr int64_t kPieceUs = 1000;

// The host of "host:port"; an IPv6 address has brackets there.
std::string HostOf(const std::string& peer) {
  const std::string host = peer.substr(0, peer.rfind(':'));
  return host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
}

// Null if the client has sent no command of a replica.
Replica* KnownReplica(const ClientSession& session) { return static_cast<Replica*>(session.replica.get()); }

Status Gone() { return Status::Io("the connection was closed"); }

// A replica that is not Cairn refuses the file; its own error does not name a key.
void WarnOfOwnTypes(const Replica& replica, const RdbFileWriter& writer) {
  const KeyCount& keys = writer.keys_of_own_types();
  if (keys.count == 0 || replica.files) return;
  Log(LogSeverity::kWarning,
      "The data set for replica {}:{} has {} keys that only Cairn can read (JSON values, filters or sketches), the "
      "first of them {}. Another server refuses it.",
      replica.ip, replica.port, keys.count, ShowWord(keys.first));
}

}  // namespace

std::shared_ptr<Replica> Replicas::Of(ClientSession& session) {
  const MutexLock lock(session.mutex());
  if (session.replica == nullptr) {
    auto replica = std::make_shared<Replica>();
    replica->session = std::static_pointer_cast<ClientSession>(clients_.Find(session.id()));
    replica->id = session.id();
    replica->acked_ms = MonotonicMs();
    replica->ip = HostOf(session.socket.peer);
    session.replica = std::move(replica);
  }
  return std::static_pointer_cast<Replica>(session.replica);
}

void Replicas::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  DisconnectAll();
  while (!changed_.Await(kLongestWaitUs, [this] { return count_ == 0; })) {
  }
  Reap();
  sst_snapshots_.Stop();
}

void Replicas::Attach(ClientSession& session, std::string id, uint64_t next, bool is_old) {
  std::shared_ptr<Replica> replica = Of(session);
  Reap();
  const MutexLock lock(mutex_);
  if (stopping_ || replica->thread.joinable()) return;
  session.is_replica = true;
  replica->acked_ms = MonotonicMs();
  replica->acknowledges = !is_old;
  attached_.push_back(replica);
  ++count_;
  const auto run = [this, replica, id = std::move(id), next, is_old] { Run(*replica, id, next, is_old); };
  replica->thread = StartThread("replica-" + std::to_string(replica->id), run);
}

void Replicas::Forget(ClientSession& session) {
  if (Replica* const replica = KnownReplica(session)) End(*replica);
}

void Replicas::End(Replica& replica) {
  replica.ended = true;
  replica.changed.Notify();
  store_.log().tail().news().Notify();
}

// Joins threads that have ended; a thread cannot join itself.
void Replicas::Reap() {
  std::vector<std::shared_ptr<Replica>> ended;
  {
    const MutexLock lock(mutex_);
    std::erase_if(leaving_, [&ended](std::shared_ptr<Replica>& replica) {
      if (!replica->done) return false;
      ended.push_back(std::move(replica));
      return true;
    });
  }
  for (const std::shared_ptr<Replica>& replica : ended) replica->thread.join();
}

void Replicas::DisconnectAll() {
  sst_snapshots_.RetireAll();
  for (const std::shared_ptr<Replica>& replica : All()) End(*replica);
}

std::vector<std::shared_ptr<Replica>> Replicas::All() const {
  const MutexLock lock(mutex_);
  return attached_;
}

void Replicas::NoteAck(ClientSession& session, uint64_t acked, uint64_t synced) {
  const std::shared_ptr<Replica> replica = Of(session);
  if (acked > replica->acked) replica->acked = acked;
  if (synced > replica->synced) replica->synced = synced;
  replica->acked_ms = MonotonicMs();
  Replica::State sending = Replica::State::kSending;
  replica->state.compare_exchange_strong(sending, Replica::State::kOnline);
  replica->changed.Notify();
  changed_.Notify();
}

void Replicas::AwaitAcked(uint64_t offset, int64_t until_ms) {
  const auto has_all = [this, offset] {
    const std::vector<std::shared_ptr<Replica>> all = All();
    return std::none_of(all.begin(), all.end(), [offset](const std::shared_ptr<Replica>& replica) {
      return replica->state == Replica::State::kOnline && replica->acked < offset;
    });
  };
  changed_.Await(std::max<int64_t>(until_ms - MonotonicMs(), 0) * 1000, has_all);
}

void Replicas::NoteAlive(ClientSession& session) {
  if (Replica* const replica = KnownReplica(session)) replica->acked_ms = MonotonicMs();
}

int Replicas::CountAcked(uint64_t offset, bool synced) const {
  int count = 0;
  for (const std::shared_ptr<Replica>& replica : All()) {
    if (replica->state != Replica::State::kOnline) continue;
    count += (synced ? replica->synced : replica->acked) >= offset ? 1 : 0;
  }
  return count;
}

bool Replicas::IsWriting() const {
  const MutexLock lock(mutex_);
  return std::any_of(attached_.begin(), attached_.end(),
                     [](const auto& replica) { return replica->is_written.load(); });
}

uint64_t Replicas::FirstNeeded() const {
  uint64_t first = std::min(sst_snapshots_.FirstNeeded(), log_uses_.FirstNeeded());
  const MutexLock lock(mutex_);
  for (const auto& replica : attached_) first = std::min(first, replica->log_from.load());
  return first;
}

int Replicas::CountGood() const {
  const int64_t most_ms = config_.settings().min_replicas_max_lag_s * 1000;
  int count = 0;
  for (const std::shared_ptr<Replica>& replica : All()) {
    const bool online = replica->state == Replica::State::kOnline && replica->wants_stream;
    // Counts whole seconds, as Redis does.
    count += online && (MonotonicMs() - replica->acked_ms) / 1000 * 1000 <= most_ms ? 1 : 0;
  }
  return count;
}

void Replicas::CheckTimes() {
  Reap();
  sst_snapshots_.CheckTimes();
  const int64_t most_ms = config_.settings().repl_timeout_s * 1000;
  for (const std::shared_ptr<Replica>& replica : All()) {
    if (replica->state != Replica::State::kOnline || !replica->acknowledges) continue;
    if (MonotonicMs() - replica->acked_ms <= most_ms || replica->ended) continue;
    Log(LogSeverity::kWarning, "Disconnecting timedout replica (streaming sync): {}:{}", replica->ip, replica->port);
    End(*replica);
  }
}

// ---- one replica's thread

void Replicas::Run(Replica& replica, const std::string& id, uint64_t next, bool is_old) {
  const Status status = RunSender(replica, id, next, is_old);
  Log(LogSeverity::kNotice, "Replica {}:{} disconnected: {}", replica.ip, replica.port, status.text());
  if (const std::shared_ptr<ClientSession> session = replica.session.lock()) {
    session->close = CloseRequest::kNow;
    session->Wake();
  }
  {
    const MutexLock lock(mutex_);
    const auto own =
        std::find_if(attached_.begin(), attached_.end(), [&](const auto& each) { return each.get() == &replica; });
    leaving_.push_back(*own);
    attached_.erase(own);
    --count_;
    last_left_ms_ = MonotonicMs();
    replica.done = true;
  }
  changed_.Notify();
}

// Unsent bytes of the stream are in the log and not in memory, unlike in Redis, but the limits hold all the same. A
// replica that has not reached the stream's end since its transfer or its absence is not limited.
Status Replicas::CheckBehind(Replica& replica) {
  if (!replica.caught_up) return Ok();
  const OutputLimit& limit = config_.settings().output_limits[static_cast<int>(ClientClass::kReplica)];
  const auto behind = static_cast<int64_t>(std::max(log_.offset(), replica.sent.load()) - replica.sent);
  const bool is_over_soft = limit.soft_bytes > 0 && behind > limit.soft_bytes;
  if (!is_over_soft) replica.behind_since_us = 0;
  if (is_over_soft && replica.behind_since_us == 0) replica.behind_since_us = MonotonicUs();
  const bool too_long = is_over_soft && MonotonicUs() - replica.behind_since_us > limit.soft_seconds * 1000000;
  const int64_t hard = config_.settings().hard_output_limit(ClientClass::kReplica);
  if (!too_long && (hard == 0 || behind <= hard)) return Ok();
  if (const std::shared_ptr<ClientSession> session = replica.session.lock()) session->CountOverOutputLimit();
  return Status::Io("it is further behind than client-output-buffer-limit allows");
}

// A quarter of the output limits, so that the limits do not disconnect a replica because of bytes that this server
// decided to push. Bytes on the way from one buffer to the other are not counted for a moment.
uint64_t Replicas::MostUnsent() const {
  const int64_t hard = config_.settings().hard_output_limit(ClientClass::kReplica);
  const int64_t soft = config_.settings().output_limits[static_cast<int>(ClientClass::kReplica)].soft_bytes;
  uint64_t most = kMostUnsent;
  for (const int64_t limit : {hard, soft}) {
    if (limit > 0) most = std::min(most, std::max<uint64_t>(static_cast<uint64_t>(limit) / 4, kLeastUnsent));
  }
  return most;
}

Status Replicas::Push(Replica& replica, std::string_view bytes) {
  for (int64_t stuck_since_us = MonotonicUs();;) {
    const std::shared_ptr<ClientSession> session = replica.session.lock();
    if (replica.ended || session == nullptr || session->close == CloseRequest::kNow) return Gone();
    if (bytes.empty()) return Ok();
    const uint64_t most = MostUnsent();
    const size_t piece = std::min<size_t>({bytes.size(), kPieceBytes, most});
    if (session->unsent_bytes() + piece <= most) {
      session->Push(bytes.substr(0, piece));
      bytes.remove_prefix(piece);
      stuck_since_us = MonotonicUs();
      continue;
    }
    TRY(CheckBehind(replica));
    if (MonotonicUs() - stuck_since_us > config_.settings().repl_timeout_s * 1000000) {
      return Status::Io("it reads nothing any more");
    }
    replica.changed.Await(kLongestRoomWaitUs, [this, &replica, &session, piece] {
      return replica.ended || session->unsent_bytes() + piece <= MostUnsent();
    });
  }
}

Status Replicas::RunSender(Replica& replica, const std::string& id, uint64_t next, bool is_old) {
  TRY(log_.BeginLogging());
  if (const std::optional<Anchor> found = TRY(log_.FindStart(id, next))) {
    ++partial_syncs_;
    replica.state = Replica::State::kOnline;
    replica.acked = next - 1;
    Log(LogSeverity::kNotice, "Partial resynchronization request from {}:{} accepted from offset {}.", replica.ip,
        replica.port, next);
    TRY(Push(replica, "+CONTINUE " + log_.history().id + "\r\n"));
    return SendStream(replica, *found, next);
  }
  if (!id.empty()) {
    ++refused_partial_syncs_;
    Log(LogSeverity::kNotice, "Partial resynchronization not possible: asked for {} from {}, have {} from {} to {}", id,
        next, log_.history().id, log_.FirstByte(), log_.offset());
  }
  const bool takes_files = !is_old && !replica.is_partial() && replica.files && sst_snapshots_.Suits(*replica.files);
  const bool may_share = takes_files || TakesMarkedFile(replica, is_old);
  ++full_syncs_;
  Anchor start;
  if (may_share) TRY(AwaitOthers(replica));
  TRY(takes_files ? SendFiles(replica, start) : SendEverything(replica, is_old, start));
  if (!replica.wants_stream) return AwaitSent(replica);
  return SendStream(replica, start, start.offset + 1);
}

// ---- the first transfer

bool Replicas::TakesMarkedFile(const Replica& replica, bool is_old) const {
  return replica.takes_marked_file && config_.settings().repl_diskless_sync && !is_old;
}

// Starts the waiting transfers together, when the first has waited long enough or when there are enough of them.
void Replicas::ReleaseTogether() {
  const int64_t most_us = config_.settings().repl_diskless_sync_delay_s * 1000000;
  const int64_t enough = config_.settings().repl_diskless_sync_max_replicas;
  const MutexLock lock(mutex_);
  int64_t waiting = 0;
  int64_t longest_us = 0;
  for (const std::shared_ptr<Replica>& replica : attached_) {
    if (replica->waits_since_us == 0) continue;
    ++waiting;
    longest_us = std::max(longest_us, MonotonicUs() - replica->waits_since_us);
  }
  if (longest_us < most_us && (enough == 0 || waiting < enough)) return;
  for (const std::shared_ptr<Replica>& replica : attached_) {
    replica->waits_since_us = 0;
    replica->changed.Notify();
  }
}

Status Replicas::AwaitOthers(Replica& replica) {
  replica.waits_since_us = MonotonicUs();
  int64_t told_us = replica.waits_since_us;
  for (ReleaseTogether(); replica.waits_since_us != 0; ReleaseTogether()) {
    if (replica.ended || replica.session.expired()) return Gone();
    const int64_t delay_us = config_.settings().repl_diskless_sync_delay_s * 1000000;
    const int64_t left_us = replica.waits_since_us + delay_us - MonotonicUs();
    replica.changed.Await(std::clamp<int64_t>(left_us, 1000, kNewlineMs * 1000),
                          [&replica] { return replica.ended || replica.waits_since_us == 0; });
    if (MonotonicUs() - told_us < kNewlineMs * 1000) continue;
    told_us = MonotonicUs();
    TRY(Push(replica, "\n"));  // so that the replica does not time out
  }
  return Ok();
}

Status Replicas::SendEverything(Replica& replica, bool is_old, Anchor& start) {
  const std::unique_ptr<StoreSnapshot> snapshot = TRY(log_.TakeSnapshot(start));
  replica.log_from = start.sequence;
  const std::string id = log_.history().id;
  if (!is_old) TRY(Push(replica, fmt::format("+FULLRESYNC {} {}\r\n", id, start.offset)));
  replica.is_written = true;
  replica.state = Replica::State::kSending;
  Log(LogSeverity::kNotice, "Full resync requested by replica {}:{}, sending the data set at offset {}", replica.ip,
      replica.port, start.offset);
  const bool is_marked = TakesMarkedFile(replica, is_old);
  Status sent;
  RunAtLowPriority("rdb-" + std::to_string(replica.id),
                   [&] { sent = SendSnapshot(replica, *snapshot, start, is_marked); });
  TRY(std::move(sent));
  if (!is_marked || !replica.wants_stream) {
    replica.state = Replica::State::kOnline;
    replica.acked_ms = MonotonicMs();
    return Ok();
  }
  // Redis searches for the mark at the end of the received bytes, so nothing may follow it before the first ACK.
  return AwaitAck(replica);
}

// Waits until the connection has sent everything.
Status Replicas::AwaitSent(Replica& replica) {
  for (const int64_t since_us = MonotonicUs();;) {
    const std::shared_ptr<ClientSession> session = replica.session.lock();
    if (replica.ended || session == nullptr) return Gone();
    if (session->unsent_bytes() == 0) return Status::Io("it has received the file, and asked for nothing else");
    if (MonotonicUs() - since_us > config_.settings().repl_timeout_s * 1000000) {
      return Status::Io("it reads nothing any more");
    }
    replica.changed.Await(kLongestWaitUs, [&] { return replica.ended || session->unsent_bytes() == 0; });
  }
}

Status Replicas::AwaitAck(Replica& replica) {
  replica.acked_ms = MonotonicMs();
  while (replica.state != Replica::State::kOnline) {
    if (replica.ended || replica.session.expired()) return Gone();
    if (MonotonicMs() - replica.acked_ms > config_.settings().repl_timeout_s * 1000) {
      return Status::Io("it has not acknowledged the file");
    }
    replica.changed.Await(kLongestWaitUs,
                          [&replica] { return replica.ended || replica.state == Replica::State::kOnline; });
  }
  return Ok();
}

// A replica that imports the files sends no ACK meanwhile, so it becomes online, and subject to timeouts, after that.
Status Replicas::SendFiles(Replica& replica, Anchor& start) {
  const std::shared_ptr<SstSnapshot> set = TRY(sst_snapshots_.Take(*replica.files));
  start = set->start;
  replica.log_from = start.sequence;
  replica.state = Replica::State::kSending;
  const auto push = [this, &replica, &set](std::string_view bytes) {
    replica.is_written = !set->written;
    return Push(replica, bytes);
  };
  Log(LogSeverity::kNotice, "Full resync requested by replica {}:{}, sending files of the data set at offset {}",
      replica.ip, replica.port, start.offset);
  Status sent = push(fmt::format("+FULLRESYNC {} {}\r\n", set->stream, start.offset));
  if (sent.ok()) {
    RunAtLowPriority("send-" + std::to_string(replica.id),
                     [&] { sent = sst_snapshots_.Send(*set, *replica.files, push); });
  }
  replica.is_written = false;
  if (sent.ok()) sent = AwaitAck(replica);
  sst_snapshots_.Release(*set, sent.ok());
  return sent;
}

Status Replicas::SendSnapshot(Replica& replica, const StoreSnapshot& snapshot, const Anchor& start, bool is_marked) {
  RdbFileOptions options;
  options.folds = config_.Flag("rdbcompression");
  options.checksum = config_.Flag("rdbchecksum");
  options.key_delay_us = config_.Number("rdb-key-save-delay");
  options.dialect = replica.reads_valkey_rdb ? RdbDialect::kValkey : RdbDialect::kRedis;
  options.aux = {{std::string(kAuxReplicationDb), std::to_string(std::max(start.db, 0))},
                 {std::string(kAuxReplicationId), log_.history().id},
                 {std::string(kAuxReplicationOffset), std::to_string(start.offset)}};
  const std::unique_ptr<Transaction> txn = std::make_unique<Transaction>(store_);
  txn->command().KeepExpired(true);
  txn->ReadFrom(&snapshot);
  if (!replica.wants_keys) options.includes = [](int) { return false; };
  if (replica.wants_functions) options.functions = TRY(ReadLibraryRows(*txn));
  if (is_marked) {
    const std::string mark = DrawReplicationId();
    TRY(Push(replica, "$EOF:" + mark + "\r\n"));
    RdbFileWriter writer(*txn, snapshot, config_.limits(), options,
                         [&](std::string_view bytes) { return Push(replica, bytes); });
    TRY(writer.Write());
    WarnOfOwnTypes(replica, writer);
    replica.is_written = false;
    return Push(replica, mark);
  }
  // The size must precede the bytes, so the file is written to the disk first.
  std::error_code error;
  std::filesystem::create_directories(sst_snapshots_.folder(), error);
  if (error) return Status::Io(sst_snapshots_.folder() + ": " + error.message());
  const std::string path = fmt::format("{}/replica-{}.rdb", sst_snapshots_.folder(), replica.id);
  RdbOutputFile file(path);
  TRY(file.Open());
  int64_t told_ms = MonotonicMs();
  RdbFileWriter writer(*txn, snapshot, config_.limits(), options, [&](std::string_view bytes) {
    TRY(store_.engine().disk_reserve().CheckGrowth());
    TRY(file.Write(bytes));
    if (MonotonicMs() - told_ms < kNewlineMs) return Ok();
    told_ms = MonotonicMs();
    return Push(replica, "\n");  // so that the replica does not time out
  });
  TRY(writer.Write());
  WarnOfOwnTypes(replica, writer);
  RdbInputFile input;
  Status opened = file.Finish();
  if (opened.ok()) opened = input.Open(path);
  unlink(path.c_str());
  TRY(std::move(opened));
  replica.is_written = false;
  TRY(Push(replica, fmt::format("${}\r\n", input.size())));
  const RdbSource source = input.source();
  std::string piece(kPieceBytes, '\0');
  for (size_t got; (got = TRY(source(piece.data(), piece.size()))) > 0;) {
    TRY(Push(replica, std::string_view(piece).substr(0, got)));
  }
  return Ok();
}

// ---- the stream

Result<LogReader::Outcome> Replicas::ReadPiece(LogStream& stream, std::string& bytes) {
  for (;;) {
    Result<LogReader::Outcome> outcome = stream.Next(bytes, LogReader::Patience::kLong);
    if (outcome.ok() && *outcome == LogReader::Outcome::kBatch && bytes.size() < kPieceBytes) continue;
    if (outcome.ok() && *outcome != LogReader::Outcome::kGone) return outcome;
    log_.PassHole(stream.position());
    return Status::Io("the log cannot be read at its position" +
                      (outcome.ok() ? std::string() : ": " + std::string(outcome.status().text())));
  }
}

// The pause does not wait for commits, because each of them would wake the thread.
void Replicas::AwaitCommit(const Replica& replica, uint64_t next, int64_t read_us, uint64_t acks_asked) {
  LogTail& tail = store_.log().tail();
  tail.news().Await(kLongestWaitUs, [&] { return replica.ended || tail.newest() > next; });
  const int64_t left_us = read_us + kPieceUs - MonotonicUs();
  if (left_us > 0) log_.AwaitAckRequest(acks_asked, left_us);
}

Status Replicas::SendStream(Replica& replica, const Anchor& from, uint64_t next) {
  if (const auto session = replica.session.lock()) session->takes_stream = true;
  LogStream stream(store_, from);
  std::string bytes;
  replica.sent = next - 1;
  for (;;) {
    bytes.clear();
    const uint64_t acks_asked = log_.acks_asked();
    const int64_t read_us = MonotonicUs();
    const uint64_t begin = stream.offset();
    const LogReader::Outcome outcome = TRY(ReadPiece(stream, bytes));
    // The replica already has the bytes before the one it asked for.
    const uint64_t had = replica.sent > begin ? std::min<uint64_t>(replica.sent - begin, bytes.size()) : 0;
    if (bytes.size() > had) {
      TRY(Push(replica, std::string_view(bytes).substr(had)));
      replica.sent = stream.offset();
    }
    replica.log_from = stream.position().sequence;
    replica.caught_up |= outcome == LogReader::Outcome::kCaughtUp;
    TRY(CheckBehind(replica));
    if (replica.ended || replica.session.expired()) return Gone();
    if (outcome != LogReader::Outcome::kCaughtUp) continue;
    AwaitCommit(replica, stream.position().sequence, read_us, acks_asked);
  }
}

}  // namespace cairn
