// SPDX-License-Identifier: BSD-3-Clause
#include "replication/saving.h"

#include <memory>

#include "base/clock.h"
#include "base/log.h"
#include "client/client_pause.h"
#include "replication/memory_database_saves.h"
#include "replication/rdb_saves.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr int64_t kLongestSaveMs = int64_t{24} * 60 * 60 * 1000;  // writes resume at its end anyway
constexpr int64_t kMostWaitForCommitsMs = 1000;

bool SavesMemoryDatabases(const ShutdownSaves& saves, const ShutdownOptions& options) {
  return !options.no_save && !options.force && saves.memory_databases.HasUnsaved();
}

// The wait makes it likely that nothing changes after the save. A signal has to end an endless script, so the wait is
// short.
Status SaveMemoryDatabases(const ShutdownSaves& saves) {
  const auto txn = std::make_unique<Transaction>(saves.store);
  if (BeginAloneWithin(*txn, kMostWaitForCommitsMs).ok()) txn->Discard();
  return saves.memory_databases.SaveAtEnd();
}

Status SaveFiles(const ShutdownSaves& saves, const ShutdownOptions& options) {
  if (options.save) {
    TRY(AwaitCommits(saves.store));
    TRY(saves.rdb.SaveAtEnd());
  }
  return SavesMemoryDatabases(saves, options) ? SaveMemoryDatabases(saves) : Ok();
}

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

bool SavesBeforeShutdown(const ShutdownSaves& saves, const ShutdownOptions& options) {
  return options.save || SavesMemoryDatabases(saves, options);
}

Status SaveBeforeShutdown(const ShutdownSaves& saves, ShutdownOptions& options) {
  if (!SavesBeforeShutdown(saves, options)) return Ok();
  const int64_t now_ms = MonotonicMs();
  Log(LogSeverity::kNotice, "Saving the final RDB snapshot before exiting.");
  saves.pause.Begin(ClientPause::Purpose::kShutdown, ClientPause::Mode::kWrites, now_ms, now_ms + kLongestSaveMs);
  if (SaveFiles(saves, options).ok()) return Ok();
  if (options.force) {
    Log(LogSeverity::kWarning, "Error trying to save the DB. Exit anyway.");
    options.save = false;
    return Ok();
  }
  Log(LogSeverity::kWarning, "Error trying to save the DB, can't exit.");
  saves.pause.End(ClientPause::Purpose::kShutdown);
  return Status::Reply("ERR Errors trying to SHUTDOWN. Check logs.");
}

}  // namespace cairn
