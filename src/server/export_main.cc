// SPDX-License-Identifier: BSD-3-Clause
//
// cairn-export: writes the keys of a data directory, which no server has open, to an RDB file that redis-server 7.0 and
// later load. On a running server, BGSAVE writes the same file, with the keys that a node of a cluster hides. Valkey
// does not know Redis's hashes with fields that expire; the file for Valkey has them in its own form.
#include <gflags/gflags.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "base/hash.h"
#include "base/words.h"
#include "cluster/unserved_slots.h"
#include "rdb/rdb_disk.h"
#include "replication/rdb_file_writer.h"
#include "script/library_store.h"
#include "server/offline.h"
#include "server/progress_bar.h"
#include "server/tool_flags.h"
#include "storage/store.h"
#include "types/limits.h"

DEFINE_string(dir, "./data", "the data directory");
DEFINE_string(memory_budget, "", "the memory to use, as in the configuration file");
DEFINE_bool(checksum, true, "put a checksum at the end of the file");
DEFINE_bool(compression, true, "compress long texts");
DEFINE_bool(valkey, false, "write a file for Valkey 9.0 and later, which Redis refuses");

namespace {

using namespace cairn;

constexpr char kProgram[] = "cairn-export";
constexpr int kFewestDatabases = 1;  // opens the store without adding databases; the snapshot has all that exist

void Warn(const KeyCount& keys, const char* what, const char* effect) {
  if (keys.count == 0) return;
  std::fprintf(stderr, "%s: %llu %s, the first of them %s: %s\n", kProgram, static_cast<unsigned long long>(keys.count),
               what, ShowWord(keys.first).c_str(), effect);
}

// Names what other servers will refuse.
void WarnOfRefusals(const RdbFileWriter& writer) {
  if (!FLAGS_valkey) {
    Warn(writer.hashes_with_times(), "hashes have fields that expire",
         "Redis before 7.4 refuses the file, and so does Valkey, for which --valkey is");
  }
  Warn(writer.keys_of_own_types(), "keys are JSON values, filters or sketches", "only Cairn reads the file");
}

Status Export(const std::string& path) {
  const std::unique_ptr<Store> store =
      TRY(OpenOffline({FLAGS_dir, kFewestDatabases, FLAGS_memory_budget}, OfflineUse::kExport));
  const Limits limits;
  const std::unique_ptr<StoreSnapshot> snapshot = TRY(StoreSnapshot::Take(*store, SnapshotDatabases::kAll));
  RdbOutputFile file(path);
  TRY(file.Open());
  ProgressBar bar("exporting", static_cast<uint64_t>(snapshot->AllKeys()), "keys");
  Transaction txn(*store, 1);
  RdbFileOptions options;
  options.checksum = FLAGS_checksum;
  options.folds = FLAGS_compression;
  options.dialect = FLAGS_valkey ? RdbDialect::kValkey : RdbDialect::kRedis;
  options.functions = TRY(ReadLibraryRows(txn));
  const SlotSet unserved = TRY(ReadUnservedSlots(*store, FLAGS_dir + "/nodes.conf"));
  if (!unserved.empty()) options.leaves_out = [&unserved](std::string_view key) { return unserved.Has(KeySlot(key)); };
  options.on_progress = [&bar](uint64_t keys) { bar.Show(keys, ""); };
  RdbFileWriter writer(txn, *snapshot, limits, options, [&file](std::string_view bytes) { return file.Write(bytes); });
  TRY(writer.Write());
  TRY(file.Finish());
  bar.Finish(writer.keys(), std::to_string(writer.bytes()) + " bytes");
  WarnOfRefusals(writer);
  if (std::filesystem::exists(FLAGS_dir + "/memory-databases.rdb")) {
    std::fprintf(stderr,
                 "%s: databases in memory are not in the file; %s/memory-databases.rdb is an RDB file of them\n",
                 kProgram, FLAGS_dir.c_str());
  }
  std::printf("%llu keys exported to %s\n", static_cast<unsigned long long>(writer.keys()), path.c_str());
  return Ok();
}

}  // namespace

int main(int argc, char** argv) {
  ParseToolFlags("[--dir DIR] FILE\n\nWrites the keys of a data directory of Cairn to an RDB file.", 2, argc, argv);
  if (argc != 2) {
    ShowUsage(kProgram);
    return 2;
  }
  const Status done = Export(argv[1]);
  return done.ok() ? 0 : RefuseOffline(kProgram, done);
}
