// SPDX-License-Identifier: BSD-3-Clause
#include "storage/unreplayed_logs.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/transaction_log.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "storage/slice.h"

namespace cairn {
namespace {

Status Delete(rocksdb::DB& db, const std::string& name) {
  Log(LogSeverity::kWarning, "storage: deleting {}: the end of a log is torn or damaged, and this one may be behind it",
      name);
  return FromRocksDb(db.GetEnv()->DeleteFile(db.GetName() + name));
}

Status DeleteOldLogs(rocksdb::DB& db) {
  std::vector<std::string> names;
  const rocksdb::Status listed = db.GetEnv()->GetChildren(db.GetName() + "/archive", &names);
  if (listed.IsNotFound()) return Ok();
  TRY(FromRocksDb(listed));
  for (const std::string& name : names) {
    if (name.ends_with(".log")) TRY(Delete(db, "/archive/" + name));
  }
  return Ok();
}

}  // namespace

Status DropUnreplayedLogs(rocksdb::DB& db, bool is_damaged) {
  rocksdb::VectorLogPtr logs;
  const rocksdb::Status listed = db.GetSortedWalFiles(logs);
  if (is_damaged || listed.IsCorruption()) return DeleteOldLogs(db);
  TRY(FromRocksDb(listed));
  // A log that begins with the next number was replayed, or is the new one: it begins with an empty record then.
  const uint64_t next = db.GetLatestSequenceNumber() + 1;
  for (const auto& log : logs) {
    if (log->StartSequence() > next) TRY(Delete(db, log->PathName()));
  }
  return Ok();
}

}  // namespace cairn
