// SPDX-License-Identifier: BSD-3-Clause
#include "server/reload.h"

#include "base/clock.h"
#include "base/log.h"
#include "replication/rdb_disk.h"
#include "replication/rdb_file_reader.h"
#include "server/server.h"
#include "storage/store.h"

namespace cairn {
namespace {

// Others are told that the server is loading, for as long as this lives.
class LoadingMark {
 public:
  explicit LoadingMark(Server& server) : server_(server) { server_.conditions().Set(kLoadingData, true); }
  ~LoadingMark() { server_.conditions().Set(kLoadingData, false); }
  LoadingMark(const LoadingMark&) = delete;
  LoadingMark& operator=(const LoadingMark&) = delete;

 private:
  Server& server_;
};

Result<Reloaded> Load(Transaction& txn, RdbTarget target, RdbSource source) {
  RdbFileReader reader(txn, std::move(target), std::move(source));
  TRY(reader.Load());
  for (const std::string& warning : reader.warnings()) Log(LogSeverity::kWarning, "RDB file: " + warning);
  return Reloaded{reader.keys(), reader.expired(), reader.aux(), reader.functions()};
}

RdbTarget TargetOf(Server& server) {
  RdbTarget target;
  target.databases = server.store().databases();
  target.checksum = server.config().Flag("rdbchecksum");
  return target;
}

Result<Reloaded> LoadStaged(Server& server, Transaction& txn, RdbSource source, const ReloadOptions& options) {
  Store& store = server.store();
  TRY(store.BeginStaging(txn));
  RdbTarget target = TargetOf(server);
  // What is not adopted is garbage anyway; what is adopted is flushed first. But a log that is read must have no gaps.
  const bool is_read = !options.before_adopting && server.replication().log().logs();
  target.commit = is_read ? CommitMode::kWait : CommitMode::kNoLog;
  target.keeps_expired = options.keeps_expired;
  target.on_progress = options.on_progress;
  target.keyspace = [&](int db) { return Keyspace::ById(txn, store.staged_keyspace(db), server.limits()); };
  Reloaded reloaded = TRY(Load(txn, std::move(target), std::move(source)));
  TRY(store.Flush());
  txn.BeginCommand(Lane::kSlow, WallMs(), false);
  TRY(txn.LockAll());
  TRY(RestoreLibraries(server.scripting(), txn, reloaded.functions, RestorePolicy::kFlush));
  if (options.before_adopting) TRY(options.before_adopting(reloaded, txn));
  txn.AdoptStaged();
  TRY(txn.FinishCommand());
  TRY(txn.Commit(CommitMode::kSync));
  return reloaded;
}

}  // namespace

Result<Reloaded> ReplaceDataset(Server& server, Transaction& txn, RdbSource source,
                                const ReloadOptions& options) {
  Result<Reloaded> reloaded = LoadStaged(server, txn, std::move(source), options);
  if (!reloaded.ok()) {
    txn.AbandonCommand();
    txn.Discard();
    server.store().EndStaging();
  }
  return reloaded;
}

Status LoadRdbFile(Server& server, bool merges, RestorePolicy functions) {
  const LoadingMark mark(server);
  RdbInputFile file;
  TRY(file.Open(server.rdb_saves().Path()));
  const std::unique_ptr<Transaction> txn = server.MakeTransaction();
  if (!merges) {
    TRY(ReplaceDataset(server, *txn, file.source(), {}));
    return Ok();
  }
  RdbTarget target = TargetOf(server);
  target.keyspace = [&](int db) { return Keyspace(*txn, db, server.limits()); };
  const Reloaded loaded = TRY(Load(*txn, std::move(target), file.source()));
  txn->BeginCommand(Lane::kSlow, WallMs(), false);
  TRY(LockLibraries(*txn));
  TRY(RestoreLibraries(server.scripting(), *txn, loaded.functions, functions));
  TRY(txn->FinishCommand());
  return txn->Commit(CommitMode::kWait);
}

Status SaveAndReload(Server& server) {
  const LoadingMark mark(server);
  // Whoever was let in before the mark is done once every key could be had.
  const std::unique_ptr<Transaction> txn = server.MakeTransaction();
  txn->BeginCommand(Lane::kSlow, WallMs(), false);
  TRY(txn->LockAll());
  txn->Discard();
  TRY(server.rdb_saves().Save());
  return LoadRdbFile(server, false);
}

}  // namespace cairn
