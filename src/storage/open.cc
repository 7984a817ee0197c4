// SPDX-License-Identifier: BSD-3-Clause
//
// Opening the database: its column families, its filters, and the listener that hears of write errors and of work that
// begins.

#include <rocksdb/listener.h>
#include <rocksdb/sst_file_manager.h>

#include "base/thread.h"
#include "storage/compaction.h"
#include "storage/log_files.h"
#include "storage/open_tables.h"
#include "storage/ready_reads.h"
#include "storage/store.h"
#include "storage/tuning.h"

namespace cairn {

// Hears of errors in RocksDB's background work and of jobs that begin.
//
// RocksDB calls most I/O errors but a full disk fatal, and refuses writes until the database is opened again. What it
// does to recover from a full disk mends these as well: DB::Resume writes the memtables to new tables, goes on in a new
// log, and begins a new manifest if the old one failed; nothing is added to a file that failed. So the listener gives
// them the severity of a full disk. A compaction that failed is no error of the database: it has changed nothing,
// and RocksDB runs it again. Corruption stays fatal: reads are served, writes are refused.
//
// Only the ticker resumes (Store::TryToRecover). RocksDB's own recovery from a full disk looks every 5 s, and refuses
// other tries meanwhile.
//
// Thread: RocksDB's background threads, and those that write.
class EngineListener : public rocksdb::EventListener {
 public:
  explicit EngineListener(Store& store) : store_(store) {}

  void OnFlushBegin(rocksdb::DB*, const rocksdb::FlushJobInfo&) override { LengthenOwnTurns(); }
  void OnCompactionBegin(rocksdb::DB*, const rocksdb::CompactionJobInfo&) override { LengthenOwnTurns(); }

  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override {
    if (error->IsIOError() && reason == rocksdb::BackgroundErrorReason::kCompaction) {
      *error = rocksdb::Status::OK();
      return;
    }
    if (error->IsIOError()) *error = rocksdb::Status(*error, rocksdb::Status::Severity::kHardError);
    store_.NoteWriteError(error->ToString());
  }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status, bool* auto_recovery) override {
    *auto_recovery = false;
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
  env_ = rocksdb::NewCompositeEnv(std::make_shared<LogFiles>(MakeTableFiles(open_tables_)));
  rocksdb::DBOptions db_options = TuneDatabase(options_, parts);
  db_options.max_open_files = open_tables_->MaxOpenFilesFor(options_.dir);
  db_options.env = env_.get();
  db_options.listeners.push_back(std::make_shared<EngineListener>(*this));
  // Without one, RocksDB does not come back from a full disk by itself.
  db_options.sst_file_manager.reset(rocksdb::NewSstFileManager(db_options.env));

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
