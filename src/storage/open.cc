// SPDX-License-Identifier: BSD-3-Clause
//
// Opening the database: its column families, its filters, and the listener that hears of write errors and of work that
// begins.

#include <rocksdb/listener.h>
#include <rocksdb/sst_file_manager.h>

#include "base/thread.h"
#include "storage/compaction.h"
#include "storage/ready_reads.h"
#include "storage/store.h"
#include "storage/tuning.h"

namespace cairn {

// RocksDB stops all writes after a background error and recovers by itself where it can (a full disk that has
// room again). Its threads tell of themselves first when they begin a job. Thread: RocksDB's background threads.
class EngineListener : public rocksdb::EventListener {
 public:
  explicit EngineListener(Store& store) : store_(store) {}

  void OnFlushBegin(rocksdb::DB*, const rocksdb::FlushJobInfo&) override { LengthenOwnTurns(); }
  void OnCompactionBegin(rocksdb::DB*, const rocksdb::CompactionJobInfo&) override { LengthenOwnTurns(); }

  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* error) override {
    store_.NoteWriteError(error->ToString());
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

  env_ = rocksdb::NewCompositeEnv(MakeTableFiles());
  rocksdb::DBOptions db_options = TuneDatabase(options_, parts);
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

}  // namespace cairn
