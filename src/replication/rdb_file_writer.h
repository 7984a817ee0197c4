// SPDX-License-Identifier: BSD-3-Clause
//
// RdbFileWriter: a whole data set as an RDB file (rdb/rdb_file.h has the bytes), out of a
// snapshot of the store: others go on writing, and the file holds one moment. The same bytes are
// the first transfer to a replica.
//
// It is written from front to back and handed on in pieces, so that neither the data set nor one
// large collection of it is ever in memory at once.
//
//   RdbFileWriter writer(txn, snapshot, limits, options, sink);
//   TRY(writer.Write());
//
// Thread: one that may wait. The transaction is the writer's until it is done.
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

// Takes the next bytes of the file. An error ends the writing.
using RdbSink = std::function<Status(std::string_view bytes)>;

// What a file says about the use of each key, as far as the key cache remembers it.
enum class RdbUseHint : unsigned char { kNone, kIdle, kFrequency };

struct RdbFileOptions {
  bool checksum = true;
  bool folds = true;                                     // compress long texts
  std::vector<std::pair<std::string, std::string>> aux;  // besides those every file has
  std::vector<std::string> functions;                    // libraries' code
  bool has_keys = true;                                  // the databases are in it
  RdbUseHint use_hint = RdbUseHint::kNone;
  int64_t key_delay_us = 0;                        // sleeps so long after each key
  std::function<void(uint64_t keys)> on_progress;  // every so many keys
};

class RdbFileWriter {
 public:
  RdbFileWriter(Transaction& txn, const StoreSnapshot& snapshot, const Limits& limits, const RdbFileOptions& options,
                RdbSink sink);

  Status Write();

  uint64_t keys() const { return keys_; }
  uint64_t bytes() const { return bytes_; }
  // Hashes with fields that expire, which Redis before 7.4 does not read, and the name of the first.
  uint64_t hashes_with_times() const { return hashes_with_times_; }
  const std::string& first_with_times() const { return first_with_times_; }

 private:
  void WriteHead();
  void WriteAux(std::string_view name, std::string_view value);
  Status WriteDatabase(int db);
  Status WriteKey(Keyspace& keyspace, std::string_view name, const Record& record);
  void WriteUse(const Key& key);
  void NoteTimes(std::string_view name);
  // Hands on what has been written. After an error, drops it.
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
  uint64_t hashes_with_times_ = 0;
  std::string first_with_times_;
};

}  // namespace cairn
