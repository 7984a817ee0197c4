// SPDX-License-Identifier: BSD-3-Clause
//
// LogReader: the log data of the batches in RocksDB's write-ahead log, in the order of their commits.
//
// A place in the log is a sequence number of RocksDB. A batch takes as many as it has rows, from `sequence` on; the
// next one begins at `next`, from where a later reader goes on. Batches that were written at the same time are one here
// when they come from a file. Batches without log data are passed over. The log
// reaches back as far as its files are kept (storage/old_logs.h); what lies before is gone and must be learnt in
// another way.
//
// At its end the log is read from memory (storage/log_tail.h), which a commit has left a copy in; a reader that has
// fallen behind that reads the files until it is near the end again.
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
    uint64_t next = 0;                           // of the batch after it
    std::shared_ptr<const std::string> entries;  // encoding/log_entry.h; never null nor empty
  };
  enum class Outcome : unsigned char {
    kBatch,     // the batch is filled in
    kCaughtUp,  // everything that is committed has been read; ask again later
    kGone,      // the log no longer reaches back to here, or cannot be read from here on
  };

  // RocksDB moves logs into the archive the newest first, and overlooks those that are still to go. So the log seems to
  // have a gap for a moment, and a reader that has a lot to lose tries again for 2 s. Only then is it a hole.
  enum class Patience : unsigned char { kNone, kLong };

  // Reads from the batch that begins at `sequence`, or next after it: 1 for all there ever was,
  // WriteAheadLog::LatestSequence() + 1 for what is still to come.
  LogReader(Store& store, uint64_t sequence);
  ~LogReader();

  Result<Outcome> Next(Batch& batch, Patience patience = Patience::kNone);
  // Where the next batch begins.
  uint64_t sequence() const { return sequence_; }

 private:
  Result<Outcome> Open();
  Result<Outcome> TryNext(Batch& batch);
  Result<Outcome> ReadFiles(Batch& batch);

  Store& store_;
  uint64_t sequence_;
  bool advance_ = false;  // the iterator stands on a batch that has been read
  std::unique_ptr<rocksdb::TransactionLogIterator> log_;
};

}  // namespace cairn
