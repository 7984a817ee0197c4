// SPDX-License-Identifier: BSD-3-Clause
//
// RdbFileReader: the keys of an RDB file (rdb/rdb_file.h) become keys of the store.
//
// Keys go in by the hundred to a commit. A collection of many elements goes in piece by piece, so
// that no more than a piece of it is in memory; it is incomplete until the last one. Therefore a
// file is loaded where nobody looks: into staged keyspaces (Staging::Begin), or before there
// are clients.
//
// A key that the target has is replaced. An error leaves what was loaded before it. Every error
// says where in the file it was.
//
// Thread: one that may wait. The transaction is the reader's until it is done.
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
  // The keyspace that a database of the file goes to.
  std::function<Keyspace(int db)> keyspace;
  CommitMode commit = CommitMode::kWait;
  bool checksum = true;                                // whether the file's is looked at
  bool keeps_expired = false;                          // a replica waits for its primary to delete them
  std::function<void(uint64_t position)> on_progress;  // with every commit
};

class RdbFileReader {
 public:
  RdbFileReader(Transaction& txn, RdbTarget target, RdbSource source);

  // Loads everything up to the file's end mark and its checksum.
  Status Load();

  uint64_t keys() const { return keys_; }
  uint64_t expired() const { return expired_; }  // not loaded, their time had passed
  uint64_t empty() const { return empty_; }      // not loaded, they were collections of nothing
  uint64_t position() const { return reader_.position(); }
  const std::map<std::string, std::string, std::less<>>& aux() const { return aux_; }
  const std::vector<std::string>& functions() const { return functions_; }
  // What was passed over, for the log.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  // What has been said about the next key.
  struct Ahead {
    int64_t expire_ms = kNoExpiry;
    int64_t idle_s = -1;
    std::optional<uint8_t> frequency;  // of use (RowCache::Frequency)
  };

  Status LoadRecords();
  Status ReadHead();
  Status LoadRecord(uint8_t opcode, bool& at_end);
  Status CheckEnd();
  Status ReadAux();
  Status ReadPreviewFunction();
  Status PassModuleAux();
  Status PassLengths(int count);
  Status LoadKey(uint8_t type);
  Status PassValue(uint8_t type);
  // Whether there is a key now.
  Result<bool> StoreValue(uint8_t type, Keyspace& keys, const Key& key);
  Status StorePieces(uint8_t type, Keyspace& keys, const Key& key);
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
  std::map<std::string, std::string, std::less<>> aux_;
  std::vector<std::string> functions_;
  std::vector<std::string> warnings_;
};

}  // namespace cairn
