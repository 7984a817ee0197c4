// SPDX-License-Identifier: BSD-3-Clause
//
// RdbFileReader: loads the keys of an RDB file (rdb/rdb_file.h) into the store.
//
// A commit holds some hundred keys. A large collection is loaded piece by piece, so that only one piece is in memory;
// it is incomplete until the last piece. Therefore a file is loaded where no client reads: into staged keyspaces
// (Staging::Begin), or before clients are served.
//
// A loaded key replaces an existing one. After an error, the keys loaded so far stay. Every error names its position in
// the file.
//
// Thread: one that may wait. The transaction belongs to the reader until it is done.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rdb/rdb_reader.h"
#include "storage/transaction.h"
#include "types/keyspace.h"
#include "types/limits.h"

namespace cairn {

struct RdbTarget {
  int databases = 16;
  // The keyspace for a database of the file.
  std::function<Keyspace(int db)> keyspace;
  // Whether to load the keys of this database; an error ends the load. Empty: all are loaded.
  std::function<Result<bool>(int db)> wants;
  CommitMode commit = CommitMode::kWait;
  bool checksum = true;                                // verify the file's checksum
  bool keeps_expired = false;                          // on a replica, which waits for its primary to delete them
  std::function<void(uint64_t position)> on_progress;  // called at every commit
};

class RdbFileReader {
 public:
  RdbFileReader(Transaction& txn, RdbTarget target, RdbSource source);

  // Loads everything up to the file's end mark, and verifies its checksum.
  Status Load();

  uint64_t keys() const { return keys_; }
  uint64_t expired() const { return expired_; }  // keys that were skipped because they had expired
  uint64_t empty() const { return empty_; }      // keys that were skipped because they were empty collections
  uint64_t position() const { return reader_.position(); }
  const std::map<std::string, std::string, std::less<>>& aux() const { return aux_; }
  const std::vector<std::string>& functions() const { return functions_; }
  // Parts of the file that were skipped, for the log.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  // Attributes that the file gives before the next key.
  struct Ahead {
    int64_t expire_ms = kNoExpiry;
    int64_t idle_s = -1;
    std::optional<uint8_t> frequency;  // access frequency (RowCache::Frequency)
  };

  Status LoadRecords();
  Status ReadHead();
  Status LoadRecord(uint8_t opcode, bool& at_end);
  Status CheckEnd();
  Status ReadAux();
  Status ReadPreviewFunction();
  Status ReadFieldNames();
  Status PassModuleAux();
  Status PassModuleData();
  Status PassKeyMetadata();
  Status LoadOther(uint8_t number);
  Status PassLengths(int count);
  Status LoadKey(RdbType type);
  Status PassValue(RdbType type, uint64_t& count);
  // Stores the value that follows. Returns whether the key exists now.
  Result<bool> StoreValue(RdbType type, Keyspace& keys, const Key& key);
  Status StorePieces(RdbType type, Keyspace& keys, const Key& key);
  Status LockFor(const Key& key);
  Status CommitIfLarge();
  Result<std::string> ReadText();

  Transaction& txn_;
  const RdbTarget target_;
  RdbReader reader_;
  int version_ = 0;
  int db_ = 0;
  Ahead ahead_;
  uint64_t keys_ = 0;
  uint64_t expired_ = 0;
  uint64_t empty_ = 0;
  uint64_t unwanted_ = 0;  // keys of databases that the target does not want
  std::map<std::string, std::string, std::less<>> aux_;
  std::vector<std::string> functions_;
  std::vector<std::string> warnings_;
};

}  // namespace cairn
