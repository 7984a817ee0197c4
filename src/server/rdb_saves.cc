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

Status RdbSaves::Begin() {
  const std::lock_guard lock(mutex_);
  if (running_) return Status::Reply(kInProgress);
  running_ = true;
  return Ok();
}

Status RdbSaves::WriteFile(Transaction& txn) {
  RdbFileOptions options;
  options.checksum = server_.config().Flag("rdbchecksum");
  options.folds = server_.config().Flag("rdbcompression");
  options.key_delay_us = server_.config().Number("rdb-key-save-delay");
  options.functions = TRY(ReadLibraryRows(txn));
  RdbOutputFile file(Path());
  TRY(file.Open());
  const std::unique_ptr<StoreSnapshot> snapshot = TRY(StoreSnapshot::Take(server_.store()));
  RdbFileWriter writer(txn, *snapshot, server_.limits(), options, [&](std::string_view bytes) {
    return stopping_ ? Status::Io("the server is ending") : file.Write(bytes);
  });
  TRY(writer.Write());
  return file.Finish();
}

Status RdbSaves::Write() {
  SaveState& saves = server_.saves();
  const uint64_t changes_before = server_.store().counters().changes.load();
  ++saves.running;
  const std::unique_ptr<Transaction> txn = server_.MakeTransaction();
  Status status = WriteFile(*txn);
  --saves.running;
  saves.last_ok = status.ok();
  if (status.ok()) {
    saves.last_unix_s = WallMs() / 1000;
    saves.changes_before = changes_before;
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
  TRY(Begin());
  return Write();
}

void RdbSaves::RunInBackground() {
  static_cast<void>(Write().ok());  // the log and INFO say
  last_duration_s_ = (WallMs() - started_ms_) / 1000;
  in_background_ = false;
}

Status RdbSaves::StartInBackground() {
  TRY(Begin());
  if (thread_.joinable()) thread_.join();
  started_ms_ = WallMs();
  in_background_ = true;
  Log(LogSeverity::kNotice, "Background saving started");
  thread_ = StartThread("bgsave", [this] { RunInBackground(); });
  return Ok();
}

void RdbSaves::Stop() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

}  // namespace cairn
