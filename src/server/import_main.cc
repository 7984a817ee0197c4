// SPDX-License-Identifier: BSD-3-Clause
//
// cairn-import: loads the keys of an RDB file into a data directory that no server has open.
//
// Into a directory without keys the import is atomic: it fills staged keyspaces without a log, and one commit swaps
// them in. If the program ends before that, the directory is as empty as before. Into a directory with keys, it
// replaces keys one by one through the log, and keeps all others; if the program ends early, a part of the keys is
// loaded, and the file must be imported again. In both cases the keys are on the disk when the program reports success
// (docs/decisions/import.md).
#include <fmt/format.h>
#include <gflags/gflags.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "command/busy_scripts.h"
#include "command/conditions.h"
#include "encoding/storage_mode.h"
#include "rdb/rdb_disk.h"
#include "replication/rdb_file_reader.h"
#include "replication/reload.h"
#include "script/library_store.h"
#include "script/scripting.h"
#include "server/offline.h"
#include "server/progress_bar.h"
#include "server/tool_flags.h"
#include "storage/format.h"
#include "storage/store.h"
#include "types/limits.h"

DEFINE_string(dir, "./data", "the data directory, made when it is missing");
DEFINE_int32(databases, 16, "how many databases the data directory has, 1 to 65535");
DEFINE_string(memory_budget, "", "the memory to use, as in the configuration file");
DEFINE_bool(checksum, true, "look at the file's checksum");

namespace {

using namespace cairn;

constexpr char kProgram[] = "cairn-import";

// Checks the library: one that does not compile or redefines another's function would keep the server from starting.
Status PutFunctions(Transaction& txn, Scripting& scripting, const std::vector<std::string>& codes) {
  const Status restored = RestoreLibraries(scripting, txn, codes, RestorePolicy::kReplace);
  if (restored.ok()) return Ok();
  return Status::Error(restored.code(), "functions of the RDB file: " + std::string(restored.text()));
}

// The last commit: stores the functions, ends the replication stream, and swaps the staged keyspaces in. The first
// start of a server may have been interrupted while it loaded an RDB file; the next start must not load that file in
// place of this one.
Status Finish(Store& store, Transaction& txn, const std::vector<std::string>& functions) {
  const std::atomic<int64_t> never_busy{0};
  const Conditions conditions;
  BusyScripts busy;
  Scripting scripting(
      never_busy, busy, conditions, [] { return false; }, ScriptMemory::ShareOf(DefaultMemoryBudget()));
  TRY(scripting.Load(TRY(ReadLibraryRows(txn))));
  TRY(BeginAlone(txn, 0));
  TRY(PutFunctions(txn, scripting, functions));
  txn.on_commit().PutNote(kHistoryRow, "");  // no stream has the imported keys
  txn.on_commit().PutNote(kUnreadRow, "");
  if (store.databases().is_staging()) txn.databases().AdoptStaged();
  TRY(txn.FinishCommand());
  TRY(txn.Commit(CommitMode::kWait));
  return store.log().Sync();
}

// An error if the keys of the database would end with this process.
Result<bool> IsOnDisk(const DatabaseTable& databases, int db) {
  const StorageMode mode = databases.is_staging() ? databases.mode(db) : ModeOfKeyspace(databases[db].keyspace);
  if (mode != StorageMode::kMemory) return true;
  return Status::Io(fmt::format(
      "the file has keys of database {0}, which this directory keeps in memory: start a server on it once with "
      "`database {0} storage-mode ssd`, or load the file into another directory",
      db));
}

Status LoadFile(Store& store, RdbInputFile& file) {
  const Limits limits;
  ProgressBar bar("importing", file.size(), "B");
  Transaction txn(store, 1);
  if (store.was_empty()) TRY(store.staging().Begin(txn));
  const bool is_staged = store.databases().is_staging();
  RdbTarget target;
  target.databases = store.databases().size();
  target.commit = is_staged ? CommitMode::kNoLog : CommitMode::kWait;
  target.checksum = FLAGS_checksum;
  target.keyspace = [&](int db) {
    return is_staged ? Keyspace::ById(txn, store.databases().staged(db), limits) : Keyspace(txn, db, limits);
  };
  target.wants = [&](int db) { return IsOnDisk(store.databases(), db); };
  const RdbFileReader* shown = nullptr;
  target.on_progress = [&](uint64_t position) { bar.Show(position, std::to_string(shown->keys()) + " keys"); };
  RdbFileReader reader(txn, std::move(target), file.source());
  shown = &reader;
  TRY(reader.Load());
  for (const std::string& warning : reader.warnings()) std::fprintf(stderr, "\n%s\n", warning.c_str());
  TRY(store.engine().Flush());
  TRY(Finish(store, txn, reader.functions()));
  bar.Finish(reader.position(), std::to_string(reader.keys()) + " keys");
  std::printf("%llu keys imported, %llu whose time had passed left out\n",
              static_cast<unsigned long long>(reader.keys()), static_cast<unsigned long long>(reader.expired()));
  return Ok();
}

Status Import(const std::string& path) {
  constexpr int kMostDatabases = 65535;
  if (FLAGS_databases < 1 || FLAGS_databases > kMostDatabases) return Status::Io("--databases must be 1 to 65535");
  RdbInputFile file;
  TRY(file.Open(path));
  const std::unique_ptr<Store> store =
      TRY(OpenOffline({FLAGS_dir, FLAGS_databases, FLAGS_memory_budget}, OfflineUse::kImport));
  Status loaded = LoadFile(*store, file);
  if (loaded.ok() || store->recovery().writable()) return loaded;
  // RocksDB cannot be closed while it tries to recover (storage/recovery.h).
  std::_Exit(RefuseOffline(kProgram, Status::Io("cannot write " + FLAGS_dir + ": " + store->recovery().write_error())));
}

}  // namespace

int main(int argc, char** argv) {
  ParseToolFlags(
      "[--dir DIR] FILE\n\nPuts the keys of an RDB file (- for the standard input) into a "
      "data directory of Cairn.",
      2, argc, argv);
  if (argc != 2) {
    ShowUsage(kProgram);
    return 2;
  }
  const Status done = Import(argv[1]);
  return done.ok() ? 0 : RefuseOffline(kProgram, done);
}
