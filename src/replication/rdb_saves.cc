// SPDX-License-Identifier: BSD-3-Clause
#include "replication/rdb_saves.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/temporary_file.h"
#include "base/thread.h"
#include "config/config.h"
#include "rdb/rdb_disk.h"
#include "replication/saving.h"
#include "script/library_store.h"
#include "stats/server_state.h"
#include "storage/disk_reserve.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr std::string_view kInProgress = "ERR Background save already in progress";
constexpr std::string_view kFailed = "ERR";  // Redis gives no details either
constexpr std::string_view kMemoryDatabasesFile = "memory-databases.rdb";

}  // namespace

std::string RdbSaves::Path() const {
  const bool is_everything = content_ == RdbSaveContent::kEverything;
  return config_.Text("dir") + "/" + (is_everything ? config_.Text("dbfilename") : std::string(kMemoryDatabasesFile));
}

void RdbSaves::DeleteUnfinished() const { DeleteUnfinishedBeside(Path()); }

bool RdbSaves::Claim() {
  const MutexLock lock(mutex_);
  if (running_ || stopping_) return false;
  running_ = true;
  return true;
}

void RdbSaves::Release() {
  const MutexLock lock(mutex_);
  running_ = false;
  released_.NotifyAll();
}

Result<RdbSaves::Moment> RdbSaves::TakeMoment() {
  Moment moment{.changes_before = store_.counters().changes.load()};
  moment.snapshot = TRY(StoreSnapshot::Take(store_));
  return moment;
}

// What Redis would write under the present eviction policy.
RdbUseHint RdbSaves::UseHint() const {
  static constexpr std::string_view kPolicy[] = {"maxmemory-policy"};
  const std::string policy = config_.Get(kPolicy).front().second;
  if (policy.ends_with("-lru")) return RdbUseHint::kIdle;
  return policy.ends_with("-lfu") ? RdbUseHint::kFrequency : RdbUseHint::kNone;
}

Status RdbSaves::WriteFile(Transaction& txn, const StoreSnapshot& snapshot) {
  RdbFileOptions options;
  options.checksum = config_.Flag("rdbchecksum");
  options.folds = config_.Flag("rdbcompression");
  options.key_delay_us = config_.Number("rdb-key-save-delay");
  options.use_hint = UseHint();
  txn.ReadFrom(&snapshot);
  if (content_ == RdbSaveContent::kEverything) {
    options.functions = TRY(ReadLibraryRows(txn));
  } else {
    options.includes = [&](int db) { return ModeOfKeyspace(snapshot.keyspace(db)) == StorageMode::kMemory; };
  }
  // The save at the end of the server. No other copy of these databases remains, so it may use the reserve of the disk.
  const bool is_only_copy = content_ == RdbSaveContent::kMemoryDatabases && !in_background_;
  RdbOutputFile file(Path());
  TRY(file.Open());
  RdbFileWriter writer(txn, snapshot, config_.limits(), options, [&](std::string_view bytes) {
    if (!is_only_copy) TRY(store_.engine().disk_reserve().CheckGrowth());
    return in_background_ && gives_background_up_ ? Status::Io("the server is ending") : file.Write(bytes);
  });
  TRY(writer.Write());
  return file.Finish();
}

Status RdbSaves::Write(const Result<Moment>& moment) {
  ++state_.running;
  Status status;
  if (moment.ok()) {
    const std::unique_ptr<Transaction> txn = std::make_unique<Transaction>(store_);
    status = WriteFile(*txn, *moment->snapshot);
  } else {
    status = Status::Error(moment.status().code(), std::string(moment.status().text()));
  }
  --state_.running;
  if (status.ok()) {
    state_.last_ok = true;
    state_.last_unix_s = WallMs() / 1000;
    state_.changes_before = moment->changes_before;
    ++state_.count;
    Log(LogSeverity::kNotice, "DB saved on disk: {}", Path());
    return Ok();
  }
  state_.last_ok = state_.last_ok && in_background_ && gives_background_up_;  // an aborted save is no failure
  Log(LogSeverity::kWarning, "Saving {} failed: {}", Path(), status.text());
  return Status::Reply(kFailed);
}

Status RdbSaves::WriteAndRelease(const Result<Moment>& moment) {
  Status status = Write(moment);
  Release();
  return status;
}

Status RdbSaves::Save() {
  if (!Claim()) return Status::Reply(kInProgress);
  return WriteAndRelease(TakeMoment());
}

Status RdbSaves::SaveAtEnd() {
  gives_background_up_ = true;
  {
    const MutexLock lock(mutex_);
    while (running_) released_.Wait(mutex_);
    running_ = true;
  }
  gives_background_up_ = false;
  return WriteAndRelease(TakeMoment());
}

void RdbSaves::RunInBackground(const std::optional<Moment>& moment) {
  if (!moment) static_cast<void>(AwaitCommits(store_).ok());  // commits what is in progress, which unlocks its keys
  const Result<Moment> taken = moment ? Result<Moment>(*moment) : TakeMoment();
  LowerPriority();
  static_cast<void>(Write(taken).ok());  // the outcome is in the log and in INFO
  last_duration_s_ = (MonotonicMs() - started_ms_) / 1000;
  in_background_ = false;
  Release();
}

void RdbSaves::StartThreadOf(std::optional<Moment> moment) {
  if (thread_.joinable()) thread_.join();
  started_ms_ = MonotonicMs();
  in_background_ = true;
  Log(LogSeverity::kNotice, "Background saving started");
  thread_ = StartThread("bgsave", [this, moment = std::move(moment)] { RunInBackground(moment); });
}

Status RdbSaves::StartInBackground() {
  if (!Claim()) return Status::Reply(kInProgress);
  Result<Moment> moment = TakeMoment();
  if (!moment.ok()) return WriteAndRelease(moment);
  StartThreadOf(std::move(*moment));
  return Ok();
}

Status RdbSaves::Schedule() {
  const MutexLock lock(mutex_);
  if (running_) return Status::Reply(kInProgress);
  scheduled_ = true;
  return Ok();
}

void RdbSaves::StartScheduled() {
  if (!scheduled_ || !Claim()) return;
  scheduled_ = false;
  StartThreadOf({});
}

void RdbSaves::Stop() {
  gives_background_up_ = true;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    while (running_) released_.Wait(mutex_);  // also for a save whose thread has not started yet
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace cairn
