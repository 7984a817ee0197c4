// SPDX-License-Identifier: BSD-3-Clause
//
// Syncing the write-ahead log, and what has to wait for it.
//
// Under `appendfsync always` a commit is appended to the log, then synced, and only then made visible
// (Transaction::Append, Publish). RocksDB's WriteOptions::sync does not serve: a batch whose fsync fails is refused and
// stays in the log, and its sequence numbers are used again, so a later reader of the log takes it for the batch that
// was acknowledged (RocksDB 7.8). An append that fails leaves at most a part of a record, which no reader accepts.
//
// Commits that wait at the same time share one fsync: one thread syncs for all that were appended by then.
//
// After a failed fsync nobody knows what is on the disk, and the kernel may report success for the next one although
// pages were lost. So the process ends, as Redis does, before anybody is answered.
#include <fcntl.h>
#include <rocksdb/db.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/end_process.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr std::string_view kLogSuffix = ".log";

bool IsLogName(std::string_view name) {
  if (!name.ends_with(kLogSuffix)) return false;
  name.remove_suffix(kLogSuffix.size());
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

Status SyncFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? Ok() : Status::Io(path + ": " + std::strerror(errno));  // archived: flushed
  const bool is_synced = fdatasync(fd) == 0;
  const int error = errno;
  close(fd);
  return is_synced ? Ok() : Status::Io(path + ": " + std::strerror(error));
}

// Syncs the logs of a database past RocksDB, which after a failed append must not be asked to: where it is built with
// assertions, as in Debian, that ends the process.
Status SyncLogFiles(const std::string& dir) {
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(dir, error)) {
    if (IsLogName(file.path().filename().native())) TRY(SyncFile(file.path()));
  }
  return error ? Status::Io(dir + ": " + error.message()) : Ok();
}

[[noreturn]] void EndUnsynced(const Status& status) {
  EndProcess("Can't persist AOF for fsync error when the AOF fsync policy is 'always': " + std::string(status.text()) +
             ". Exiting... The last writes were not answered; after a restart they are there or not.");
}

}  // namespace

uint64_t Store::LatestSequence() const { return db_->GetLatestSequenceNumber(); }

uint64_t Store::ReadableSequence() const { return syncs_commits() ? durable_sequence_.load() : LatestSequence(); }

Status Store::SetSyncsCommits(bool on) {
  syncs_commits_ = on;
  if (!on) return Ok();
  Status synced = SyncLog();
  if (!synced.ok()) syncs_commits_ = false;
  return synced;
}

Status Store::SyncLog() { return SyncUpTo(LatestSequence()); }

void Store::MakeDurable(uint64_t sequence) {
  const Status synced = SyncUpTo(sequence);
  if (!synced.ok()) EndUnsynced(synced);
}

Status Store::SyncUpTo(uint64_t sequence) {
  if (durable_sequence_ >= sequence) return Ok();
  std::unique_lock lock(sync_mutex_);
  sync_done_.wait(lock, [&] { return !is_syncing_ || durable_sequence_ >= sequence; });
  if (durable_sequence_ >= sequence) return Ok();
  is_syncing_ = true;
  lock.unlock();
  const uint64_t latest = LatestSequence();
  Status synced;
  if (writable()) {
    synced = FromRocksDb(db_->FlushWAL(true));
  } else {
    synced = syncs_commits() ? SyncLogFiles(options_.dir) : Status::Io(write_error());
  }
  // Before those that wait try again.
  if (!synced.ok() && syncs_commits()) EndUnsynced(synced);
  lock.lock();
  is_syncing_ = false;
  if (synced.ok()) durable_sequence_ = std::max(durable_sequence_.load(), latest);
  sync_done_.notify_all();
  return synced;
}

}  // namespace cairn
