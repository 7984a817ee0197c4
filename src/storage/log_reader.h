// SPDX-License-Identifier: BSD-3-Clause
//
// LogReader: reads the log data of the batches in RocksDB's write-ahead log, in commit order.
//
// A position in the log is a sequence number of RocksDB. A batch takes one number per row, from `sequence` on; the
// next batch begins at `next`, where a later reader can continue. Batches that were written at the same time count as
// one if they come from a file. Batches without log data are skipped. The log reaches back as far as its files are
// kept (storage/old_logs.h); older changes must be obtained in another way.
//
// The end of the log is read from memory: commits leave a copy there (storage/log_tail.h). A reader that has fallen
// behind the copy reads the files until it is near the end again.
//
// Thread: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace rocksdb {
class TransactionLogIterator;
}

namespace cairn {

class Store;

class LogReader {
 public:
  struct Batch {
    uint64_t sequence = 0;
    uint64_t next = 0;                           // sequence number of the next batch
    std::shared_ptr<const std::string> entries;  // encoding/log_entry.h; never null nor empty
  };
  enum class Outcome : unsigned char {
    kBatch,     // `batch` is filled in
    kCaughtUp,  // every committed batch has been read; ask again later
    kGone,      // the log does not reach back to here, or is unreadable from here on
  };

  // RocksDB moves logs into the archive the newest first and does not list those that are still to be moved. So the
  // log may seem to have a gap for a moment. A reader for which kGone is costly retries for 2 s (kLong).
  enum class Patience : unsigned char { kNone, kLong };

  // Starts at the batch at `sequence` or the first after it: 1 for the whole log, WriteAheadLog::LatestSequence() + 1
  // for future batches only.
  LogReader(Store& store, uint64_t sequence);
  ~LogReader();

  Result<Outcome> Next(Batch& batch, Patience patience = Patience::kNone);
  // The sequence number where the next batch begins.
  uint64_t sequence() const { return sequence_; }

 private:
  Result<Outcome> Open();
  Result<Outcome> TryNext(Batch& batch);
  Result<Outcome> ReadFiles(Batch& batch);

  Store& store_;
  uint64_t sequence_;
  bool advance_ = false;  // the iterator's batch has been read
  std::unique_ptr<rocksdb::TransactionLogIterator> log_;
};

}  // namespace cairn
