// SPDX-License-Identifier: BSD-3-Clause
//
// RdbLoader: a store that RDB files are loaded into; each replaces the previous one.
//
// Thread: one.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/assert.h"
#include "base/clock.h"
#include "command/busy_scripts.h"
#include "command/conditions.h"
#include "replication/rdb_file_reader.h"
#include "replication/rdb_file_writer.h"
#include "script/library_store.h"
#include "tests/fuzz/restorer.h"

namespace cairn {

inline constexpr size_t kRdbCrcBytes = 8;

// The keys of a saved file: the header, which contains the time, and the checksum are cut off.
inline std::string_view KeysOf(std::string_view saved) {
  constexpr std::string_view kLastAux = "aof-base";
  const size_t keys = saved.find(kLastAux);
  ASSERT(keys != std::string_view::npos && saved.size() >= keys + kRdbCrcBytes, "a saved file has a header");
  return saved.substr(keys, saved.size() - keys - kRdbCrcBytes);
}

class RdbLoader {
 public:
  struct Loaded {
    uint64_t keys = 0;
    uint64_t end = 0;  // how far it was read
  };

  Result<Loaded> Load(RdbSource source, bool checksum) {
    TRY(Empty());
    RdbTarget target;
    target.databases = store_.store().databases().size();
    target.commit = CommitMode::kNoLog;
    target.checksum = checksum;
    target.keyspace = [this](int db) { return Keyspace(txn_, db, limits_); };
    RdbFileReader reader(txn_, std::move(target), std::move(source));
    TRY(reader.Load());
    TRY(RestoreFunctions(reader.functions()));
    return Loaded{reader.keys(), reader.position()};
  }

  // The number of keys in the store.
  uint64_t CountKeys() {
    int64_t keys = 0;
    DatabaseChanges& databases = txn_.databases();
    for (int db = 0; db < store_.store().databases().size(); ++db) keys += databases.KeyCount(databases.keyspace(db));
    return static_cast<uint64_t>(keys);
  }

  // The keys as a file.
  Result<std::string> Save() {
    std::string bytes;
    const std::unique_ptr<StoreSnapshot> snapshot = TRY(StoreSnapshot::Take(store_.store()));
    RdbFileWriter writer(txn_, *snapshot, limits_, options_, [&bytes](std::string_view more) {
      bytes.append(more);
      return Ok();
    });
    TRY(writer.Write());
    return bytes;
  }

 private:
  Status Empty() {
    txn_.BeginCommand(Lane::kSlow, WallMs(), false);
    TRY(txn_.LockAll());
    for (int db = 0; db < store_.store().databases().size(); ++db) TRY(txn_.databases().Replace(db));
    TRY(txn_.FinishCommand());
    return txn_.Commit(CommitMode::kNoLog);
  }

  Status RestoreFunctions(const std::vector<std::string>& codes) {
    txn_.BeginCommand(Lane::kSlow, WallMs(), false);
    Status status = LockLibraries(txn_);
    if (status.ok()) status = RestoreLibraries(scripting_, txn_, codes, RestorePolicy::kFlush, true);
    if (!status.ok()) {
      txn_.AbandonCommand();
      txn_.Discard();
      return status;
    }
    TRY(txn_.FinishCommand());
    return txn_.Commit(CommitMode::kNoLog);
  }

  Limits limits_;
  const RdbFileOptions options_;
  TemporaryStore store_;
  Transaction& txn_ = store_.txn();
  const std::atomic<int64_t> busy_after_ms_{0};
  BusyScripts busy_;
  const Conditions conditions_;
  Scripting scripting_{busy_after_ms_, busy_, conditions_, [] { return false; }, uint64_t{64} << 20};
};

}  // namespace cairn
