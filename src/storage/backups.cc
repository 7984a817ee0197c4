// SPDX-License-Identifier: BSD-3-Clause
#include "storage/backups.h"

#include <fcntl.h>
#include <rocksdb/db.h>
#include <rocksdb/file_system.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/utilities/backup_engine.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/file_mode.h"
#include "base/log.h"
#include "base/remove_file.h"
#include "base/thread.h"
#include "storage/direct_files.h"
#include "storage/disk_reserve.h"
#include "storage/engine.h"
#include "storage/file_names.h"
#include "storage/flush_nudge.h"

namespace cairn {
namespace {

constexpr std::string_view kInProgress =
    "ERR A backup is already in progress; BACKUP STATUS describes it and BACKUP ABORT ends it";
constexpr std::string_view kStopping = "ERR The server is shutting down";
constexpr std::string_view kAborted = "ERR The backup was aborted";
constexpr std::string_view kNoSuchBackup = "ERR No such backup";
constexpr std::string_view kFilesDeleted =
    "RocksDB recovered from an I/O error and may have deleted files that the backup copied; start it again";
constexpr int64_t kStepBytes = 1 << 20;    // copied at once, and between two looks at the disk
constexpr int64_t kUnlimited = 4ll << 30;  // bytes per second
constexpr int64_t kLongestStepUs = 100'000;

// RocksDB copies as many bytes at once as the limiter admits in one period. So BackupEngine::StopBackup, which RocksDB
// looks at before each step, has its effect within two periods at any rate.
std::shared_ptr<rocksdb::RateLimiter> MakeLimiter(uint64_t bytes_per_second) {
  constexpr int64_t kSecondUs = 1'000'000;
  const int64_t rate =
      bytes_per_second == 0 ? kUnlimited : std::min(kUnlimited, static_cast<int64_t>(bytes_per_second));
  const int64_t period_us = std::min(kLongestStepUs, kStepBytes * kSecondUs / rate);
  return std::shared_ptr<rocksdb::RateLimiter>(rocksdb::NewGenericRateLimiter(rate, period_us));
}

rocksdb::BackupEngineOptions OptionsOf(const std::string& dir, rocksdb::Env* env,
                                       std::shared_ptr<rocksdb::RateLimiter> limiter = nullptr) {
  rocksdb::BackupEngineOptions options(dir, env);
  options.backup_rate_limiter = std::move(limiter);
  options.callback_trigger_interval_size = kStepBytes;
  return options;
}

// RocksDB's Incomplete means here that the backup was stopped.
Status FromBackup(const rocksdb::Status& status) {
  return status.IsIncomplete() ? Status::Reply(kAborted) : FromRocksDb(status);
}

// Keeps RocksDB from deleting files. A recovery from an I/O error ends that early: it resets RocksDB's count of
// DisableFileDeletions (DBImpl::ResumeImpl of 7.8). A table that a compaction has replaced is then truncated in steps
// (base/remove_file.h), and a copy of it ends where the file ends, without an error.
class KeptFiles {
 public:
  explicit KeptFiles(rocksdb::DB& db) : db_(db) { db_.DisableFileDeletions().PermitUncheckedError(); }
  ~KeptFiles() {
    if (!MayBeDeleted()) db_.EnableFileDeletions(false).PermitUncheckedError();
  }
  KeptFiles(const KeptFiles&) = delete;
  KeptFiles& operator=(const KeptFiles&) = delete;

  // Whether files may be deleted now, or might be at an earlier call.
  bool MayBeDeleted() {
    uint64_t enabled = 0;  // 1 if deletions are on: rocksdb/db.h says the opposite
    may_be_deleted_ |= db_.GetIntProperty(rocksdb::DB::Properties::kIsFileDeletionsEnabled, &enabled) && enabled != 0;
    return may_be_deleted_;
  }

 private:
  rocksdb::DB& db_;
  bool may_be_deleted_ = false;
};

// The backups of a directory, opened for changes, and its lock file.
class OpenBackups {
 public:
  ~OpenBackups() {
    engine_.reset();
    if (lock_ != nullptr) static_cast<void>(rocksdb::Env::Default()->UnlockFile(lock_).ok());
  }
  Status Open(const std::string& dir, rocksdb::Env* source, std::shared_ptr<rocksdb::RateLimiter> limiter = nullptr) {
    TRY(FromRocksDb(rocksdb::Env::Default()->CreateDirIfMissing(dir)));
    TRY(FromRocksDb(rocksdb::Env::Default()->LockFile(dir + "/LOCK", &lock_)));
    source_ = rocksdb::NewCompositeEnv(MakeDirectFiles(source->GetFileSystem()));
    target_ = rocksdb::NewCompositeEnv(MakeDirectFiles(rocksdb::FileSystem::Default()));
    const rocksdb::BackupEngineOptions options = OptionsOf(dir, target_.get(), std::move(limiter));
    rocksdb::BackupEngine* engine = nullptr;
    TRY(FromRocksDb(rocksdb::BackupEngine::Open(options, source_.get(), &engine)));
    engine_.reset(engine);
    return FromRocksDb(engine_->GarbageCollect());
  }
  rocksdb::BackupEngine& engine() { return *engine_; }

 private:
  rocksdb::FileLock* lock_ = nullptr;
  std::unique_ptr<rocksdb::Env> source_;
  std::unique_ptr<rocksdb::Env> target_;
  std::unique_ptr<rocksdb::BackupEngine> engine_;
};

Result<std::unique_ptr<rocksdb::BackupEngineReadOnly>> OpenToRead(const std::string& dir) {
  rocksdb::BackupEngineReadOnly* engine = nullptr;
  TRY(FromRocksDb(
      rocksdb::BackupEngineReadOnly::Open(OptionsOf(dir, rocksdb::Env::Default()), rocksdb::Env::Default(), &engine)));
  return std::unique_ptr<rocksdb::BackupEngineReadOnly>(engine);
}

// Makes the files of a folder durable.
Status SyncFileSystem(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = folder >= 0 && syncfs(folder) == 0;
  const int error = errno;
  if (folder >= 0) close(folder);
  return synced ? Ok() : Status::Io("cannot sync " + path + ": " + std::strerror(error));
}

// Describes the target of a restore, if there is one. The restored folder replaces it, so it must be empty, and not the
// root of a file system.
Result<std::optional<struct stat>> CheckTarget(const std::string& target) {
  struct stat about {};
  struct stat parent {};
  if (stat(target.c_str(), &about) != 0) {
    if (errno == ENOENT) return std::optional<struct stat>();
    return Status::Io(target + ": " + std::strerror(errno));
  }
  std::error_code error;
  if (!S_ISDIR(about.st_mode)) return Status::Io(target + " is not a directory");
  const bool is_empty = std::filesystem::is_empty(target, error);
  if (!is_empty) return Status::Io(target + (error ? ": " + error.message() : " is not empty"));
  if (stat((target + "/..").c_str(), &parent) == 0 && parent.st_dev != about.st_dev) {
    return Status::Io(target + " is a mount point; name a directory in it");
  }
  return std::optional(about);
}

// The folder is about to replace the target. Gives the folder the permissions of the target, and gives the folder and
// its files the owner of the target.
Status TakeOwner(const std::string& folder, const struct stat& target) {
  if (chmod(folder.c_str(), target.st_mode & 07777) != 0) {
    return Status::Io("cannot give " + folder + " its permissions: " + std::strerror(errno));
  }
  return GiveFiles(folder, target.st_uid, target.st_gid);
}

}  // namespace

Result<BackupList> ListBackups(const std::string& dir) {
  BackupList list;
  std::error_code error;
  const bool has_any = std::filesystem::exists(dir + "/meta", error);
  if (error) return Status::Io(dir + ": " + error.message());
  if (!has_any) return list;
  const auto engine = TRY(OpenToRead(dir));
  std::vector<rocksdb::BackupInfo> backups;
  engine->GetBackupInfo(&backups);
  for (const rocksdb::BackupInfo& backup : backups) {
    list.complete.push_back({backup.backup_id, backup.timestamp, backup.size, backup.number_files});
  }
  engine->GetCorruptedBackups(&list.damaged);
  return list;
}

Status VerifyBackup(const std::string& dir, uint32_t id) {
  const auto engine = TRY(OpenToRead(dir));
  return FromRocksDb(engine->VerifyBackup(id, true));
}

Status RestoreBackup(const std::string& dir, uint32_t id, const std::string& given_target) {
  std::string target = TrimSlashes(given_target);
  std::error_code is_missing;
  // A directory cannot be renamed to a link, and must be restored on the disk to which the link leads.
  if (const auto real = std::filesystem::canonical(target, is_missing); !is_missing) target = real.string();
  const std::optional<struct stat> before = TRY(CheckTarget(target));
  const auto engine = TRY(OpenToRead(dir));
  const std::string folder = target + ".restoring";
  RemoveFolder(folder);
  TRY(FromRocksDb(engine->RestoreDBFromBackup(id, folder, folder)));
  TRY(before ? TakeOwner(folder, *before) : GiveFilesAsRoot(folder, dir));
  TRY(SyncFileSystem(folder));
  std::error_code error;
  std::filesystem::rename(folder, target, error);
  if (error) return Status::Io("cannot rename " + folder + ": " + error.message());
  return SyncFileSystem(target);
}

Status Backups::Claim() {
  if (stopping_) return Status::Reply(kStopping);
  if (claimed_) return Status::Reply(kInProgress);
  claimed_ = true;
  return Ok();
}

Status Backups::Start(const std::string& dir, uint64_t bytes_per_second) {
  if (const Status room = engine_.disk_reserve().CheckGrowth(); !room.ok()) {
    return Status::Reply("ERR No backup: " + std::string(room.text()));
  }
  const MutexLock lock(mutex_);
  TRY(Claim());
  aborted_ = false;
  copied_bytes_ = 0;
  progress_ = {.is_running = true,
               .started_ms = WallMs(),
               .total_bytes = engine_.Property(rocksdb::DB::Properties::kTotalSstFilesSize) +
                              engine_.Property(rocksdb::DB::Properties::kTotalBlobFileSize),
               .result = {}};
  if (thread_.joinable()) thread_.join();  // it has released its claim, so it takes no lock any more
  thread_ = StartThread("backup", [this, dir, bytes_per_second] { Run(dir, bytes_per_second); });
  return Ok();
}

void Backups::Run(const std::string& dir, uint64_t bytes_per_second) {
  LowerPriority();  // RocksDB's thread that copies inherits it
  End(Create(dir, bytes_per_second));
}

Result<uint32_t> Backups::Create(const std::string& dir, uint64_t bytes_per_second) {
  OpenBackups backups;
  const std::shared_ptr<rocksdb::RateLimiter> limiter = MakeLimiter(bytes_per_second);
  TRY(backups.Open(dir, engine_.db().GetEnv(), limiter));
  rocksdb::BackupEngine& engine = backups.engine();
  const FlushNudge nudge(engine_.db(), engine_.families());
  KeptFiles kept(engine_.db());
  Status room;
  rocksdb::CreateBackupOptions options;
  options.flush_before_backup = true;
  options.progress_callback = [&] {
    copied_bytes_ = static_cast<uint64_t>(limiter->GetTotalBytesThrough());
    if (room.ok()) room = engine_.disk_reserve().CheckGrowth();
    if (!room.ok() || kept.MayBeDeleted()) engine.StopBackup();
  };
  rocksdb::BackupID id = 0;
  TRY(BeginCopy(engine));
  Status created = FromBackup(engine.CreateNewBackup(options, &engine_.db(), &id));
  EndCopy();
  copied_bytes_ = static_cast<uint64_t>(limiter->GetTotalBytesThrough());
  if (kept.MayBeDeleted()) {
    if (created.ok()) static_cast<void>(engine.DeleteBackup(id).ok());
    created = Status::Io(kFilesDeleted);
  }
  if (!created.ok()) {
    static_cast<void>(engine.GarbageCollect().ok());  // the next backup tries again
    if (!room.ok()) return Status::Io(room.text());
    return created;
  }
  return id;
}

Status Backups::BeginCopy(rocksdb::BackupEngine& engine) {
  const MutexLock lock(mutex_);
  if (aborted_) return Status::Reply(kAborted);
  copying_ = &engine;
  return Ok();
}

void Backups::EndCopy() {
  const MutexLock lock(mutex_);
  copying_ = nullptr;
}

void Backups::RequestAbort() {
  aborted_ = true;
  if (copying_ != nullptr) copying_->StopBackup();
}

void Backups::End(const Result<uint32_t>& id) {
  const MutexLock lock(mutex_);
  progress_.is_running = false;
  progress_.ended_ms = WallMs();
  progress_.copied_bytes = copied_bytes_;
  if (id.ok()) {
    progress_.id = *id;
    progress_.result = "ok";
    totals_.last_unix_s = progress_.ended_ms / 1000;
    ++totals_.completed;
  } else {
    const bool by_command = id.status().Is(Code::kReply);
    progress_.result = by_command ? "aborted" : std::string(id.status().text());
    ++(by_command ? totals_.aborted : totals_.failed);
  }
  claimed_ = false;
  released_.NotifyAll();
  Log(progress_.result == "ok" ? LogSeverity::kNotice : LogSeverity::kWarning,
      "storage: backup {}: {} after {} ms, {} bytes copied", progress_.id, progress_.result,
      progress_.ended_ms - progress_.started_ms, progress_.copied_bytes);
}

bool Backups::Abort() {
  const MutexLock lock(mutex_);
  if (progress_.is_running) RequestAbort();
  return progress_.is_running;
}

Status Backups::Delete(const std::string& dir, uint32_t id) {
  {
    const MutexLock lock(mutex_);
    TRY(Claim());
  }
  Status done;
  {
    OpenBackups backups;  // unlocks the directory before the claim is released
    done = backups.Open(dir, engine_.db().GetEnv());
    if (done.ok()) {
      const rocksdb::Status deleted = backups.engine().DeleteBackup(id);
      done = deleted.IsNotFound() ? Status::Reply(kNoSuchBackup) : FromRocksDb(deleted);
    }
  }
  const MutexLock lock(mutex_);
  claimed_ = false;
  released_.NotifyAll();
  return done;
}

void Backups::Stop() {
  const MutexLock lock(mutex_);
  stopping_ = true;
  RequestAbort();
  while (claimed_) released_.Wait(mutex_);
  if (thread_.joinable()) thread_.join();
}

BackupProgress Backups::Progress() const {
  const MutexLock lock(mutex_);
  BackupProgress progress = progress_;
  if (progress.is_running) progress.copied_bytes = copied_bytes_;
  return progress;
}

Backups::Totals Backups::totals() const {
  const MutexLock lock(mutex_);
  return totals_;
}

}  // namespace cairn
