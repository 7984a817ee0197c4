// SPDX-License-Identifier: BSD-3-Clause
#include "replication/reload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/clock.h"
#include "base/log.h"
#include "base/remove_file.h"
#include "client/notifier.h"
#include "command/conditions.h"
#include "config/config.h"
#include "rdb/rdb_disk.h"
#include "replication/rdb_file_reader.h"
#include "replication/rdb_saves.h"
#include "replication/saving.h"
#include "storage/format.h"

namespace cairn {
namespace {

bool HasAppendOnlyFile(const Config& config) {
  const std::string dir = config.Text("dir") + "/";
  for (const std::string_view name : {"appenddirname", "appendfilename"}) {
    const std::string path = dir + config.Text(name);
    if (!std::filesystem::exists(path)) continue;
    Log(LogSeverity::kWarning,
        "The data directory has {}, which Cairn cannot read. It may be newer than the RDB file beside it, so neither "
        "was loaded. Load it in redis-server and SAVE, or move it away.",
        path);
    return true;
  }
  return false;
}

// Sets the condition "loading" while it exists.
class LoadingMark {
 public:
  explicit LoadingMark(Conditions& conditions) : conditions_(conditions) { conditions_.Set(kLoadingData, true); }
  ~LoadingMark() { conditions_.Set(kLoadingData, false); }
  LoadingMark(const LoadingMark&) = delete;
  LoadingMark& operator=(const LoadingMark&) = delete;

 private:
  Conditions& conditions_;
};

Result<Reloaded> Load(Transaction& txn, RdbTarget target, RdbSource source) {
  RdbFileReader reader(txn, std::move(target), std::move(source));
  TRY(reader.Load());
  for (const std::string& warning : reader.warnings()) Log(LogSeverity::kWarning, "RDB file: {}", warning);
  return Reloaded{reader.keys(), reader.expired(), reader.aux(), reader.functions()};
}

RdbTarget TargetOf(const DatasetParts& parts) {
  RdbTarget target;
  target.databases = parts.store.databases().size();
  target.checksum = parts.config.Flag("rdbchecksum");
  return target;
}

// A staging begun by this thread; it ends in the destructor unless it was adopted.
class OwnStaging {
 public:
  explicit OwnStaging(Store& store) : store_(store) {}
  ~OwnStaging() {
    if (!is_adopted_) store_.staging().End();
  }
  OwnStaging(const OwnStaging&) = delete;
  OwnStaging& operator=(const OwnStaging&) = delete;
  void NoteAdopted() { is_adopted_ = true; }

 private:
  Store& store_;
  bool is_adopted_ = false;
};

// The new data set is visible already, so a failure is only logged.
void SyncAdopted(Store& store) {
  const Status synced = store.log().Sync();
  if (synced.ok()) return;
  Log(LogSeverity::kWarning,
      "storage: the log could not be synced after a data set was loaded; a power loss may restore the previous one: {}",
      synced.text());
}

// Clients that track keys hold copies of a data set that is about to be replaced.
void NotifyAllChanged(Transaction& txn) {
  if (txn.replicated_commands().interest() & kInterestInKeys)
    txn.notifications().Add({NotificationKind::kAllChanged, {}, {}});
}

Result<Reloaded> LoadStaged(const DatasetParts& parts, Transaction& txn, RdbSource source,
                            const ReloadOptions& options) {
  Store& store = parts.store;
  TRY(store.staging().Begin(txn));
  OwnStaging staging(store);
  RdbTarget target = TargetOf(parts);
  // Rows that are not adopted are garbage, and adopted rows are flushed first, so they need no log. But a log that is
  // used for replication must have no gaps.
  const bool is_read = !options.before_adopting && options.log_is_read;
  target.commit = is_read ? CommitMode::kWait : CommitMode::kNoLog;
  target.keeps_expired = options.keeps_expired;
  target.on_progress = options.on_progress;
  target.keyspace = [&](int db) { return Keyspace::ById(txn, store.databases().staged(db), parts.config.limits()); };
  Reloaded reloaded = TRY(Load(txn, std::move(target), std::move(source)));
  TRY(store.engine().Flush());
  TRY(BeginAlone(txn, WallMs()));
  TRY(RestoreLibraries(parts.scripting, txn, reloaded.functions, RestorePolicy::kFlush));
  if (options.before_adopting) TRY(options.before_adopting(reloaded, txn));
  txn.on_commit().NoteExpiry(0);  // rows may have expired while no round looked at them
  txn.databases().AdoptStaged();
  NotifyAllChanged(txn);
  TRY(txn.FinishCommand());
  TRY(txn.Commit(CommitMode::kWait));
  staging.NoteAdopted();
  SyncAdopted(store);
  parts.notifier.Deliver(txn);
  return reloaded;
}

}  // namespace

Result<Reloaded> ReplaceDataset(const DatasetParts& parts, Transaction& txn, RdbSource source,
                                const ReloadOptions& options) {
  Result<Reloaded> reloaded = LoadStaged(parts, txn, std::move(source), options);
  if (!reloaded.ok()) {
    txn.AbandonCommand();
    txn.Discard();
  }
  return reloaded;
}

namespace {

// The keyspaces for this server's databases. The sender may have more databases, if these have no keys, or fewer.
Result<std::vector<KeyspaceId>> KeyspacesFor(Store& store, const RowNumbers& first, const FilesContent& content,
                                             RowNumbers& next) {
  const std::vector<RowFilesContent::Db>& sent = content.rows.databases;
  const auto databases = static_cast<size_t>(store.databases().size());
  const size_t keyspaces_end = first.keyspace + std::max(sent.size(), databases);
  if (keyspaces_end > kKeyspacesEnd) return Status::Io("no ids are left for the received keyspaces");
  next = {static_cast<KeyspaceId>(keyspaces_end), content.rows.collections_end};
  if (next.collection < first.collection) return Status::Corruption("the collection ids end before they begin");
  std::vector<KeyspaceId> keyspaces;
  std::vector<bool> is_taken(sent.size());
  for (size_t db = 0; db < sent.size(); ++db) {
    const KeyspaceId place = sent[db].keyspace - first.keyspace;
    const bool is_known = sent[db].keyspace >= first.keyspace && place < sent.size() && !is_taken[place];
    if (!is_known) return Status::Corruption("a keyspace id is out of range or used twice");
    is_taken[place] = true;
    if (db < databases) keyspaces.push_back(sent[db].keyspace);
    if (db >= databases && sent[db].keys != 0) return Status::Io("the data has keys in databases beyond `databases`");
  }
  while (keyspaces.size() < databases) {
    keyspaces.push_back(first.keyspace + static_cast<KeyspaceId>(keyspaces.size()));
  }
  return keyspaces;
}

Result<uint64_t> AdoptStagedFiles(const DatasetParts& parts, Transaction& txn, std::span<const RowFile> files,
                                  const RowNumbers& first, const FilesContent& content,
                                  const std::function<Status(Transaction& txn)>& before_adopting) {
  Store& store = parts.store;
  RowNumbers next;
  const std::vector<KeyspaceId> keyspaces = TRY(KeyspacesFor(store, first, content, next));
  const RowCache::Departures departures = TRY(store.staging().Begin(txn, keyspaces, first, next));
  OwnStaging staging(store);
  TRY(TakeInRowFiles(store, files));
  const bool all_cached = TRY(store.staging().Cache(first, next));
  TRY(BeginAlone(txn, WallMs()));
  TRY(RestoreLibraries(parts.scripting, txn, content.functions, RestorePolicy::kFlush));
  uint64_t keys = 0;
  for (size_t db = 0; db < std::min(keyspaces.size(), content.rows.databases.size()); ++db) {
    txn.databases().AddKeys(keyspaces[db], content.rows.databases[db].keys);
    keys += static_cast<uint64_t>(content.rows.databases[db].keys);
  }
  txn.on_commit().NoteExpiry(0);  // any row may have expired
  TRY(before_adopting(txn));
  txn.databases().AdoptStaged();
  store.cache().NoteUnknownRows();
  NotifyAllChanged(txn);
  TRY(txn.FinishCommand());
  TRY(txn.Commit(CommitMode::kWait));
  staging.NoteAdopted();
  SyncAdopted(store);
  parts.notifier.Deliver(txn);
  if (all_cached) store.cache().NoteAllRows(departures);
  return keys;
}

}  // namespace

Result<uint64_t> AdoptRowFiles(const DatasetParts& parts, Transaction& txn, std::span<const RowFile> files,
                               const RowNumbers& first, const FilesContent& content,
                               const std::function<Status(Transaction& txn)>& before_adopting) {
  Result<uint64_t> keys = AdoptStagedFiles(parts, txn, files, first, content, before_adopting);
  if (!keys.ok()) {
    txn.AbandonCommand();
    txn.Discard();
  }
  return keys;
}

Result<std::unique_ptr<Store>> OpenWithRoom(const StoreOptions& options) {
  Result<std::unique_ptr<Store>> store = Store::Open(options);
  if (store.ok()) return store;
  const std::string_view text = store.status().text();
  const auto says = [text](int error) { return text.find(std::strerror(error)) != std::string_view::npos; };
  if (!says(ENOSPC) && !says(EDQUOT)) return store;
  Log(LogSeverity::kWarning,
      "storage: {}. The files of first transfers of replication are deleted to make room; they will be sent again.",
      text);
  for (const char* folder : {"/sync-received", "/sync-sent"}) RemoveFolder(options.dir + folder);
  return Store::Open(options);
}

Status ReadFirstRdbFile(const DatasetParts& parts, const std::string& path, bool is_new) {
  Store& store = parts.store;
  const bool was_interrupted = !TRY(store.ReadNote(kUnreadRow)).empty();
  if (!is_new && !was_interrupted) return Ok();
  const std::unique_ptr<Transaction> txn = std::make_unique<Transaction>(parts.store);
  std::error_code error;                                                // no file
  const bool has_file = std::filesystem::is_regular_file(path, error);  // `dbfilename ""` names the directory
  const bool is_wanted = store.was_empty() && has_file && !HasAppendOnlyFile(parts.config);
  txn->on_commit().PutNote(kUnreadRow, is_wanted ? "1" : "");
  TRY(txn->Commit(CommitMode::kWait));
  TRY(store.log().Sync());
  if (!is_wanted) return Ok();
  Log(LogSeverity::kNotice, "The data directory is new and has an RDB file: loading {}", path);
  RdbInputFile file;
  TRY(file.Open(path));
  ReloadOptions options;
  options.before_adopting = [](const Reloaded&, Transaction& last) {
    last.on_commit().PutNote(kUnreadRow, "");
    return Ok();
  };
  auto loaded = ReplaceDataset(parts, *txn, file.source(), options);
  if (!loaded.ok()) {
    return Status::Io(fmt::format(
        "{}: {}. Nothing was loaded. To start without the file, move it away. Terminating server after rdb file "
        "reading failure.",
        path, loaded.status().text()));
  }
  Log(LogSeverity::kNotice, "DB loaded from disk: {} keys, {} expired keys skipped", loaded->keys, loaded->expired);
  return Ok();
}

Status LoadRdbFile(const DatasetParts& parts, const RdbFileLoad& load) {
  const LoadingMark mark(parts.conditions);
  RdbInputFile file;
  TRY(file.Open(load.path));
  const std::unique_ptr<Transaction> txn = std::make_unique<Transaction>(parts.store);
  if (!load.merges) {
    TRY(ReplaceDataset(parts, *txn, file.source(), {.log_is_read = load.log_is_read}));
    return Ok();
  }
  RdbTarget target = TargetOf(parts);
  target.keyspace = [&](int db) { return Keyspace(*txn, db, parts.config.limits()); };
  const Reloaded loaded = TRY(Load(*txn, std::move(target), file.source()));
  txn->BeginCommand(Lane::kSlow, WallMs(), false);
  TRY(LockLibraries(*txn));
  TRY(RestoreLibraries(parts.scripting, *txn, loaded.functions, load.functions));
  TRY(txn->FinishCommand());
  return txn->Commit(CommitMode::kWait);
}

Status SaveAndReload(const DatasetParts& parts, RdbSaves& rdb_saves, bool log_is_read) {
  const LoadingMark mark(parts.conditions);
  // Waits for the writers that were admitted before the condition was set.
  TRY(AwaitCommits(parts.store));
  TRY(rdb_saves.Save());
  return LoadRdbFile(parts, {.path = rdb_saves.Path(), .log_is_read = log_is_read});
}

}  // namespace cairn
