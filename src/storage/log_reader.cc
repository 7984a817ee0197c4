// SPDX-License-Identifier: BSD-3-Clause
#include "storage/log_reader.h"

#include <rocksdb/db.h>
#include <rocksdb/transaction_log.h>
#include <rocksdb/write_batch.h>

#include "storage/store.h"

namespace cairn {
namespace {

// Collects the log data of a batch. All rows are of no interest.
class EntryCollector : public rocksdb::WriteBatch::Handler {
 public:
  explicit EntryCollector(std::string& out) : out_(out) {}

  void LogData(const rocksdb::Slice& blob) override { out_.append(blob.data(), blob.size()); }
  rocksdb::Status PutCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override { return {}; }
  rocksdb::Status DeleteCF(uint32_t, const rocksdb::Slice&) override { return {}; }
  rocksdb::Status SingleDeleteCF(uint32_t, const rocksdb::Slice&) override { return {}; }
  rocksdb::Status DeleteRangeCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override { return {}; }
  rocksdb::Status MergeCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override { return {}; }

 private:
  std::string& out_;
};

}  // namespace

LogReader::LogReader(Store& store, uint64_t sequence) : store_(store), sequence_(sequence) {}
LogReader::~LogReader() = default;

// RocksDB's iterator knows the files there were when it was made: within the last one it goes on when it is asked
// again after its end, for the next file it is made anew where it stopped.
Result<LogReader::Outcome> LogReader::Open() {
  log_.reset();
  advance_ = false;
  if (sequence_ > store_.LatestSequence()) return Outcome::kCaughtUp;
  const rocksdb::Status opened = store_.db().GetUpdatesSince(sequence_, &log_);
  if (opened.IsNotFound()) return Outcome::kGone;
  TRY(FromRocksDb(opened));
  return Outcome::kBatch;
}

Result<LogReader::Outcome> LogReader::Next(Batch& batch) {
  for (bool made_anew = false;;) {
    if (log_ == nullptr) {
      const Outcome opened = TRY(Open());
      if (opened != Outcome::kBatch) return opened;
    } else if (advance_) {
      log_->Next();
    }
    advance_ = true;
    if (!log_->Valid()) {
      const rocksdb::Status status = log_->status();
      if (status.ok()) return Outcome::kCaughtUp;
      log_.reset();
      // Otherwise a file went away while it was being read.
      if (!status.IsTryAgain()) return Outcome::kGone;
      if (made_anew) return Outcome::kCaughtUp;  // a tail that is still being written
      made_anew = true;
      continue;
    }
    const rocksdb::BatchResult result = log_->GetBatch();
    const uint64_t next = result.sequence + static_cast<uint64_t>(result.writeBatchPtr->Count());
    if (next <= sequence_) continue;  // it begins before the place asked for
    if (result.sequence > sequence_) return Outcome::kGone;
    batch.entries.clear();
    EntryCollector collector(batch.entries);
    TRY(FromRocksDb(result.writeBatchPtr->Iterate(&collector)));
    batch.sequence = result.sequence;
    batch.next = next;
    sequence_ = next;
    if (!batch.entries.empty()) return Outcome::kBatch;
  }
}

}  // namespace cairn
