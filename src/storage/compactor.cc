// SPDX-License-Identifier: BSD-3-Clause
#include "storage/compactor.h"

#include <rocksdb/db.h>
#include <rocksdb/listener.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "encoding/varint.h"
#include "storage/batch.h"
#include "storage/compaction_pace.h"
#include "storage/disk_reserve.h"
#include "storage/flush_nudge.h"
#include "storage/format.h"
#include "storage/stepwise_compaction.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr std::string_view kInProgress =
    "ERR A compaction is already in progress; COMPACT STATUS describes it and COMPACT CANCEL ends it";
constexpr std::string_view kCancelled = "ERR The compaction was cancelled";
constexpr auto kLookEvery = std::chrono::seconds(1);
constexpr int64_t kMostWaitUs = 5 * 60 * 1'000'000ll;  // for automatic compactions
constexpr int64_t kRetryMs = 10 * 60 * 1000;           // after a failure or COMPACT CANCEL
constexpr int64_t kSizeLimitRetryMs = 10 * 1000;       // after a failure: max-data-size must still be kept
// The last level is rewritten if at least one in so many rows of elements belongs to no key, or if flushed databases
// had more than one key for so many that are alive.
constexpr uint64_t kRowsPerOrphan = 20;
// Compactions that search for uncounted garbage take at most this part of the time, and begin this long after another.
constexpr int64_t kSearchRest = 20;
constexpr int64_t kLeastSearchRestMs = 5000;
// The number of keys that were flushed before the start is unknown. This one, larger than any store's, stands for it.
constexpr uint64_t kUnknownKeys = uint64_t{1} << 63;
// COMPACT collects blob files until at most this share of their bytes is garbage that RocksDB knows of.
constexpr double kBlobGarbageOfCommand = 0.05;

}  // namespace

int LocalMinute(int64_t unix_ms) {
  const time_t seconds = unix_ms / 1000;
  tm local{};
  localtime_r(&seconds, &local);
  return local.tm_hour * 60 + local.tm_min;
}

// Counts the bytes of the collection of blob files, and the rows that filters have dropped. Thread: RocksDB's flush and
// compaction threads.
class Compactor::Listener : public rocksdb::EventListener {
 public:
  explicit Listener(Compactor& compactor) : compactor_(compactor) {}
  void OnFlushCompleted(rocksdb::DB*, const rocksdb::FlushJobInfo&) override {
    compactor_.store_.lazy_free().ForgetDropped();
  }
  void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo& job) override {
    compactor_.store_.lazy_free().ForgetDropped();
    if (job.compaction_reason != rocksdb::CompactionReason::kManualCompaction) return;
    compactor_.bytes_read_ += job.stats.total_input_bytes;
    compactor_.bytes_written_ += job.stats.total_output_bytes;
  }

 private:
  Compactor& compactor_;
};

std::shared_ptr<rocksdb::EventListener> Compactor::MakeListener() { return std::make_shared<Listener>(*this); }

Compactor::Compactor(Store& store) : store_(store) {}
Compactor::~Compactor() { Stop(); }

// ---- the schedule

Status Compactor::Load() {
  const std::string value = TRY(store_.ReadNote(kCompactedRow));
  std::string_view bytes(value);
  uint64_t sequence = 0;
  uint64_t unix_ms = 0;
  if (value.empty()) return NoteCompacted(store_.log().LatestSequence(), WallMs());
  if (!ReadVarint(bytes, sequence) || !ReadVarint(bytes, unix_ms)) {
    return Status::Corruption("meta row compacted: cut short");
  }
  last_sequence_ = std::min(sequence, store_.log().LatestSequence());
  last_ms_ = static_cast<int64_t>(unix_ms);
  flushed_keys_ = uint64_t{0} - kUnknownKeys;
  return Ok();
}

Status Compactor::NoteCompacted(uint64_t sequence, int64_t unix_ms) {
  std::string value;
  AppendVarint(value, sequence);
  AppendVarint(value, static_cast<uint64_t>(unix_ms));
  rocksdb::WriteBatch batch;
  TRY(PutRow(batch, store_.engine().family(Space::kMeta), MakeMetaRow(kCompactedRow).row(), value));
  TRY(FromRocksDb(store_.log().Write(rocksdb::WriteOptions(), batch)));
  store_.log().NoteReadable(batch, {});
  last_sequence_ = sequence;
  last_ms_ = unix_ms;
  return Ok();
}

void Compactor::SetSchedule(const CompactionSchedule& schedule) {
  const MutexLock lock(mutex_);
  schedule_ = schedule;
}

void Compactor::Watch() {
  const MutexLock lock(mutex_);
  if (!progress_.is_running) return;
  const bool is_scheduled =
      progress_.reason != CompactionReason::kCommand && progress_.reason != CompactionReason::kSizeLimit;
  if (is_scheduled && !schedule_.window.Has(LocalMinute(WallMs()))) EndSoon();
  const CompactionPace& pace = store_.engine().compaction_pace();
  if (pace.is_calm()) insists_ = false;
  if (pace.is_urgent() && !insists_) interrupted_ = true;
}

// The compaction that runs is not to go on.
void Compactor::EndSoon() {
  canceled_ = true;
  interrupted_ = true;
}

void Compactor::Start() {
  thread_ = StartThread("compaction", [this] {
    LengthenTurns();
    RunThread();
  });
}

void Compactor::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    EndSoon();
  }
  wake_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

void Compactor::RunThread() {
  for (;;) {
    std::optional<CompactionScope> scope;
    {
      const MutexLock lock(mutex_);
      wake_.WaitFor(mutex_, kLookEvery,
                    [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || queued_.has_value(); });
      if (stopping_) return;
      scope = std::exchange(queued_, std::nullopt);
    }
    if (!scope) {
      RunIfDue();
    } else if (const Status status = Compact(*scope); !status.ok()) {
      Log(LogSeverity::kWarning, "storage: COMPACT of {} ended: {}", scope->name, status.text());
    }
  }
}

void Compactor::RunIfDue() {
  const int64_t now_ms = WallMs();
  if (!store_.recovery().writable()) return;
  CompactionReason reason;
  {
    const MutexLock lock(mutex_);
    const bool is_requested = is_requested_.exchange(false) && MonotonicMs() >= size_limit_retry_ms_;
    const bool may_be_due = MonotonicMs() >= retry_ms_ && schedule_.window.Has(LocalMinute(now_ms));
    if (progress_.is_running || (!is_requested && !may_be_due)) return;
    if (is_requested) {
      reason = CompactionReason::kSizeLimit;
    } else if (!IsDue(schedule_, writes(), now_ms - last_ms_, reason)) {
      reason = CompactionReason::kGarbage;
    }
  }
  const auto must_collect = [this](Space space) { return store_.engine().blob_files().MustCompact(space); };
  if (reason == CompactionReason::kGarbage && std::ranges::none_of(kBlobSpaces, must_collect)) return;
  const CompactionScope scope =
      reason == CompactionReason::kGarbage ? CompactionScope{.name = "blob files"} : ScopeOfAll();
  Status status;
  const auto run = [&] { status = Run(scope, reason); };
  // Garbage of evictions grows as fast as clients write, so this one must get its share of a busy processor.
  if (reason == CompactionReason::kSizeLimit) run();
  else RunAtLowPriority("compaction", run);
  if (status.ok() || status.Is(Code::kReply)) return;  // done, or cancelled
  retry_ms_ = MonotonicMs() + kRetryMs;
  size_limit_retry_ms_ = MonotonicMs() + kSizeLimitRetryMs;
  Log(LogSeverity::kWarning, "storage: the scheduled compaction failed and is tried again later: {}", status.text());
}

// ---- a compaction

Status Compactor::StartCompacting(CompactionScope scope) {
  {
    const MutexLock lock(mutex_);
    const bool by_command = progress_.is_running && progress_.reason == CompactionReason::kCommand;
    if (by_command || queued_ || stopping_) return Status::Reply(kInProgress);
    queued_ = std::move(scope);
    if (progress_.is_running) EndSoon();
  }
  wake_.NotifyAll();
  return Ok();
}

Status Compactor::Compact(const CompactionScope& scope) {
  Status status;
  RunAtLowPriority("compaction", [&] { status = Run(scope, CompactionReason::kCommand); });
  return status;
}

bool Compactor::Cancel() {
  const MutexLock lock(mutex_);
  const bool is_any = progress_.is_running || queued_;
  if (progress_.is_running && progress_.reason != CompactionReason::kCommand) {
    retry_ms_ = MonotonicMs() + kRetryMs;
    if (progress_.reason == CompactionReason::kSizeLimit) size_limit_retry_ms_ = retry_ms_.load();
  }
  if (progress_.is_running) EndSoon();
  queued_.reset();
  return is_any;
}

// Waits until the scheduled compaction that runs has been cancelled.
Status Compactor::Begin(const CompactionScope& scope, CompactionReason reason) {
  const MutexLock lock(mutex_);
  while (progress_.is_running && progress_.reason != CompactionReason::kCommand && !stopping_) {
    EndSoon();
    wake_.Wait(mutex_);
  }
  if (progress_.is_running) return Status::Reply(kInProgress);
  if (stopping_) return Status::Reply(kCancelled);
  canceled_ = interrupted_ = false;
  insists_ = false;
  bytes_read_ = bytes_written_ = 0;
  progress_ = {.is_running = true,
               .reason = reason,
               .scope = scope.name,
               .started_ms = WallMs(),
               .result = {},
               .ranges = scope.ranges.size(),
               .bytes_before = FileBytes()};
  return Ok();
}

Status Compactor::Run(const CompactionScope& scope, CompactionReason reason) {
  const LazyFree& lazy_free = store_.lazy_free();
  const uint64_t holds = lazy_free.holds();
  TRY(Begin(scope, reason));
  const bool is_held = lazy_free.is_held();
  const uint64_t orphans = lazy_free.orphans();
  const uint64_t flushed_keys = lazy_free.flushed_keys();
  const int64_t begin_ms = MonotonicMs();
  const bool searches = reason == CompactionReason::kSizeLimit && MayRewriteForFlush();
  drops_all_ = reason == CompactionReason::kCommand || has_unknown_garbage() || searches;
  drops_orphans_ = drops_all_ || HasManyOrphans();
  Status status = reason == CompactionReason::kGarbage ? CollectRestingBlobs() : CompactRanges(scope, reason);
  // A compaction drops no row while a snapshot is held.
  if (status.ok() && scope.is_all && !is_held && lazy_free.holds() == holds) {
    if (drops_orphans_) ForgetOrphans(orphans);
    if (drops_all_) flushed_keys_ = flushed_keys;
  }
  if (reason == CompactionReason::kSizeLimit) {
    const int64_t end_ms = MonotonicMs();
    search_ms_ = end_ms + std::max(kLeastSearchRestMs, kSearchRest * (end_ms - begin_ms));
    if (drops_all_) flush_search_ms_ = search_ms_.load();
  }
  End(scope, status);
  return status;
}

void Compactor::End(const CompactionScope& scope, const Status& status) {
  const MutexLock lock(mutex_);
  progress_.is_running = false;
  progress_.ended_ms = WallMs();
  progress_.bytes_after = FileBytes();
  progress_.bytes_read = bytes_read_;
  progress_.bytes_written = bytes_written_;
  progress_.result = status.ok() ? "ok" : status.Is(Code::kReply) ? "cancelled" : std::string(status.text());
  ++(status.ok() ? totals_.completed : status.Is(Code::kReply) ? totals_.cancelled : totals_.failed);
  wake_.NotifyAll();
  Log(LogSeverity::kNotice, "storage: compaction of {} (reason: {}): {} after {} ms, {} to {} bytes of files",
      scope.name, NameOf(progress_.reason), progress_.result, progress_.ended_ms - progress_.started_ms,
      progress_.bytes_before, progress_.bytes_after);
}

bool Compactor::has_unknown_garbage() const {
  const LazyFree& lazy_free = store_.lazy_free();
  if (lazy_free.is_held()) return false;
  return lazy_free.flushed_keys() - flushed_keys_ > store_.databases().keys_on_disk() / kRowsPerOrphan;
}

bool Compactor::HasFlushedKeys() const {
  const LazyFree& lazy_free = store_.lazy_free();
  return !lazy_free.is_held() && lazy_free.flushed_keys() != flushed_keys_;
}

bool Compactor::MayRewriteForFlush() const { return HasFlushedKeys() && MonotonicMs() >= flush_search_ms_; }

bool Compactor::may_find_garbage(bool is_full) const {
  return MayRewriteForFlush() || (is_full && writes() > 1 && MonotonicMs() >= search_ms_);
}

bool Compactor::MustRewriteBottom(Space space) const {
  return drops_all_ || (drops_orphans_ && (space == Space::kElements || space == Space::kScores));
}

// Whether many rows of elements belong to no key, and a compaction may drop them.
bool Compactor::HasManyOrphans() const {
  const LazyFree& lazy_free = store_.lazy_free();
  if (lazy_free.is_held()) return false;
  // Compactions of RocksDB's own choice may have dropped elements and not the scores of the same collections.
  const uint64_t orphans = std::max(lazy_free.orphans() - orphans_, lazy_free.orphans_on_disk());
  uint64_t rows = 0;
  store_.engine().db().GetIntProperty(store_.engine().family(Space::kElements),
                                      rocksdb::DB::Properties::kEstimateNumKeys, &rows);
  return orphans * kRowsPerOrphan > rows;
}

// Called after a compaction that has dropped the rows which LazyFree had counted at its start.
void Compactor::ForgetOrphans(uint64_t counted) {
  LazyFree& lazy_free = store_.lazy_free();
  orphans_ = counted;
  const uint64_t newer = lazy_free.orphans() - counted;
  const uint64_t left = lazy_free.orphans_on_disk();
  if (left <= newer) return;
  lazy_free.NoteDropped(left - newer);
  lazy_free.ForgetDropped();
}

// Waits until automatic compactions have caught up; false if the compaction was cancelled meanwhile. If they do not
// catch up for minutes, they may be waiting for the room on the disk that this compaction would free.
bool Compactor::AwaitAutomaticCompactions() {
  const int64_t most_us = MonotonicUs() + kMostWaitUs;
  const MutexLock lock(mutex_);
  while (!canceled_ && !store_.engine().compaction_pace().is_calm() && !insists_) {
    insists_ = MonotonicUs() >= most_us;
    wake_.WaitFor(mutex_, kLookEvery, [this] { return canceled_.load(); });
  }
  if (canceled_) return false;
  interrupted_ = false;
  return true;
}

// Waits before a step until automatic compactions do not need the disk more.
Status Compactor::AwaitTurn(bool is_stuck) {
  if (is_stuck) {
    const MutexLock lock(mutex_);
    wake_.WaitFor(mutex_, kLookEvery, [this] { return canceled_.load(); });
  }
  const bool must_wait = interrupted_ || store_.engine().compaction_pace().is_urgent();
  if (canceled_ || (must_wait && !AwaitAutomaticCompactions())) return Status::Reply(kCancelled);
  const MutexLock lock(mutex_);
  insists_ = false;  // on one step at a time
  return Ok();
}

// Compacts the range in each column family that has rows of it.
Status Compactor::CompactRange(const CompactionRange& range, CompactionReason reason) {
  if (!range.begin.empty()) return CompactFamily(store_.engines().PlaceOf(range.space, range.begin), range, reason);
  const RowPlace first = store_.engines().PlaceOf(range.space, StorageMode::kSsd);
  TRY(CompactFamily(first, range, reason));
  for (const StorageMode mode : {StorageMode::kHdd, StorageMode::kMemory}) {
    const RowPlace place = store_.engines().PlaceOf(range.space, mode);
    if (place.family != first.family) TRY(CompactFamily(place, range, reason));
  }
  return Ok();
}

Status Compactor::CompactFamily(const RowPlace& place, const CompactionRange& range, CompactionReason reason) {
  return StepwiseCompaction({.db = place.db,
                             .family = place.family,
                             .range = range,
                             .rewrites_bottom = MustRewriteBottom(range.space),
                             .most_threads = reason == CompactionReason::kCommand ? 0u : 1u,
                             .await_turn = [this](bool is_stuck) { return AwaitTurn(is_stuck); },
                             .count =
                                 [this](uint64_t read, uint64_t written) {
                                   bytes_read_ += read;
                                   bytes_written_ += written;
                                 }})
      .Run();
}

// Empties blob files of the space until at most `share` of their bytes is garbage. A compaction of the space must come
// first: RocksDB knows only the garbage that compactions found.
Status Compactor::CollectBlobs(Space space, double share) {
  Engine& engine = store_.engine();
  const double cutoff = engine.blob_files().CutoffTo(space, share);
  if (cutoff == 0) return Ok();
  const FlushNudge nudge(engine.db(), {engine.family(space)});
  rocksdb::CompactRangeOptions options;
  options.exclusive_manual_compaction = false;
  options.canceled = &interrupted_;
  options.max_subcompactions = 1;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  options.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
  options.blob_garbage_collection_age_cutoff = cutoff;
  // After an interruption RocksDB begins again; the rows that it had moved to lower levels stay there.
  for (;;) {
    TRY(AwaitTurn(false));
    const rocksdb::Status done = engine.db().CompactRange(options, engine.family(space), nullptr, nullptr);
    if (canceled_) return Status::Reply(kCancelled);
    if (!done.IsManualCompactionPaused()) return FromRocksDb(done);
  }
}

Status Compactor::CollectRestingBlobs() {
  for (const Space space : kBlobSpaces) {
    if (store_.engine().blob_files().MustCompact(space)) TRY(CollectBlobs(space, 1.0));
  }
  return Ok();
}

Status Compactor::CompactRanges(const CompactionScope& scope, CompactionReason reason) {
  const uint64_t sequence = store_.log().LatestSequence();
  const bool by_command = reason == CompactionReason::kCommand;
  for (const CompactionRange& range : scope.ranges) {
    // Meta comes last, so its flush includes this row, and nothing is left in memtables.
    if (scope.is_all && range.space == Space::kMeta) TRY(NoteCompacted(sequence, WallMs()));
    TRY(CompactRange(range, reason));
    if (scope.is_all) TRY(CollectBlobs(range.space, by_command ? kBlobGarbageOfCommand : 1.0));
    const MutexLock lock(mutex_);
    ++progress_.ranges_done;
  }
  return Ok();
}

// ---- what INFO and COMPACT STATUS show

uint64_t Compactor::FileBytes() const {
  return store_.engine().Property(rocksdb::DB::Properties::kTotalSstFilesSize) +
         store_.engine().Property(rocksdb::DB::Properties::kTotalBlobFileSize);
}

CompactionProgress Compactor::Progress() const {
  const MutexLock lock(mutex_);
  CompactionProgress progress = progress_;
  if (!progress.is_running) return progress;
  progress.bytes_read = bytes_read_;
  progress.bytes_written = bytes_written_;
  progress.bytes_after = FileBytes();
  return progress;
}

bool Compactor::runs_for_size_limit() const {
  const MutexLock lock(mutex_);
  return progress_.is_running && progress_.reason == CompactionReason::kSizeLimit;
}

Compactor::Totals Compactor::totals() const {
  const MutexLock lock(mutex_);
  return totals_;
}

uint64_t Compactor::writes() const {
  const uint64_t latest = store_.log().LatestSequence();
  return latest - std::min<uint64_t>(latest, last_sequence_);
}

}  // namespace cairn
