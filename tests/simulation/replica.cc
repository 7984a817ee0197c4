// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/replica.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include "rdb/rdb_file.h"
#include "replication/rdb_file_writer.h"
#include "replication/reload.h"
#include "replication/stream_log.h"
#include "simulation/link_seams.h"
#include "simulation/mismatch.h"
#include "simulation/read_faults.h"

namespace cairn::simulation {
namespace {

void Require(const Status& status, const char* what) {
  if (!status.ok()) throw Mismatch{std::string("a replica: ") + what + ": " + std::string(status.text())};
}

}  // namespace

Replica::Replica(const Setting& setting, std::string folder) : setting_(setting), folder_(std::move(folder)) {
  setting_.workers = 1;
  Open();
}

Replica::~Replica() { Close(); }

// ---- the link

Status Replica::Connect(Node& primary, const Transfer& transfer) {
  StreamLog& log = *node_->stream_log();
  const bool goes_on = log.can_continue() && !applier_->is_damaged();
  const History history = log.history();
  if (!primary.stream_log()->logs()) {
    primary.CommitAll();  // it waits for all commands that hold locks
    TRY(primary.stream_log()->BeginLogging());
  }
  auto found = primary.stream_log()->FindStart(goes_on ? history.id : "", log.applied().offset + 1);
  // After ten seconds the thread "stream" gives up what it cannot read.
  if (!found.ok()) primary.stream_log()->PassHole({.sequence = UINT64_MAX});
  const std::optional<Anchor> start = TRY(std::move(found));
  sent_id_ = primary.stream_log()->history().id;
  if (start) {
    TRY(Judge(log.Rename(sent_id_), "the new name of the stream"));
    ++partial_syncs_;
    stream_ = std::make_unique<LogStream>(primary.store(), *start);
  } else {
    TRY(Load(primary, transfer));
    applier_->NoteAdopted();
    ++full_syncs_;
  }
  sent_ = log.applied().offset;
  applier_->Begin("primary");
  return Ok();
}

Status Replica::Load(Node& primary, const Transfer& transfer) {
  Anchor start;
  const std::unique_ptr<StoreSnapshot> snapshot = TRY(primary.stream_log()->TakeSnapshot(start));
  std::unique_ptr<StreamLog::Adoption> adoption;
  const Adopt adopt = [&](Transaction& txn) {
    const Applied applied{start.offset, std::max(start.db, 0)};
    adoption = std::make_unique<StreamLog::Adoption>(*node_->stream_log(), sent_id_, applied, txn);
    return Ok();
  };
  const auto load = transfer.by_row_files ? &Replica::LoadRowFiles : &Replica::LoadRdbFile;
  TRY((this->*load)(primary, *snapshot, transfer.bytes, adopt));
  adoption->Done();
  stream_ = std::make_unique<LogStream>(primary.store(), start);
  return Ok();
}

Status Replica::LoadRdbFile(Node& primary, const StoreSnapshot& snapshot, uint64_t bytes, const Adopt& adopt) {
  const std::unique_ptr<Transaction> reader = std::make_unique<Transaction>(primary.store());
  reader->command().KeepExpired(true);
  reader->ReadFrom(&snapshot);
  std::string file;
  RdbFileWriter writer(*reader, snapshot, primary.services().config.limits(), {}, [&file](std::string_view more) {
    file.append(more);
    return Ok();
  });
  TRY(writer.Write());
  size_t read = 0;
  const RdbSource source = [&](char* into, size_t most) -> Result<size_t> {
    if (read >= bytes) return Status::Io("the link is cut");
    const size_t got = std::min<size_t>({most, file.size() - read, bytes - read});
    std::memcpy(into, file.data() + read, got);
    read += got;
    return got;
  };
  ReloadOptions options;
  options.keeps_expired = true;
  options.before_adopting = [&adopt](const Reloaded&, Transaction& txn) { return adopt(txn); };
  const auto loaded = ReplaceDataset(node_->services().DatasetOf(node_->store()), applier_->txn(), source, options);
  if (loaded.ok()) return Ok();
  Status failed = Status::Io(loaded.status().text());
  return bytes >= file.size() ? Judge(std::move(failed), "a transfer") : std::move(failed);
}

// The files of a transfer that was cut are not used again.
Status Replica::LoadRowFiles(Node& primary, const StoreSnapshot& snapshot, uint64_t bytes, const Adopt& adopt) {
  const std::string sent = primary.store().engine().options().dir + "/sent-" + std::to_string(++transfers_);
  const std::string received = node_->store().engine().options().dir + "/received";
  std::filesystem::remove_all(received);
  std::filesystem::create_directories(sent);
  std::filesystem::create_directories(received);
  const RowNumbers first = node_->store().staging().FreeNumbers();
  std::vector<RowFile> files;
  uint64_t size = 0;
  RowFilesWriter writer(primary.store(), snapshot, first, sent, [&](RowFile file) {
    const std::string path = received + "/" + std::to_string(files.size()) + ".sst";
    std::filesystem::copy_file(file.path, path);
    size += file.size;
    file.path = path;
    files.push_back(std::move(file));
    return size > bytes ? Status::Io("the link is cut") : Ok();
  });
  const FilesContent content{TRY(writer.Write()), 0, {}};
  const auto loaded =
      AdoptRowFiles(node_->services().DatasetOf(node_->store()), applier_->txn(), files, first, content, adopt);
  std::filesystem::remove_all(received);
  return loaded.ok() ? Ok() : Judge(Status::Io(loaded.status().text()), "a transfer");
}

Status Replica::Receive(Node& primary, uint64_t most) {
  std::string bytes;
  for (;;) {
    bytes.clear();
    const uint64_t begin = stream_->offset();
    const auto outcome = stream_->Next(bytes, LogReader::Patience::kLong);
    if (!outcome.ok() || *outcome == LogReader::Outcome::kGone) {
      primary.stream_log()->PassHole(stream_->position());
      return Status::Io("the log cannot be read");
    }
    if (*outcome == LogReader::Outcome::kCaughtUp) break;
    // The replica already has the bytes before the one it asked for.
    const uint64_t had = sent_ > begin ? std::min<uint64_t>(sent_ - begin, bytes.size()) : 0;
    in_flight_.append(bytes, had);
    sent_ = std::max(sent_, stream_->offset());
  }
  const size_t arrived = std::min<uint64_t>(most, in_flight_.size());
  if (arrived == 0) return Ok();
  RequestParser& parser = applier_->parser();
  std::memcpy(parser.Reserve(arrived), in_flight_.data(), arrived);
  parser.Filled(arrived);
  in_flight_.erase(0, arrived);
  return Judge(applier_->RunBuffered(), "the stream");
}

void Replica::Cut() {
  stream_.reset();
  in_flight_.clear();
  if (applier_ != nullptr) applier_->Abandon();
}

// ---- its life

void Replica::Open() {
  const std::string dir = folder_ + "/" + std::to_string(lives_);
  const auto primary_disk = std::exchange(seams.disk, nullptr);
  read_faults.Ask(nullptr);
  disk_.reset();
  disk_ = std::make_shared<Disk>(dir);
  failed_before_ = 0;
  seams.disk = disk_;
  auto node = Node::Open(dir, setting_, [](TickName, Node::TickEvent) {});
  Require(node.ok() ? Ok() : Status::Io(node.status().text()), "the store does not open");
  node_ = std::move(*node);
  seams.disk = primary_disk;
  Require(node_->StartStream(), "the start of its stream");
  node_->services().dispatcher.conditions().Set(kKeepsExpired, true);
  Require(node_->stream_log()->TurnReplica(false), "its role");
  applier_ = std::make_unique<StreamApplier>(node_->services().ApplierOf(node_->store()), *node_->stream_log());
  applier_->Start();
}

void Replica::Close() {
  Cut();
  if (node_ == nullptr) return;  // its process has ended
  applier_->Stop();
  applier_.reset();
  if (EndFaults()) {
    node_.reset();
  } else {
    static_cast<void>(node_.release());  // RocksDB cannot be closed while it recovers
  }
}

Status Replica::Judge(Status status, const char* what) const {
  if (!has_failed()) Require(status, what);
  return status;
}

bool Replica::EndFaults() {
  disk_->EndFaults();
  if (node_ == nullptr || !node_->AwaitRecovery()) return false;
  failed_before_ = disk_->failed_steps();
  return true;
}

void Replica::NoteEnd() {
  if (!has_crashed()) Crash(0, 0);
  static_cast<void>(applier_.release());
  static_cast<void>(node_.release());
}

void Replica::Crash(uint64_t disk_steps, uint64_t seed) {
  const CrashPlan plan{folder_ + "/" + std::to_string(lives_ + 1), static_cast<Loss>(seed / 2 % 3), seed};
  disk_->CrashAfter(disk_steps, plan, [] {});
}

void Replica::Recover(const std::function<void(const std::string& dir)>& check) {
  Close();
  const std::string old = folder_ + "/" + std::to_string(lives_++);
  check(folder_ + "/" + std::to_string(lives_));
  Open();
  std::error_code error;
  std::filesystem::remove_all(old, error);
}

void Replica::Restart() {
  Close();
  std::error_code error;
  std::filesystem::remove_all(folder_ + "/" + std::to_string(lives_ + 1), error);  // a power loss during the end
  Open();
}

std::pair<std::string, uint64_t> Replica::position() const {
  return {node_->stream_log()->history().id, node_->stream_log()->applied().offset};
}

}  // namespace cairn::simulation
