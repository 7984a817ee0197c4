// SPDX-License-Identifier: BSD-3-Clause
//
// RdbFileWriter: writes the whole data set as an RDB file (rdb/rdb_file.h has the bytes) from a snapshot of the store,
// so other threads go on writing while the file holds one moment. A first transfer has the same bytes.
//
// It writes from front to back and emits pieces, so that neither the data set nor a large collection is ever in memory
// at once.
//
//   RdbFileWriter writer(txn, snapshot, limits, options, sink);
//   TRY(writer.Write());
//
// Thread: one that may wait. The transaction belongs to the writer until it is done.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "rdb/rdb_writer.h"
#include "storage/store_snapshot.h"
#include "storage/transaction.h"
#include "types/keyspace.h"
#include "types/limits.h"

namespace cairn {

// Takes the next bytes of the file. An error stops the writer.
using RdbSink = std::function<Status(std::string_view bytes)>;

// What the file records about the last accesses of each key, as far as the key cache knows it.
enum class RdbUseHint : unsigned char { kNone, kIdle, kFrequency };

struct RdbFileOptions {
  bool checksum = true;
  bool folds = true;                                     // compress long strings
  std::vector<std::pair<std::string, std::string>> aux;  // fields in addition to those that every file has
  std::vector<std::string> functions;                    // the code of the function libraries
  std::function<bool(int db)> includes;                  // whether to write this database; empty: all are written
  std::function<bool(std::string_view key)> leaves_out;  // the keys that are not written; empty: all are written
  RdbDialect dialect = RdbDialect::kRedis;
  RdbUseHint use_hint = RdbUseHint::kNone;
  int64_t key_delay_us = 0;                        // pause after each key
  std::function<void(uint64_t keys)> on_progress;  // called after every few keys
};

// A number of keys, and the name of the first.
struct KeyCount {
  uint64_t count = 0;
  std::string first;

  void Add(std::string_view name) {
    if (count++ == 0) first = name;
  }
};

class RdbFileWriter {
 public:
  RdbFileWriter(Transaction& txn, const StoreSnapshot& snapshot, const Limits& limits, const RdbFileOptions& options,
                RdbSink sink);

  Status Write();

  uint64_t keys() const { return keys_; }
  uint64_t bytes() const { return bytes_; }
  // The hashes with expiring fields, which Redis before 7.4 cannot read.
  const KeyCount& hashes_with_times() const { return hashes_with_times_; }
  // The keys whose RDB type is Cairn's own (rdb/rdb_format.h), which only Cairn can read.
  const KeyCount& keys_of_own_types() const { return keys_of_own_types_; }

 private:
  void WriteHead();
  void WriteAux(std::string_view name, std::string_view value);
  Status WriteDatabase(int db);
  Status WriteKey(Keyspace& keyspace, std::string_view name, const Record& record);
  void WriteUse(const Key& key);
  // Passes the buffered bytes to the sink. After an error, drops them.
  void Flush();

  Transaction& txn_;
  const StoreSnapshot& snapshot_;
  const Limits& limits_;
  const RdbFileOptions& options_;
  const RdbSink sink_;
  std::string out_;
  RdbFilePart part_;
  RdbWriter writer_;
  Status status_;
  uint64_t crc_ = 0;
  uint64_t keys_ = 0;
  uint64_t bytes_ = 0;
  KeyCount hashes_with_times_;
  KeyCount keys_of_own_types_;
};

}  // namespace cairn
