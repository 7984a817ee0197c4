// SPDX-License-Identifier: BSD-3-Clause
//
// cairn-import: the keys of an RDB file go into a data directory that no server has open.
//
// Keys that are there already are replaced, all others stay. Nothing is logged on the way; the
// work is on the disk when the program says that it is done, and if it is ended before, the file
// is to be imported again.
#include <gflags/gflags.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "command/busy_scripts.h"
#include "command/conditions.h"
#include "replication/history.h"
#include "replication/rdb_disk.h"
#include "replication/rdb_file_reader.h"
#include "script/library_store.h"
#include "script/scripting.h"
#include "server/offline.h"
#include "server/progress_bar.h"
#include "storage/store.h"
#include "types/limits.h"

DEFINE_string(dir, "./data", "the data directory, made when it is missing");
DEFINE_int32(databases, 16, "how many databases the data directory has");
DEFINE_string(memory_budget, "", "the memory to use, as in the configuration file");
DEFINE_bool(checksum, true, "look at the file's checksum");

namespace {

using namespace cairn;

constexpr char kProgram[] = "cairn-import";

// What is imported is in no stream: a replica of this data must be sent all of it.
Status ForgetHistory(Store& store, Transaction& txn) {
  if (TRY(store.ReadNote(kHistoryRow)).empty()) return Ok();
  History history;
  history.id = DrawReplicationId();
  txn.PutNote(kHistoryRow, EncodeHistory(history));
  return txn.Commit(CommitMode::kWait);
}

// A library that does not compile, or names a function that another has, would keep the server from starting.
Status PutFunctions(Transaction& txn, const std::vector<std::string>& codes) {
  const std::atomic<int64_t> never_busy{0};
  const Conditions conditions;
  BusyScripts busy;
  Scripting scripting(never_busy, busy, conditions, [] { return false; });
  TRY(scripting.Load(TRY(ReadLibraryRows(txn))));
  txn.BeginCommand(Lane::kSlow, 0, false);
  TRY(LockLibraries(txn));
  const Status restored = RestoreLibraries(scripting, txn, codes, RestorePolicy::kReplace);
  if (!restored.ok()) {
    txn.AbandonCommand();
    txn.Discard();
    return Status::Error(restored.code(), "RDB file, its functions: " + std::string(restored.text()));
  }
  TRY(txn.FinishCommand());
  return txn.Commit(CommitMode::kNoLog);
}

Status Import(const std::string& path) {
  RdbInputFile file;
  TRY(file.Open(path));
  const std::unique_ptr<Store> store =
      TRY(OpenOffline({FLAGS_dir, FLAGS_databases, FLAGS_memory_budget}, true));
  const Limits limits;
  ProgressBar bar("importing", file.size(), "B");
  Transaction txn(*store, 1);
  RdbTarget target;
  target.databases = store->databases();
  target.commit = CommitMode::kNoLog;
  target.checksum = FLAGS_checksum;
  target.keyspace = [&](int db) { return Keyspace(txn, db, limits); };
  const RdbFileReader* shown = nullptr;
  target.on_progress = [&](uint64_t position) {
    bar.Show(position, std::to_string(shown->keys()) + " keys");
  };
  RdbFileReader reader(txn, std::move(target), file.source());
  shown = &reader;
  TRY(reader.Load());
  for (const std::string& warning : reader.warnings()) std::fprintf(stderr, "\n%s\n", warning.c_str());
  TRY(PutFunctions(txn, reader.functions()));
  TRY(ForgetHistory(*store, txn));
  TRY(store->Flush());
  bar.Finish(reader.position(), std::to_string(reader.keys()) + " keys");
  std::printf("%llu keys imported, %llu whose time had passed left out\n",
              static_cast<unsigned long long>(reader.keys()),
              static_cast<unsigned long long>(reader.expired()));
  return Ok();
}

}  // namespace

int main(int argc, char** argv) {
  gflags::SetUsageMessage("[--dir DIR] FILE\n\nPuts the keys of an RDB file (- for the standard input) into a "
                          "data directory of Cairn.");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (argc != 2) {
    std::fprintf(stderr, "Usage: %s %s\n", kProgram, gflags::ProgramUsage());
    return 2;
  }
  const Status done = Import(argv[1]);
  return done.ok() ? 0 : RefuseOffline(kProgram, done);
}
