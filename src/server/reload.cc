// SPDX-License-Identifier: BSD-3-Clause
#include "server/reload.h"

#include <filesystem>

#include "base/clock.h"
#include "base/log.h"
#include "replication/rdb_disk.h"
#include "replication/rdb_file_reader.h"
#include "server/server.h"
#include "storage/store.h"

namespace cairn {
namespace {

// There while the RDB file of a new directory is still to be read (docs/format.md, section 6).
constexpr std::string_view kUnreadRow = "rdb/unread";

bool HasAppendOnlyFile(const Config& config) {
  const std::string dir = config.Text("dir") + "/";
  for (const std::string_view name : {"appenddirname", "appendfilename"}) {
    const std::string path = dir + config.Text(name);
    if (!std::filesystem::exists(path)) continue;
    Log(LogSeverity::kWarning, "The data directory has " + path +
                                   ", which Cairn does not read, and may have newer data than the RDB file beside it; "
                                   "neither was loaded. Let redis-server load it and SAVE, or move it away.");
    return true;
  }
  return false;
}

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

Status ReadFirstRdbFile(Server& server, bool is_new) {
  Store& store = server.store();
  const bool was_interrupted = !TRY(store.ReadNote(kUnreadRow)).empty();
  if (!is_new && !was_interrupted) return Ok();
  const std::unique_ptr<Transaction> txn = server.MakeTransaction();
  const std::string path = server.rdb_saves().Path();
  const bool is_wanted = std::filesystem::exists(path) && !HasAppendOnlyFile(server.config());
  txn->PutNote(kUnreadRow, is_wanted ? "1" : "");
  TRY(txn->Commit(CommitMode::kSync));
  if (!is_wanted) return Ok();
  Log(LogSeverity::kNotice, "The data directory is new and has an RDB file: loading " + path);
  RdbInputFile file;
  TRY(file.Open(path));
  ReloadOptions options;
  options.before_adopting = [](const Reloaded&, Transaction& last) {
    last.PutNote(kUnreadRow, "");
    return Ok();
  };
  auto loaded = ReplaceDataset(server, *txn, file.source(), options);
  if (!loaded.ok()) {
    return Status::Io(path + ": " + std::string(loaded.status().text()) +
                      ". Nothing was loaded; move the file away to start without it. "
                      "Terminating server after rdb file reading failure.");
  }
  Log(LogSeverity::kNotice, "DB loaded from disk: " + std::to_string(loaded->keys) + " keys, " +
                                std::to_string(loaded->expired) + " whose time had passed left out");
  return Ok();
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
