// SPDX-License-Identifier: BSD-3-Clause
//
// Opening the database: its column families, its filters, and the listener that hears of write errors and of work that
// begins.

#include <rocksdb/listener.h>

#include "base/thread.h"
#include "storage/compaction.h"
#include "storage/log_files.h"
#include "storage/open_tables.h"
#include "storage/ready_reads.h"
#include "storage/reserved_files.h"
#include "storage/retryable_files.h"
#include "storage/store.h"
#include "storage/tuning.h"

namespace cairn {

// Hears of errors in RocksDB's background work and of jobs that begin.
//
// RocksDB recovers from I/O errors by itself (storage/retryable_files.h). A compaction that failed is no error of the
// database: it has changed nothing, and RocksDB runs it again. Corruption stays: reads are served, writes are refused.
//
// Thread: RocksDB's background threads, and those that write.
class EngineListener : public rocksdb::EventListener {
 public:
  explicit EngineListener(Store& store) : store_(store) {}

  void OnFlushBegin(rocksdb::DB*, const rocksdb::FlushJobInfo&) override { LengthenOwnTurns(); }
  void OnCompactionBegin(rocksdb::DB*, const rocksdb::CompactionJobInfo&) override { LengthenOwnTurns(); }
  void OnSubcompactionBegin(const rocksdb::SubcompactionJobInfo&) override { MarkCompactionOutput(true); }
  void OnSubcompactionCompleted(const rocksdb::SubcompactionJobInfo&) override { MarkCompactionOutput(false); }

  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override {
    if (error->IsIOError() && reason == rocksdb::BackgroundErrorReason::kCompaction) return;
    store_.NoteWriteError(*error);
  }
  void OnErrorRecoveryEnd(const rocksdb::BackgroundErrorRecoveryInfo& info) override {
    if (info.new_bg_error.ok()) store_.NoteRecovered();
  }

 private:
  static void LengthenOwnTurns() {
    thread_local const bool once = (LengthenTurns(), true);
    static_cast<void>(once);
  }

  Store& store_;
};

Status Store::OpenDb() {
  const SharedParts parts = MakeSharedParts(options_);
  block_cache_ = parts.block_cache;
  write_buffers_ = parts.write_buffers;
  rate_limiter_ = parts.rate_limiter;
  statistics_ = parts.statistics;

  open_tables_ = std::make_shared<OpenTables>(options_.most_open_tables);
  env_ = rocksdb::NewCompositeEnv(
      MakeRetryableFiles(std::make_shared<LogFiles>(MakeReservedFiles(MakeTableFiles(open_tables_), *disk_reserve_))));
  rocksdb::DBOptions db_options = TuneDatabase(options_, parts);
  db_options.max_open_files = open_tables_->MaxOpenFilesFor(options_.dir);
  db_options.env = env_.get();
  db_options.listeners.push_back(std::make_shared<EngineListener>(*this));

  static constexpr const char* kNames[kSpaceCount] = {"default",  "keys",   "elements",
                                                      "scores",   "owners", "expiries"};
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (int i = 0; i < kSpaceCount; ++i) {
    const auto space = static_cast<Space>(i);
    rocksdb::ColumnFamilyOptions family = TuneFamily(space, options_, parts);
    family.compaction_filter_factory = MakeFilterFactory(*this, space);
    descriptors.emplace_back(kNames[i], family);
  }
  rocksdb::DB* db = nullptr;
  const rocksdb::Status opened = rocksdb::DB::Open(db_options, options_.dir, descriptors, &families_, &db);
  if (!opened.ok()) return Status::Io("cannot open the data in " + options_.dir + ": " + opened.ToString());
  db_.reset(db);
  db_->GetEnv()->LowerThreadPoolCPUPriority(rocksdb::Env::LOW);
  return Ok();
}

uint64_t Store::open_tables() const { return open_tables_->count(); }

Status Store::SetMostOpenTables(uint64_t most) { return open_tables_->SetMost(*db_, most); }

void Store::WatchOpenTables(uint64_t coming) { open_tables_->BindIfNear(*db_, coming); }

}  // namespace cairn
