// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/slot_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/thread.h"
#include "cluster/cluster.h"
#include "command/table.h"
#include "config/config.h"
#include "replication/replication.h"
#include "replication/saving.h"
#include "replication/stream_filter.h"
#include "storage/format.h"
#include "storage/hidden_slots.h"
#include "storage/store.h"
#include "storage/store_snapshot.h"
#include "types/key_rows.h"

namespace cairn {
namespace {

constexpr size_t kReadBytes = 16 * 1024;
constexpr size_t kPieceBytes = 32 * 1024;  // of a value; the target commits one or more of them at a time
constexpr size_t kFrameBytes = 32 * 1024;  // of keys sent together
constexpr size_t kFrameKeys = 128;         // the target locks the keys of a frame until it has committed them
constexpr uint64_t kOpenFrames = 4;        // sent and not stored yet
constexpr uint64_t kOpenWrites = 4096;
constexpr size_t kStreamBytes = 64 * 1024;
// The writes of clients are held back as soon as one pass over the log took at most so long.
constexpr int64_t kShortPassUs = 50000;
constexpr int kMostPasses = 1000;
constexpr int64_t kLongestHoldMs = 5000;  // Redis's limit of a manual failover
// The target may take so long to write nodes.conf. Then a target that does not answer has taken the slots over by
// kLongestDoubtMs after PAUSED, or never will.
constexpr int64_t kLongestWriteMs = 5000;
constexpr int64_t kLongestDoubtMs = kLongestTakeOverMs + kLongestWriteMs;
constexpr int64_t kAskPauseMs = 100;
constexpr int64_t kMsPerSecond = 1000;

// Appends a request that begins with these words; `more` words follow.
void AppendHead(std::string& out, size_t more, std::initializer_list<std::string_view> words) {
  out += fmt::format("*{}\r\n", words.size() + more);
  for (const std::string_view word : words) out += fmt::format("${}\r\n{}\r\n", word.size(), word);
}

void AppendWord(std::string& out, std::string_view word) {
  out += fmt::format("${}\r\n", word.size());
  out.append(word).append("\r\n");
}

void AppendRanges(std::string& out, const std::vector<SlotRange>& ranges) {
  for (const SlotRange& range : ranges) {
    AppendWord(out, std::to_string(range.first));
    AppendWord(out, std::to_string(range.last));
  }
}

}  // namespace

class SlotExport::Hold {
 public:
  explicit Hold(SlotExport& owner) : owner_(owner), since_us_(MonotonicUs()) {
    owner_.parts_.cluster.HoldWrites(owner_.slots_);
  }
  // A server that stops may not know yet whether the target owns the slots, so it does not serve them again.
  ~Hold() {
    if (!owner_.stopping_) owner_.parts_.cluster.ReleaseWrites(owner_.slots_);
    Log(LogSeverity::kNotice, "Slot migration {}: writes to its slots were held back for {} ms", owner_.migration_.name,
        (MonotonicUs() - since_us_) / 1000);
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  int64_t left_ms() const { return kLongestHoldMs - (MonotonicUs() - since_us_) / 1000; }

 private:
  SlotExport& owner_;
  const int64_t since_us_;
};

SlotExport::SlotExport(const Parts& parts, SlotMigration migration)
    : parts_(parts), migration_(std::move(migration)), slots_(migration_.slots()), read_(kReadBytes, '\0') {}

void SlotExport::Stop() {
  stopping_ = true;
  socket_.Interrupt();
}

void SlotExport::Cancel() {
  cancelled_ = true;
  socket_.Interrupt();
}

void SlotExport::Run() {
  const Status status = Migrate();
  socket_.Close();
  log_.reset();
  log_use_.reset();
  if (status.ok()) {
    parts_.list.SetState(migration_.name, migration_state::kSuccess);
  } else if (cancelled_) {
    parts_.list.SetState(migration_.name, migration_state::kCancelled);
  } else {
    parts_.list.SetState(migration_.name, migration_state::kFailed, std::string(status.text()));
  }
}

Status SlotExport::Fail(std::string_view what) const { return Status::Io(std::string(what)); }

bool SlotExport::OwnsSlots() const {
  return parts_.cluster.With([this](const Topology& topology) {
    for (int slot = 0; slot < kSlotCount; ++slot) {
      if (slots_.Has(slot) && topology.SlotOwner(slot) != &topology.myself()) return false;
    }
    return topology.myself().is_master();
  });
}

Status SlotExport::CheckOwnership() const {
  if (cancelled_ || stopping_) return Fail("cancelled");
  return OwnsSlots() ? Ok() : Fail("Slots are no longer owned by myself");
}

Status SlotExport::Migrate() {
  TRY(CheckOwnership());  // the slots may have left while the migration waited for its turn
  parts_.list.SetState(migration_.name, migration_state::kEstablishing);
  TRY(Connect(socket_, parts_.config.settings().repl_timeout_s * kMsPerSecond));
  TRY(Establish());
  parts_.list.SetState(migration_.name, migration_state::kSnapshotting);
  log_use_ = parts_.replication.replicas().log_uses().Begin();
  TRY(parts_.replication.log().BeginLogging());
  {
    const std::unique_ptr<StoreSnapshot> snapshot = TRY(StoreSnapshot::Take(parts_.store));
    log_use_->from = snapshot->sequence() + 1;
    log_ = std::make_unique<LogReader>(parts_.store, snapshot->sequence() + 1);
    TRY(SendSnapshot(*snapshot));
  }
  parts_.list.SetState(migration_.name, migration_state::kReplicating);
  int64_t pass_us = 0;
  int passes = 0;
  do {
    const int64_t since_us = MonotonicUs();
    TRY(SendLog());
    TRY(AwaitReplies(0, parts_.config.settings().repl_timeout_s * kMsPerSecond));
    pass_us = MonotonicUs() - since_us;
  } while (pass_us > kShortPassUs && ++passes < kMostPasses);
  return HandOver();
}

// ---- the connection

Status SlotExport::Connect(BlockingSocket& socket, int64_t timeout_ms) const {
  const Settings& settings = parts_.config.settings();
  const bool with_tls = settings.tls_replication;
  const auto address = parts_.cluster.With([&](const Topology& topology) {
    const Node* const node = topology.Find(migration_.target);
    return node == nullptr ? std::pair<std::string, int>() : std::pair(node->ip, int{ClientPort(*node, with_tls)});
  });
  if (address.first.empty()) return Fail("Unable to connect to target node: target node not found");
  Status connected = socket.Connect(address.first, address.second, timeout_ms, parts_.config.Text("bind-source-addr"),
                                    with_tls ? &parts_.tls : nullptr);
  if (!connected.ok()) return Fail("Unable to connect to target node: " + std::string(connected.text()));
  const std::string user = parts_.config.Text("masteruser");
  const std::string password = parts_.config.Text("masterauth");
  if (password.empty()) return Ok();
  TRY(user.empty() ? socket.SendCommand({"AUTH", password}, timeout_ms)
                   : socket.SendCommand({"AUTH", user, password}, timeout_ms));
  const std::string line = TRY(socket.ReadLine(timeout_ms));
  return line.starts_with('-') ? Fail("Failed to AUTH to target node: " + line) : Ok();
}

Status SlotExport::Send(std::string_view bytes, uint64_t replies, uint64_t most_open) {
  if (bytes.empty()) return Ok();
  const int64_t timeout_ms = parts_.config.settings().repl_timeout_s * kMsPerSecond;
  requests_ += replies;
  TRY(socket_.Send(bytes, timeout_ms));
  return AwaitReplies(most_open, timeout_ms);
}

Status SlotExport::AwaitReplies(uint64_t most_open, int64_t timeout_ms) {
  const int64_t until_us = MonotonicUs() + timeout_ms * kMsPerSecond;
  for (;;) {
    const bool waits = requests_ - replies_.count() > most_open;
    if (!replies_.error().empty()) return Fail("The target refused a request: " + replies_.error());
    const int64_t left_ms = waits ? (until_us - MonotonicUs()) / kMsPerSecond : 0;
    if (waits && left_ms <= 0) return Fail("Timed out after too long with no interaction");
    const size_t got = TRY(socket_.Read(read_.data(), read_.size(), left_ms));
    replies_.Feed(std::string_view(read_).substr(0, got));
    if (got > 0) parts_.list.NoteAck(migration_.name);
    if (got == 0 && !waits) return Ok();
  }
}

Status SlotExport::SendStep(std::string_view step, int64_t timeout_ms) {
  std::string request;
  AppendHead(request, 0, {"CLUSTER", "SYNCSLOTS", step});
  ++requests_;
  TRY(socket_.Send(request, timeout_ms));
  return AwaitReplies(0, timeout_ms);
}

Status SlotExport::Establish() {
  std::string request;
  AppendHead(request, 2 * migration_.ranges.size(),
             {"CLUSTER", "SYNCSLOTS", "ESTABLISH", "SOURCE", migration_.source.text(), "NAME", migration_.name,
              "FORMAT", std::to_string(kFormatVersion), "SLOTSRANGE"});
  AppendRanges(request, migration_.ranges);
  const int64_t timeout_ms = parts_.config.settings().repl_timeout_s * kMsPerSecond;
  TRY(socket_.Send(request, timeout_ms));
  const std::string line = TRY(socket_.ReadLine(timeout_ms));
  if (!line.starts_with('-')) return Ok();
  const bool is_foreign = line.starts_with("-ERR unknown subcommand") || line.starts_with("-ERR syntax error") ||
                          line.starts_with("-ERR Unknown subcommand");
  if (is_foreign) {
    return Fail(
        "The target is not a Cairn of the same format; move its slots by MIGRATE (redis-cli --cluster reshard)");
  }
  return Fail("Received error during handshake to target: " + line);
}

// ---- the snapshot

Status SlotExport::SendSnapshot(const StoreSnapshot& snapshot) {
  Status sent;
  RunAtLowPriority("slot-snapshot", [&] { sent = SendKeys(snapshot); });
  TRY(std::move(sent));
  return SendStep("SNAPSHOT-EOF", parts_.config.settings().repl_timeout_s * kMsPerSecond);
}

Status SlotExport::SendKeys(const StoreSnapshot& snapshot) {
  const auto txn = std::make_unique<Transaction>(parts_.store);
  txn->ReadFrom(&snapshot);
  // A key that has expired by now is sent too: a write in the log may have extended its life before that.
  txn->command().KeepExpired(true);
  txn->BeginCommand(Lane::kSlow, WallMs(), false);
  Keyspace keyspace(*txn, 0, parts_.config.limits());
  std::string frame;  // keys and pieces
  size_t keys = 0;
  Status status;
  const auto flush = [&]() -> Status {
    if (keys == 0) return Ok();
    TRY(CheckOwnership());
    std::string request;
    AppendHead(request, 2 * keys, {"CLUSTER", "IMPORTKEYS"});
    request += frame;
    frame.clear();
    keys = 0;
    return Send(request, 1, kOpenFrames);
  };
  const auto add = [&](std::string_view name, std::string_view piece) -> Status {
    AppendWord(frame, name);
    AppendWord(frame, piece);
    return ++keys < kFrameKeys && frame.size() < kFrameBytes ? Ok() : flush();
  };
  for (const SlotRange& range : slots_.Ranges()) {
    TRY(keyspace.Scan(PositionOfSlot(range.first), [&](std::string_view name, const Record& record) {
      if (!status.ok() || KeySlot(name) > range.last) return false;
      status = EmitKeyRows(keyspace, keyspace.Name(name), record, kPieceBytes,
                           [&](std::string_view piece) { return add(name, piece); });
      return status.ok();
    }));
    TRY(std::move(status));
    status = Ok();
  }
  return flush();
}

// ---- the stream

Status SlotExport::AddEntry(const LogEntry& entry, std::string& out, uint64_t& replies) {
  if (entry.kind == LogEntryKind::kStream && !entry.command.empty()) return Fail("Slots are no longer owned by myself");
  if (entry.kind != LogEntryKind::kCommand || entry.db != 0) return Ok();
  std::copy(entry.command.begin(), entry.command.end(), parser_.Reserve(entry.command.size()));
  parser_.Filled(entry.command.size());
  const RequestLimits no_limit{.max_bulk_bytes = INT64_MAX};
  if (parser_.Next(no_limit) != RequestParser::Outcome::kRequest) return Fail("The log has a damaged command");
  const std::span<const std::string_view> argv = parser_.argv();
  const Command* const command = parts_.table.ResolveAny(argv);
  if (command == nullptr) return Fail("The log has an unknown command");
  if (IsCommand(argv, "flushall") || IsCommand(argv, "flushdb")) return Fail("Data was flushed");
  std::vector<uint32_t> positions;
  if (!command->has_keys() || !command->FindKeys(argv, positions) || positions.empty()) return Ok();
  const auto is_moving = [&](uint32_t position) { return slots_.Has(KeySlot(argv[position])); };
  if (std::ranges::none_of(positions, is_moving)) return Ok();
  if (!std::ranges::all_of(positions, is_moving)) return Fail("A write has changed keys of several slots");
  out += entry.command;
  ++replies;
  return Ok();
}

Status SlotExport::SendLog() {
  std::string out;
  uint64_t replies = 0;
  LogReader::Batch batch;
  for (;;) {
    const LogReader::Outcome outcome = TRY(log_->Next(batch, LogReader::Patience::kLong));
    if (outcome == LogReader::Outcome::kGone) return Fail("The log cannot be read at its position");
    if (outcome == LogReader::Outcome::kCaughtUp) break;
    LogEntryReader entries(*batch.entries);
    LogEntry entry;
    while (TRY(entries.Next(entry))) TRY(AddEntry(entry, out, replies));
    log_use_->from = log_->sequence();
    if (out.size() < kStreamBytes) continue;
    TRY(CheckOwnership());
    TRY(Send(out, replies, kOpenWrites));
    out.clear();
    replies = 0;
  }
  TRY(CheckOwnership());
  return Send(out, replies, kOpenWrites);
}

// ---- the end

Status SlotExport::HandOver() {
  UnservedSlots& unserved = parts_.cluster.unserved();
  const std::string& name = migration_.name;
  parts_.list.SetState(name, migration_state::kPaused);
  Result<bool> taken = false;
  Status status;
  {
    const Hold hold(*this);
    status = AwaitCommits(parts_.store);  // then the log has all writes that were not held back
    if (status.ok()) status = SendLog();
    if (status.ok()) status = SendStep("PAUSED", std::max<int64_t>(hold.left_ms(), 1));
    TRY(std::move(status));
    const int64_t until_us = MonotonicUs() + kLongestDoubtMs * kMsPerSecond;
    // From here on a restart knows that the keys of these slots may be left over.
    TRY(unserved.Hide(name, slots_, true));
    parts_.list.SetState(name, migration_state::kGranted);
    status = SendStep("TAKEOVER", kLongestHoldMs);
    taken = status.ok();
    if (!status.ok()) taken = Resolve(until_us);  // also after an error reply: the target may have failed afterwards
    if (taken.ok() && *taken && !FollowTarget().ok()) TRY(AwaitBus());  // nodes.conf cannot be written
  }
  if (!taken.ok()) {
    TRY(unserved.Show(name, true));
    return std::move(taken).TakeStatus();
  }
  if (!*taken) {
    TRY(unserved.Show(name, true));
    return status;
  }
  unserved.Drop(name, nullptr);
  return Ok();
}

Result<SlotExport::Answer> SlotExport::AskTarget() {
  BlockingSocket socket;
  const int64_t timeout_ms = kMsPerSecond;
  TRY(Connect(socket, timeout_ms));
  std::string request;
  AppendHead(request, 2 * migration_.ranges.size(),
             {"CLUSTER", "SYNCSLOTS", "TAKEN", "NAME", migration_.name, "SLOTSRANGE"});
  AppendRanges(request, migration_.ranges);
  TRY(socket.Send(request, timeout_ms));
  const std::string line = TRY(socket.ReadLine(timeout_ms));
  for (const Answer answer : {Answer::kNotTaken, Answer::kTaken, Answer::kUndecided}) {
    if (line == fmt::format(":{}", static_cast<int>(answer))) return answer;
  }
  return Fail("the target does not answer");
}

Result<bool> SlotExport::Resolve(int64_t until_us) {
  for (;;) {
    // The last question follows the deadline, because this process may have been suspended until then.
    const bool is_late = MonotonicUs() >= until_us;
    if (!OwnsSlots()) return true;  // by the bus
    const Result<Answer> answer = AskTarget();
    if (answer.ok() && *answer != Answer::kUndecided) return *answer == Answer::kTaken;
    if (stopping_) return Fail("the server stops");
    if (answer.ok()) {
      // The takeover may have passed the target's check of the time already.
      until_us = std::max(until_us, MonotonicUs() + kLongestWriteMs * kMsPerSecond);
    } else if (is_late) {
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(kAskPauseMs));
  }
  Log(LogSeverity::kWarning,
      "Slot migration {}: it is not known whether the target owns the slots. This node serves them; writes from now on "
      "are lost if it does",
      migration_.name);
  return Fail("Unpaused before migration completed (migration may have succeeded with lost writes)");
}

Status SlotExport::AwaitBus() {
  while (!stopping_ && OwnsSlots()) std::this_thread::sleep_for(std::chrono::milliseconds(kAskPauseMs));
  return stopping_ ? Fail("the server stops") : Ok();
}

Status SlotExport::FollowTarget() {
  return parts_.cluster.Change([this](Topology& topology) -> Status {
    const Node* const target = topology.Find(migration_.target);
    if (target == nullptr) return Fail("the target is not a node of the cluster any more");
    const NodeId id = target->id();
    for (int slot = 0; slot < kSlotCount; ++slot) {
      if (!slots_.Has(slot) || topology.SlotOwner(slot) != &topology.myself()) continue;
      topology.UnassignSlot(slot);
      topology.AssignSlot(slot, id);
    }
    return Ok();
  });
}

}  // namespace cairn
