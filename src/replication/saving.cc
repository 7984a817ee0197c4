// SPDX-License-Identifier: BSD-3-Clause
#include "replication/saving.h"

#include "base/clock.h"
#include "base/log.h"
#include "client/client_pause.h"
#include "replication/rdb_saves.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr int64_t kLongestSaveMs = int64_t{24} * 60 * 60 * 1000;  // writes resume at its end anyway

}  // namespace

Status SaveEverything(Store& store, SaveState& saves) {
  const uint64_t changes_before = store.counters().changes.load();
  ++saves.running;
  Status status = store.log().Sync();
  if (status.ok()) status = store.engine().Flush();
  --saves.running;
  saves.last_ok = status.ok();
  if (status.ok()) {
    saves.last_unix_s = WallMs() / 1000;
    saves.changes_before = changes_before;
    ++saves.count;
  }
  return status;
}

Status AwaitCommits(Store& store) {
  const std::unique_ptr<Transaction> txn = std::make_unique<Transaction>(store);
  TRY(BeginAlone(*txn, WallMs()));
  txn->Discard();
  return Ok();
}

Status SaveBeforeShutdown(Store& store, ClientPause& pause, RdbSaves& rdb_saves, ShutdownOptions& options) {
  const int64_t now_ms = MonotonicMs();
  Log(LogSeverity::kNotice, "Saving the final RDB snapshot before exiting.");
  pause.Begin(ClientPause::Purpose::kShutdown, ClientPause::Mode::kWrites, now_ms, now_ms + kLongestSaveMs);
  Status saved = AwaitCommits(store);
  if (saved.ok()) saved = rdb_saves.SaveAtEnd();
  if (saved.ok()) return Ok();
  if (options.force) {
    Log(LogSeverity::kWarning, "Error trying to save the DB. Exit anyway.");
    options.save = false;
    return Ok();
  }
  Log(LogSeverity::kWarning, "Error trying to save the DB, can't exit.");
  pause.End(ClientPause::Purpose::kShutdown);
  return Status::Reply("ERR Errors trying to SHUTDOWN. Check logs.");
}

}  // namespace cairn
