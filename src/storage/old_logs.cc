// SPDX-License-Identifier: BSD-3-Clause
#include "storage/old_logs.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/transaction_log.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr std::string_view kSuffix = ".log";
constexpr std::string_view kDroppedSuffix = ".dropped";  // RocksDB does not take this name for a log

// When RocksDB is asked for one log it looks at every log, and reports an error if one has just disappeared. So all
// logs are first renamed in one step, which is fast.
Status SetAside(Store& store, std::span<const std::string> paths) {
  rocksdb::Env& env = *store.engine().db().GetEnv();
  const WriterLock lock(store.log().old_logs_mutex());
  for (const std::string& path : paths) {
    const rocksdb::Status renamed = env.RenameFile(path, path + std::string(kDroppedSuffix));
    if (!renamed.IsNotFound()) TRY(FromRocksDb(renamed));
  }
  return Ok();
}

// The logs that no reader needs, if the first needed number is `first`. Oldest first.
Result<std::vector<std::string>> FindUnneeded(rocksdb::DB& db, uint64_t first) {
  std::vector<std::string> paths;
  rocksdb::VectorLogPtr logs;  // oldest first
  TRY(FromRocksDb(db.GetSortedWalFiles(logs)));
  for (size_t i = 0; i + 1 < logs.size() && logs[i + 1]->StartSequence() <= first; ++i) {
    if (logs[i]->Type() != rocksdb::kArchivedLogFile) break;
    paths.push_back(db.GetName() + logs[i]->PathName());
  }
  return paths;
}

}  // namespace

Status DropOldLogs(Store& store, const FirstNeeded& first_needed) {
  rocksdb::DB& db = store.engine().db();
  rocksdb::Env& env = *db.GetEnv();
  const std::string folder = db.GetName() + "/archive";
  std::vector<std::string> names;
  const rocksdb::Status listed = env.GetChildren(folder, &names);
  if (listed.IsNotFound()) return Ok();
  TRY(FromRocksDb(listed));
  std::vector<std::string> old;
  std::vector<std::string> dropped;  // includes files left by a killed process
  for (const std::string& name : names) {
    if (name.ends_with(kSuffix)) old.push_back(folder + "/" + name);
    if (name.ends_with(kDroppedSuffix)) dropped.push_back(folder + "/" + name);
  }
  if (!old.empty()) {
    const uint64_t first = first_needed();
    if (first != kNothingNeeded) old = TRY(FindUnneeded(db, first));
    TRY(SetAside(store, old));
    for (const std::string& path : old) dropped.push_back(path + std::string(kDroppedSuffix));
  }
  for (const std::string& path : dropped) {
    const rocksdb::Status deleted = env.DeleteFile(path);
    if (!deleted.IsNotFound()) TRY(FromRocksDb(deleted));
  }
  return Ok();
}

}  // namespace cairn
