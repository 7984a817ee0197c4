// SPDX-License-Identifier: BSD-3-Clause
#include "storage/write_ahead_log.h"

#include <fcntl.h>
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "storage/batch.h"
#include "storage/log_files.h"

namespace cairn {
namespace {

// The size of the log's tail, taken from the budget's part for the process itself. It covers the bytes sent at full
// speed between two reads of the log, with a margin; more would leave the processor's cache before it is read.
uint64_t TailBytes(const Budget& budget) {
  constexpr uint64_t kLeast = 1 << 20;
  constexpr uint64_t kMost = 4 << 20;
  return std::clamp(budget.total / 64, kLeast, kMost);
}

constexpr std::string_view kLogSuffix = ".log";

bool IsLogName(std::string_view name) {
  if (!name.ends_with(kLogSuffix)) return false;
  name.remove_suffix(kLogSuffix.size());
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

Status SyncFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return errno == ENOENT ? Ok() : Status::Io(path + ": " + std::strerror(errno));  // archived: its rows are flushed
  const bool is_synced = fdatasync(fd) == 0;
  const int error = errno;
  close(fd);
  return is_synced ? Ok() : Status::Io(path + ": " + std::strerror(error));
}

// Syncs the log files without RocksDB. RocksDB must not be asked to sync after a failed append: a build with
// assertions, such as Debian's, aborts the process.
Status SyncLogFiles(const std::string& dir) {
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(dir, error)) {
    if (IsLogName(file.path().filename().native())) TRY(SyncFile(file.path()));
  }
  return error ? Status::Io(dir + ": " + error.message()) : Ok();
}

}  // namespace

WriteAheadLog::WriteAheadLog(Engine& engine, const Recovery& recovery)
    : engine_(engine), recovery_(recovery), tail_(TailBytes(engine.options().budget)),
      syncs_(static_cast<size_t>(engine.options().databases) + 1) {}

rocksdb::Status WriteAheadLog::Write(const rocksdb::WriteOptions& options, rocksdb::WriteBatch& batch) {
  // RocksDB accepts writes after some errors, but cannot recover from the errors that follow.
  if (!recovery_.writable()) return rocksdb::Status::IOError(recovery_.write_error());
  return engine_.db().Write(options, &batch);
}

void WriteAheadLog::NoteReadable(const rocksdb::WriteBatch& batch, std::string_view entries) {
  if (tail_.is_on()) tail_.Note(SequenceOf(batch), static_cast<uint64_t>(batch.Count()), entries);
}

uint64_t WriteAheadLog::LatestSequence() const { return engine_.db().GetLatestSequenceNumber(); }

uint64_t WriteAheadLog::ReadableSequence() const {
  const uint64_t latest = LatestSequence();
  if (!syncs_commits()) return latest;
  const MutexLock lock(unsynced_mutex_);
  return unsynced_.empty() ? latest : std::max(durable_sequence_.load(), *unsynced_.begin());
}

WriteAheadLog::Unsynced::Unsynced(WriteAheadLog& log) : log_(log), before_(log.LatestSequence()) {
  const MutexLock lock(log_.unsynced_mutex_);
  log_.unsynced_.insert(before_);
}

WriteAheadLog::Unsynced::~Unsynced() {
  const MutexLock lock(log_.unsynced_mutex_);
  log_.unsynced_.erase(log_.unsynced_.find(before_));
}

Status WriteAheadLog::SetSyncsCommits(const std::vector<bool>& syncs) {
  syncs_commits_ = std::find(syncs.begin(), syncs.end(), true) != syncs.end();
  for (size_t i = 0; i < syncs_.size(); ++i) syncs_[i] = syncs[i];
  if (!syncs_commits()) return Ok();
  Status synced = Sync();
  if (!synced.ok()) {
    syncs_commits_ = false;
    for (std::atomic<bool>& one : syncs_) one = false;
  }
  return synced;
}

void WriteAheadLog::MakeDurable(uint64_t sequence) {
  const Status synced = SyncUpTo(sequence);
  if (!synced.ok()) EndUnsynced(synced.text());
}

// RocksDB must not be asked to sync between a failed append and its own handling of the error either.
Status WriteAheadLog::SyncNow() {
  const MutexLock lock(engine_.log_files().sync_mutex());
  const bool has_failed = engine_.log_files().has_failed_log();
  if (recovery_.writable() && !has_failed) return FromRocksDb(engine_.db().FlushWAL(true));
  if (syncs_commits()) return SyncLogFiles(engine_.options().dir);
  return Status::Io(has_failed ? "a write to the log has failed" : recovery_.write_error());
}

Status WriteAheadLog::SyncUpTo(uint64_t sequence) {
  if (durable_sequence_ >= sequence) return Ok();
  ReleasableMutexLock lock(mutex_);
  while (is_syncing_ && durable_sequence_ < sequence) sync_done_.Wait(mutex_);
  if (durable_sequence_ >= sequence) return Ok();
  is_syncing_ = true;
  lock.Unlock();
  const uint64_t latest = LatestSequence();
  Status synced = SyncNow();
  // Must come before waiting threads try again.
  if (!synced.ok() && syncs_commits()) EndUnsynced(synced.text());
  lock.Lock();
  is_syncing_ = false;
  if (synced.ok()) durable_sequence_ = std::max(durable_sequence_.load(), latest);
  sync_done_.NotifyAll();
  return synced;
}

}  // namespace cairn
