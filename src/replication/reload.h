// SPDX-License-Identifier: BSD-3-Clause
//
// Reload: the data set is replaced by what is in an RDB file (DEBUG RELOAD, the first start in a directory that was
// Redis's), or by what a primary sends.
//
// It is loaded beside the present one (Staging::Begin) and takes its place in one commit, so
// that neither a crash nor a damaged file leaves half of anything.
//
// Thread: one that may wait. The transaction is a spare one, with nothing in it.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "rdb/rdb_reader.h"
#include "replication/file_transfer.h"
#include "script/library_store.h"
#include "storage/store.h"
#include "storage/transaction.h"

namespace cairn {

class Notifier;
class Conditions;
class Config;
class RdbSaves;
class Scripting;

// What a data set is loaded into, and who hears of it.
struct DatasetParts {
  Store& store;
  Config& config;
  Conditions& conditions;
  Scripting& scripting;
  const Notifier& notifier;
};

struct Reloaded {
  uint64_t keys = 0;
  uint64_t expired = 0;
  std::map<std::string, std::string, std::less<>> aux;
  std::vector<std::string> functions;
};

struct ReloadOptions {
  bool keeps_expired = false;
  // Whether the replication log is on: the log must then have the loaded data, without a gap.
  bool log_is_read = false;
  // Called with the whole file read and before the commit that shows it: adds what is to be in the
  // same commit.
  std::function<Status(const Reloaded& reloaded, Transaction& txn)> before_adopting;
  std::function<void(uint64_t position)> on_progress;
};

// Opens the store. Where the disk has no room even for that, what lies there of first transfers goes first: it can be
// sent again.
Result<std::unique_ptr<Store>> OpenWithRoom(const StoreOptions& options);

// DEBUG RELOAD: saves everything to the RDB file and loads it from there; meanwhile others are told that
// the server is loading.
Status SaveAndReload(const DatasetParts& parts, RdbSaves& rdb_saves, bool log_is_read);

// The start on a data directory whose database was just made (`is_new`): an RDB file that lies there, Redis's, becomes
// the data set. A note in the database says that this is still to be done, so a start that fails or is killed on the
// way is not followed by one without the data. A file beside an append-only one is left alone: it may be the older one.
// The error is for the operator. REQUIRES: nobody is served yet.
Status ReadFirstRdbFile(const DatasetParts& parts, const std::string& path, bool is_new);

Result<Reloaded> ReplaceDataset(const DatasetParts& parts, Transaction& txn, RdbSource source,
                                const ReloadOptions& options);

// The data set is replaced by row files that another server has written (storage/row_files.h); what becomes of the
// files after an error is open. `before_adopting` adds what is to be in the commit that shows them. The number of
// keys. kIo, kCorruption: the data set is the one it was.
Result<uint64_t> AdoptRowFiles(const DatasetParts& parts, Transaction& txn, std::span<const RowFile> files,
                               const RowNumbers& first, const FilesContent& content,
                               const std::function<Status(Transaction& txn)>& before_adopting);

// Loads the file as it is, in place of the data set or (`merges`) on top of it. A library of functions that is there
// already is an error unless it may be replaced.
struct RdbFileLoad {
  std::string path;
  bool merges = false;
  RestorePolicy functions = RestorePolicy::kReplace;  // of a load that merges
  bool log_is_read = false;                           // as in ReloadOptions
};
Status LoadRdbFile(const DatasetParts& parts, const RdbFileLoad& load);

}  // namespace cairn
