// SPDX-License-Identifier: BSD-3-Clause
#include "replication/sst_snapshots.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/remove_file.h"
#include "base/thread.h"
#include "config/config.h"
#include "rdb/rdb_disk.h"
#include "replication/stream_log.h"
#include "script/library_store.h"
#include "storage/disk_reserve.h"
#include "storage/format.h"
#include "storage/old_logs.h"
#include "storage/row_files.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr size_t kMostPieceBytes = 64 * 1024;
constexpr size_t kLeastPieceBytes = 1024;
constexpr int64_t kPiecesPerSecond = 10;  // at least, if a rate is set
constexpr int64_t kLongestSleepUs = 100000;
constexpr int64_t kMostCaughtUpUs = 2000;  // a late sender catches up by some pieces, not by a burst
constexpr auto kNewsPause = std::chrono::milliseconds(100);
constexpr int64_t kNewlineMs = 1000;
constexpr int64_t kFailurePauseMs = 600000;
// Numbers are rounded up, so that one snapshot suits replicas that have used different numbers, and with a margin for
// the numbers that a replica uses meanwhile.
constexpr KeyspaceId kKeyspaceStep = 256;
constexpr CollectionId kCollectionStep = CollectionId{1} << 24;
constexpr KeyspaceId kMostKeyspacesTaken = 1 << 21;  // by one snapshot: one per database, plus the skipped ones

template <typename Number>
Number RoundUp(Number number, Number step) {
  return (number + step / 2 + step - 1) / step * step;
}

// Ends early when `check` returns true.
template <typename Check>
void SleepUntil(int64_t until_us, const Check& check) {
  for (int64_t left_us; (left_us = until_us - MonotonicUs()) > 0 && check().ok();) {
    usleep(static_cast<useconds_t>(std::min(left_us, kLongestSleepUs)));
  }
}

// Row files have only rows of mode kSsd. A mode may change between Suits and the snapshot.
Status CheckModes(const StoreSnapshot& snapshot) {
  for (int db = 0; db < snapshot.databases(); ++db) {
    if (ModeOfKeyspace(snapshot.keyspace(db)) == StorageMode::kSsd) continue;
    return Status::Io("the storage-mode of database " + std::to_string(db) + " has changed");
  }
  return Ok();
}

}  // namespace

// ---- start and stop

std::string SstSnapshots::folder() const { return config_.Text("dir") + "/sync-sent"; }

void SstSnapshots::Start() { RemoveFolder(folder()); }

void SstSnapshots::Stop() {
  std::vector<std::shared_ptr<SstSnapshot>> sets;
  {
    const MutexLock lock(mutex_);
    sets.swap(sets_);
  }
  for (const std::shared_ptr<SstSnapshot>& set : sets) set->ending = true;
  for (const std::shared_ptr<SstSnapshot>& set : sets) {
    set->thread.join();
    RemoveFolder(set->folder);
  }
}

void SstSnapshots::RetireAll() {
  const MutexLock lock(mutex_);
  ++retirements_;
  for (const std::shared_ptr<SstSnapshot>& set : sets_) {
    set->is_retired = true;
    if (set->users == 0) set->ending = true;
  }
}

uint64_t SstSnapshots::FirstNeeded() const {
  const MutexLock lock(mutex_);
  uint64_t first = kNothingNeeded;
  for (const std::shared_ptr<SstSnapshot>& set : sets_) first = std::min(first, set->start.sequence);
  return first;
}

void SstSnapshots::CheckTimes() {
  const int64_t most_ms = config_.settings().repl_timeout_s * 1000;
  {
    const MutexLock lock(mutex_);
    for (const std::shared_ptr<SstSnapshot>& set : sets_) {
      const bool is_over = set->is_retired || MonotonicMs() - set->left_ms > most_ms;
      if (set->users == 0 && is_over) set->is_retired = set->ending = true;
    }
  }
  Reap();
}

// A snapshot's thread checks only between files whether it must end, so callers do not wait for it.
void SstSnapshots::Reap() {
  std::vector<std::shared_ptr<SstSnapshot>> ended;
  {
    const MutexLock lock(mutex_);
    std::erase_if(sets_, [&ended](std::shared_ptr<SstSnapshot>& set) {
      if (!set->ending || !set->written || set->users > 0) return false;
      ended.push_back(std::move(set));
      return true;
    });
  }
  for (const std::shared_ptr<SstSnapshot>& set : ended) {
    set->thread.join();
    RemoveFolder(set->folder);
  }
}

// ---- choosing a snapshot

bool SstSnapshots::Suits(const FilesOffer& offer) const {
  if (!config_.settings().repl_sync_files || offer.format != kFormatVersion) return false;
  if (!store_.databases().all_on_ssd()) return false;  // the files know no other mode
  if (failed_ms_ != 0 && MonotonicMs() - failed_ms_ < kFailurePauseMs) return false;
  for (int db = static_cast<int>(offer.databases); db < store_.databases().size(); ++db) {
    if (store_.databases()[db].keys != 0) return false;
  }
  return true;
}

std::shared_ptr<SstSnapshot> SstSnapshots::FindUsable(const FilesOffer& offer, const std::string& stream) {
  const int64_t most_ms = config_.settings().repl_timeout_s * 1000;
  const MutexLock lock(mutex_);
  for (const std::shared_ptr<SstSnapshot>& set : sets_) {
    const bool has_free_numbers =
        offer.free.keyspace <= set->first.keyspace && offer.free.collection <= set->first.collection;
    const bool goes_on = set->id == offer.has.transfer;
    if (set->is_retired || set->stream != stream || !has_free_numbers) continue;
    // A snapshot holds the log, so a replica that reconnects again and again may not keep it for ever.
    const bool is_old = set->written_ms != 0 && MonotonicMs() - set->written_ms > most_ms;
    if (!goes_on && set->users == 0 && is_old) {
      set->is_retired = set->ending = true;
      continue;
    }
    ++set->users;
    if (goes_on && set->awaited > 0) --set->awaited;
    return set;
  }
  return nullptr;
}

Result<std::shared_ptr<SstSnapshot>> SstSnapshots::Take(const FilesOffer& offer) {
  const MutexLock lock(begin_mutex_);
  if (std::shared_ptr<SstSnapshot> set = FindUsable(offer, log_.history().id)) return set;
  Result<std::shared_ptr<SstSnapshot>> set = Begin(offer);
  if (!set.ok()) NoteFailure(set.status().text());
  if (set.ok() && *set == nullptr) return Status::Io("the data set was replaced");
  return set;
}

// The snapshot's moment must match the stream's id: neither the data nor the stream may be replaced in between, which
// retirements_ shows.
Result<std::shared_ptr<SstSnapshot>> SstSnapshots::Begin(const FilesOffer& offer) {
  uint64_t retirements;
  {
    const MutexLock lock(mutex_);
    retirements = retirements_;
  }
  auto set = std::make_shared<SstSnapshot>();
  set->id = DrawReplicationId();
  set->folder = folder() + "/" + set->id;
  if (offer.free.keyspace > kKeyspacesEnd - kMostKeyspacesTaken || offer.free.collection > kCollectionsEnd / 2) {
    return Status::Io("the replica has no free ids for keyspaces or collections");
  }
  set->first = {RoundUp(offer.free.keyspace, kKeyspaceStep), RoundUp(offer.free.collection, kCollectionStep)};
  std::shared_ptr<StoreSnapshot> snapshot = TRY(log_.TakeSnapshot(set->start));
  TRY(CheckModes(*snapshot));
  set->stream = log_.history().id;
  const std::unique_ptr<Transaction> txn = std::make_unique<Transaction>(store_);
  txn->command().KeepExpired(true);
  txn->ReadFrom(snapshot.get());
  std::vector<std::string> functions = TRY(ReadLibraryRows(*txn));
  set->users = 1;
  const auto run = [this, raw = set.get(), snapshot = std::move(snapshot), functions = std::move(functions)]() mutable {
    LowerPriority();
    Write(*raw, *snapshot, std::move(functions));
    snapshot.reset();
    raw->written_ms = MonotonicMs();
    raw->written = true;
  };
  const MutexLock lock(mutex_);
  if (retirements_ != retirements) return std::shared_ptr<SstSnapshot>();
  std::error_code error;
  std::filesystem::create_directories(set->folder, error);
  if (error) return Status::Io(set->folder + ": " + error.message());
  sets_.push_back(set);
  set->thread = StartThread("files-" + std::to_string(++begun_), run);
  return set;
}

void SstSnapshots::Release(SstSnapshot& set, bool got_all) {
  {
    const MutexLock lock(mutex_);
    --set.users;
    if (!got_all) ++set.awaited;
    set.left_ms = MonotonicMs();
    const bool is_over = set.is_retired || (got_all && set.awaited == 0);
    if (set.users == 0 && is_over) set.is_retired = set.ending = true;
  }
  Reap();
}

// ---- the rate

template <typename Check>
Status SstSnapshots::Pace(Clock& clock, size_t bytes, const Check& is_wanted) {
  const int64_t rate = config_.settings().repl_sync_rate;
  if (rate == 0) return Ok();
  int64_t until_us;
  {
    const MutexLock lock(clock.mutex);
    until_us = std::max(clock.next_free_us, MonotonicUs() - kMostCaughtUpUs);
    clock.next_free_us = until_us + static_cast<int64_t>(bytes) * 1000000 / rate;
  }
  // A new rate applies at once, to all waiting senders.
  const auto is_same = [&] { return config_.settings().repl_sync_rate == rate; };
  SleepUntil(until_us, [&] { return is_same() ? is_wanted() : Status::Io("the rate has changed"); });
  if (!is_same()) {
    const MutexLock lock(clock.mutex);
    clock.next_free_us = 0;
  }
  return is_wanted();
}

// ---- writing

Result<RowFilesContent> SstSnapshots::WriteFiles(SstSnapshot& set, const StoreSnapshot& snapshot) {
  const auto check = [this, &set] {
    return set.ending ? Status::Io("no replica needs the files any more")
                      : store_.engine().disk_reserve().CheckGrowth();
  };
  RowFilesWriter::BeforeKey before_key;
  const int64_t delay_us = config_.Number("rdb-key-save-delay");
  if (delay_us > 0) {
    before_key = [&check, delay_us] {
      SleepUntil(MonotonicUs() + delay_us, check);
      return check();
    };
  }
  const auto on_file = [&](RowFile file) {
    TRY(check());
    {
      const MutexLock lock(set.mutex);
      set.total += file.size;
      set.files.push_back(std::move(file));
    }
    set.grown.NotifyAll();
    return Ok();
  };
  const auto on_bytes = [&](size_t bytes) { return Pace(writing_, bytes, check); };
  RowFilesWriter writer(store_, snapshot, set.first, set.folder, on_file, on_bytes, before_key);
  return writer.Write();
}

void SstSnapshots::Write(SstSnapshot& set, const StoreSnapshot& snapshot, std::vector<std::string> functions) {
  const int64_t begin_us = MonotonicUs();
  Result<RowFilesContent> rows = WriteFiles(set, snapshot);
  if (!rows.ok() && !set.ending) {  // before replicas get the error and ask again
    NoteFailure(rows.status().text());
    const MutexLock lock(mutex_);
    set.is_retired = true;
  }
  size_t files = 0;
  uint64_t bytes = 0;
  {
    const MutexLock lock(set.mutex);
    files = set.files.size();
    bytes = set.total;
    if (rows.ok()) {
      set.content = EncodeFilesContent({std::move(*rows), std::max(set.start.db, 0), std::move(functions)});
      set.is_whole = true;
    } else {
      set.failure = rows.status().text();
    }
  }
  set.grown.NotifyAll();
  if (rows.ok()) {
    Log(LogSeverity::kNotice, "Snapshot for replicas: {} files of {} bytes written in {} ms", files, bytes,
        (MonotonicUs() - begin_us) / 1000);
  }
}

void SstSnapshots::NoteFailure(std::string_view reason) {
  failed_ms_ = MonotonicMs();
  Log(LogSeverity::kWarning,
      "The snapshot for replicas cannot be written: {}. Replicas are sent RDB files for the next ten minutes.", reason);
}

// ---- sending

Result<bool> SstSnapshots::AwaitFile(SstSnapshot& set, uint64_t number, RowFile& file, const Push& push) {
  int64_t told_ms = MonotonicMs();
  ReleasableMutexLock lock(set.mutex);
  for (;;) {
    if (number < set.files.size()) {
      file = set.files[number];
      return true;
    }
    if (set.is_whole) return false;
    if (!set.failure.empty()) return Status::Io("the files cannot be written: " + set.failure);
    set.grown.WaitFor(set.mutex, kNewsPause);
    if (MonotonicMs() - told_ms < kNewlineMs) continue;
    told_ms = MonotonicMs();
    lock.Unlock();
    TRY(push("\n"));  // so that the replica does not time out
    lock.Lock();
  }
}

Status SstSnapshots::SendFile(SstSnapshot& set, const RowFile& file, uint64_t from, const Push& push) {
  FileLine line{.space = file.space, .size = file.size, .checksum = file.checksum};
  {
    const MutexLock lock(set.mutex);
    if (set.is_whole) line.total = set.total;
  }
  TRY(push(EncodeFileLine(line) + "\r\n"));
  RdbInputFile input;
  TRY(input.Open(file.path));
  TRY(input.Skip(from));
  const RdbSource source = input.source();
  std::string piece(kMostPieceBytes, '\0');
  for (uint64_t left = file.size - from; left > 0;) {
    const int64_t rate = config_.settings().repl_sync_rate;
    const size_t most =
        rate == 0 ? kMostPieceBytes
                  : std::clamp<size_t>(static_cast<size_t>(rate / kPiecesPerSecond), kLeastPieceBytes, kMostPieceBytes);
    const size_t got = TRY(source(piece.data(), std::min<uint64_t>(most, left)));
    if (got == 0) return Status::Io(file.path + " has become shorter");
    TRY(Pace(sending_, got, [&push] { return push(""); }));
    TRY(push(std::string_view(piece).substr(0, got)));
    sent_bytes_ += got;
    left -= got;
  }
  return Ok();
}

Status SstSnapshots::Send(SstSnapshot& set, const FilesOffer& offer, const Push& push) {
  FilesHead head{.first = set.first, .from = {.transfer = set.id}};
  if (offer.has.transfer == set.id) {
    const MutexLock lock(set.mutex);
    const bool is_known = offer.has.files < set.files.size()
                              ? offer.has.bytes <= set.files[offer.has.files].size
                              : offer.has.files == set.files.size() && offer.has.bytes == 0;
    if (is_known) head.from = offer.has;
  }
  uint64_t spared = head.from.bytes;
  {
    const MutexLock lock(set.mutex);
    for (uint64_t number = 0; number < head.from.files; ++number) spared += set.files[number].size;
  }
  ++transfers_;
  if (spared > 0) {
    ++resumed_;
    spared_bytes_ += spared;
    Log(LogSeverity::kNotice, "A file transfer resumes: the replica already has {} bytes", spared);
  }
  TRY(push(EncodeFilesHead(head) + "\r\n"));
  uint64_t from = head.from.bytes;
  RowFile file;
  for (uint64_t number = head.from.files; TRY(AwaitFile(set, number, file, push)); ++number) {
    TRY(SendFile(set, file, std::exchange(from, 0), push));
  }
  FileLine end{.is_end = true};
  std::string content;
  {
    const MutexLock lock(set.mutex);
    content = set.content;
    end.total = set.total;
  }
  end.size = content.size();
  end.checksum = Hash64(content);
  TRY(push(EncodeFileLine(end) + "\r\n"));
  return push(content);
}

}  // namespace cairn
