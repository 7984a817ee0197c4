// SPDX-License-Identifier: BSD-3-Clause
#include "server/rdb_saves.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "replication/rdb_disk.h"
#include "replication/rdb_file_writer.h"
#include "script/library_store.h"
#include "server/server.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr std::string_view kInProgress = "ERR Background save already in progress";

}  // namespace

std::string RdbSaves::Path() const {
  return server_.config().Text("dir") + "/" + server_.config().Text("dbfilename");
}

Result<RdbSaves::Moment> RdbSaves::Begin() {
  const std::lock_guard lock(mutex_);
  if (running_) return Status::Reply(kInProgress);
  Moment moment{.changes_before = server_.store().counters().changes.load()};
  moment.snapshot = TRY(StoreSnapshot::Take(server_.store()));
  running_ = true;
  return moment;
}

Status RdbSaves::WriteFile(Transaction& txn, const StoreSnapshot& snapshot) {
  RdbFileOptions options;
  options.checksum = server_.config().Flag("rdbchecksum");
  options.folds = server_.config().Flag("rdbcompression");
  options.key_delay_us = server_.config().Number("rdb-key-save-delay");
  txn.ReadFrom(&snapshot);
  options.functions = TRY(ReadLibraryRows(txn));
  RdbOutputFile file(Path());
  TRY(file.Open());
  RdbFileWriter writer(txn, snapshot, server_.limits(), options, [&](std::string_view bytes) {
    return stopping_ ? Status::Io("the server is ending") : file.Write(bytes);
  });
  TRY(writer.Write());
  return file.Finish();
}

Status RdbSaves::Write(Moment moment) {
  SaveState& saves = server_.saves();
  ++saves.running;
  const std::unique_ptr<Transaction> txn = server_.MakeTransaction();
  Status status = WriteFile(*txn, *moment.snapshot);
  --saves.running;
  saves.last_ok = status.ok();
  if (status.ok()) {
    saves.last_unix_s = WallMs() / 1000;
    saves.changes_before = moment.changes_before;
    ++saves.count;
    Log(LogSeverity::kNotice, "DB saved on disk");
  } else {
    Log(LogSeverity::kWarning, "Saving the RDB file failed: " + std::string(status.text()));
  }
  const std::lock_guard lock(mutex_);
  running_ = false;
  return status;
}

Status RdbSaves::Save() {
  return Write(TRY(Begin()));
}

void RdbSaves::RunInBackground(Moment moment) {
  LowerPriority();
  static_cast<void>(Write(std::move(moment)).ok());  // the log and INFO say
  last_duration_s_ = (WallMs() - started_ms_) / 1000;
  in_background_ = false;
}

Status RdbSaves::StartInBackground() {
  Moment moment = TRY(Begin());
  if (thread_.joinable()) thread_.join();
  started_ms_ = WallMs();
  in_background_ = true;
  Log(LogSeverity::kNotice, "Background saving started");
  thread_ = StartThread("bgsave", [this, moment = std::move(moment)]() mutable { RunInBackground(std::move(moment)); });
  return Ok();
}

void RdbSaves::Stop() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

}  // namespace cairn
