// SPDX-License-Identifier: BSD-3-Clause
#include "storage/old_logs.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/transaction_log.h>

#include <string>
#include <string_view>
#include <vector>

#include "storage/store.h"

namespace cairn {
namespace {

constexpr std::string_view kSuffix = ".log";

Status DeleteLog(rocksdb::Env& env, const std::string& path) {
  const rocksdb::Status deleted = env.DeleteFile(path);
  return deleted.IsNotFound() ? Ok() : FromRocksDb(deleted);
}

}  // namespace

Status DropOldLogs(Store& store, const FirstNeeded& first_needed) {
  rocksdb::DB& db = store.db();
  rocksdb::Env& env = *db.GetEnv();
  const std::string folder = db.GetName() + "/archive";
  std::vector<std::string> names;
  const rocksdb::Status listed = env.GetChildren(folder, &names);
  if (listed.IsNotFound()) return Ok();
  TRY(FromRocksDb(listed));
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(kSuffix); });
  if (names.empty()) return Ok();
  const uint64_t first = first_needed();
  if (first == kNothingNeeded) {
    for (const std::string& name : names) TRY(DeleteLog(env, folder + "/" + name));
    return Ok();
  }
  rocksdb::VectorLogPtr logs;  // oldest first
  TRY(FromRocksDb(db.GetSortedWalFiles(logs)));
  for (size_t i = 0; i + 1 < logs.size() && logs[i + 1]->StartSequence() <= first; ++i) {
    if (logs[i]->Type() != rocksdb::kArchivedLogFile) break;
    TRY(DeleteLog(env, db.GetName() + logs[i]->PathName()));
  }
  return Ok();
}

}  // namespace cairn
