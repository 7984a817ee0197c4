// SPDX-License-Identifier: BSD-3-Clause
//
// Reload: replaces the data set by an RDB file (DEBUG RELOAD, the first start in a directory that belonged to Redis),
// or by a primary's first transfer.
//
// The new data is loaded beside the present data (Staging::Begin) and replaces it in one commit, so neither a crash nor
// a damaged file leaves a partial data set.
//
// Thread: one that may wait. The transaction is a spare one, without writes.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
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

// This row is not empty while the RDB file of a new directory is not loaded yet (docs/format.md, section 6).
inline constexpr std::string_view kUnreadRow = "rdb/unread";

// The parts that a load writes to, or notifies.
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
  // Whether the log is used for replication: it must then contain the loaded data, without a gap.
  bool log_is_read = false;
  // Called after the whole file was read and before the commit that makes it visible. It may add rows to that commit.
  std::function<Status(const Reloaded& reloaded, Transaction& txn)> before_adopting;
  std::function<void(uint64_t position)> on_progress;
};

// Opens the store. If the disk lacks room, it first deletes the files of first transfers, which can be sent again.
Result<std::unique_ptr<Store>> OpenWithRoom(const StoreOptions& options);

// DEBUG RELOAD: saves everything to the RDB file and loads it from there; meanwhile clients get the error that the
// server is loading.
Status SaveAndReload(const DatasetParts& parts, RdbSaves& rdb_saves, bool log_is_read);

// Start on a data directory whose database was just created (`is_new`): loads an RDB file of Redis that lies there. A
// row in the database records that this is not done yet, so a start after a failed or killed one loads it again, unless
// there are keys by then. An RDB file beside an append-only file is not loaded: it may be the older of the two. The
// error is for the operator. REQUIRES: no client is served yet.
Status ReadFirstRdbFile(const DatasetParts& parts, const std::string& path, bool is_new);

Result<Reloaded> ReplaceDataset(const DatasetParts& parts, Transaction& txn, RdbSource source,
                                const ReloadOptions& options);

// Replaces the data set by row files that another server wrote (storage/row_files.h). After an error, the files may or
// may not exist. `before_adopting` adds rows to the commit that makes them visible. Returns the number of keys. kIo,
// kCorruption: the data set is unchanged.
Result<uint64_t> AdoptRowFiles(const DatasetParts& parts, Transaction& txn, std::span<const RowFile> files,
                               const RowNumbers& first, const FilesContent& content,
                               const std::function<Status(Transaction& txn)>& before_adopting);

// Loads the file in place of the data set or (`merges`) on top of it. An existing library of functions is an error
// unless `functions` allows to replace it.
struct RdbFileLoad {
  std::string path;
  bool merges = false;
  RestorePolicy functions = RestorePolicy::kReplace;  // when `merges`
  bool log_is_read = false;                           // as in ReloadOptions
};
Status LoadRdbFile(const DatasetParts& parts, const RdbFileLoad& load);

}  // namespace cairn
