// SPDX-License-Identifier: BSD-3-Clause
#include "storage/open_tables.h"

#include <rocksdb/db.h>

#include <algorithm>
#include <filesystem>

#include "base/log.h"

namespace cairn {
namespace {

constexpr int kAllOpen = -1;
constexpr uint64_t kMostForRocksDb = 1 << 22;  // from here on RocksDB takes the limit for "unlimited"
constexpr uint64_t kFewestForRocksDb = 20;
// RocksDB uses 10 of max_open_files for other files, and rounds the rest up to a multiple of its 64 shards.
constexpr uint64_t kRounding = 64 - 10;

uint64_t CountTables(const std::string& dir) {
  uint64_t count = 0;
  std::error_code error;
  std::filesystem::directory_iterator files(dir, error);
  for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) {
    const std::string name = files->path().extension().string();
    if (name == ".sst" || name == ".blob") ++count;
  }
  return count;
}

// The value of max_open_files with which at most `most` tables are open.
int ToMaxOpenFiles(uint64_t most) {
  return static_cast<int>(std::clamp(most - std::min(most, kRounding), kFewestForRocksDb, kMostForRocksDb));
}

}  // namespace

// A quarter is kept free for tables that are created between two checks or held by a compaction.
bool OpenTables::IsNear(uint64_t count) const {
  const uint64_t most = most_.load();
  return most != 0 && count >= most - most / 4;
}

int OpenTables::MaxOpenFilesFor(const std::string& dir) {
  is_bound_ = IsNear(CountTables(dir));
  return is_bound_ ? ToMaxOpenFiles(most_) : kAllOpen;
}

Status OpenTables::Bind(rocksdb::DB& db) {
  const rocksdb::Status set = db.SetDBOptions({{"max_open_files", std::to_string(ToMaxOpenFiles(most_))}});
  return set.ok() ? Ok() : Status::Io("max_open_files: " + set.ToString());
}

void OpenTables::BindIfNear(rocksdb::DB& db, uint64_t coming) {
  if (is_bound() || !IsNear(count() + coming)) return;
  const MutexLock lock(mutex_);
  if (is_bound()) return;
  const Status bound = Bind(db);
  is_bound_ = bound.ok();
  if (!bound.ok()) return Log(LogSeverity::kWarning, "storage: {}", bound.text());
  Log(LogSeverity::kWarning,
      "storage: at most {} tables are kept open now, so reads of others are slower. Raise the limit on open files "
      "(ulimit -n) or lower maxclients.",
      most_.load());
}

Status OpenTables::SetMost(rocksdb::DB& db, uint64_t most) {
  const MutexLock lock(mutex_);
  const uint64_t old = most_.exchange(most);
  if (!is_bound()) return Ok();
  Status status = Bind(db);
  if (!status.ok()) most_ = old;
  return status;
}

}  // namespace cairn
