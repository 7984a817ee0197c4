// SPDX-License-Identifier: BSD-3-Clause
#include "storage/log_reader.h"

#include <rocksdb/db.h>
#include <rocksdb/transaction_log.h>
#include <rocksdb/write_batch.h>

#include <chrono>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr int64_t kLongestGoneUs = 2000000;
constexpr auto kGonePause = std::chrono::milliseconds(50);

// Collects the log data of a record. Rows are only counted: a record holds the batches of all threads that wrote at
// the same time, and a reader that comes from the tail may be between two of them. It has read the log data of the
// first `skip` rows already; a batch's log data comes after its rows.
class EntryCollector : public rocksdb::WriteBatch::Handler {
 public:
  EntryCollector(uint64_t skip, std::string& out) : skip_(skip), out_(out) {}

  void LogData(const rocksdb::Slice& blob) override {
    if (skip_ == 0 || rows_ > skip_) out_.append(blob.data(), blob.size());
  }
  rocksdb::Status PutCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override { return Count(); }
  rocksdb::Status DeleteCF(uint32_t, const rocksdb::Slice&) override { return Count(); }
  rocksdb::Status SingleDeleteCF(uint32_t, const rocksdb::Slice&) override { return Count(); }
  rocksdb::Status DeleteRangeCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override { return Count(); }
  rocksdb::Status MergeCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override { return Count(); }

 private:
  rocksdb::Status Count() {
    ++rows_;
    return {};
  }

  const uint64_t skip_;
  uint64_t rows_ = 0;
  std::string& out_;
};

}  // namespace

LogReader::LogReader(Store& store, uint64_t sequence) : store_(store), sequence_(sequence) {}
LogReader::~LogReader() = default;

// RocksDB's iterator knows the files that existed when it was made. It can continue at the end of the last one; for
// the next file a new iterator is made at the same position.
Result<LogReader::Outcome> LogReader::Open() {
  log_.reset();
  advance_ = false;
  const ReaderLock lock(store_.log().old_logs_mutex());
  const rocksdb::Status opened = store_.engine().db().GetUpdatesSince(sequence_, &log_);
  if (opened.IsNotFound()) return Outcome::kGone;
  TRY(FromRocksDb(opened));
  return Outcome::kBatch;
}

Result<LogReader::Outcome> LogReader::Next(Batch& batch, Patience patience) {
  const int64_t until_us = patience == Patience::kLong ? MonotonicUs() + kLongestGoneUs : 0;
  for (;;) {
    Result<Outcome> outcome = TryNext(batch);
    if ((outcome.ok() && *outcome != Outcome::kGone) || MonotonicUs() >= until_us) return outcome;
    std::this_thread::sleep_for(kGonePause);
  }
}

Result<LogReader::Outcome> LogReader::TryNext(Batch& batch) {
  LogTail& tail = store_.log().tail();
  LogTail::Batch found;
  for (bool has_waited = false;;) {
    const LogTail::Place place = tail.Find(sequence_, log_ != nullptr, found);
    if (place == LogTail::Place::kHere) {
      log_.reset();
      sequence_ = found.next;
      if (found.entries == nullptr) continue;
      batch = {found.sequence, found.next, std::move(found.entries)};
      return Outcome::kBatch;
    }
    if (place == LogTail::Place::kGone || log_ != nullptr || has_waited) return ReadFiles(batch);
    // Its writer has committed it, or the one before it, but not published it yet.
    if (sequence_ > store_.log().ReadableSequence()) return Outcome::kCaughtUp;
    tail.Await(sequence_, LogTail::kLongestGapUs);
    has_waited = true;
  }
}

Result<LogReader::Outcome> LogReader::ReadFiles(Batch& batch) {
  for (bool made_anew = false;;) {
    // A record ends at or before the readable end, so a record that begins before that end is readable as a whole.
    if (sequence_ > store_.log().ReadableSequence()) return Outcome::kCaughtUp;
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
      if (status.IsIOError()) return FromRocksDb(status);
      // Otherwise a file was deleted while it was being read.
      if (!status.IsTryAgain()) return Outcome::kGone;
      if (made_anew) return Outcome::kCaughtUp;  // the end of the log, still being written
      made_anew = true;
      continue;
    }
    const rocksdb::BatchResult result = log_->GetBatch();
    const uint64_t next = result.sequence + static_cast<uint64_t>(result.writeBatchPtr->Count());
    if (next <= sequence_) continue;  // it ends before the requested position
    if (result.sequence > sequence_) {
      log_.reset();
      return Outcome::kGone;
    }
    auto entries = std::make_shared<std::string>();
    EntryCollector collector(sequence_ - result.sequence, *entries);
    if (const rocksdb::Status read = result.writeBatchPtr->Iterate(&collector); !read.ok()) {
      log_.reset();  // a later try reads this batch again
      return FromRocksDb(read);
    }
    const uint64_t begin = std::exchange(sequence_, next);
    if (entries->empty()) continue;
    batch = {begin, next, std::move(entries)};
    return Outcome::kBatch;
  }
}

}  // namespace cairn
