// SPDX-License-Identifier: BSD-3-Clause
#include "storage/flush_nudge.h"

#include <rocksdb/db.h>

#include <chrono>
#include <utility>

#include "base/thread.h"

namespace cairn {
namespace {

constexpr auto kPause = std::chrono::milliseconds(100);

uint64_t PropertyOf(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const std::string& name) {
  uint64_t value = 0;
  return db.GetIntProperty(family, name, &value) ? value : 0;
}

}  // namespace

FlushNudge::FlushNudge(rocksdb::DB& db, std::vector<rocksdb::ColumnFamilyHandle*> families)
    : db_(db), families_(std::move(families)), thread_(StartThread("flush-nudge", [this] { Run(); })) {}

FlushNudge::~FlushNudge() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
  }
  wake_.NotifyOne();
  thread_.join();
}

void FlushNudge::Run() {
  const MutexLock lock(mutex_);
  while (!wake_.WaitFor(mutex_, kPause, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return ending_; }))
    NudgeStuck();
}

void FlushNudge::NudgeStuck() {
  rocksdb::FlushOptions options;
  options.wait = false;
  options.allow_write_stall = true;
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    if (PropertyOf(db_, family, rocksdb::DB::Properties::kNumImmutableMemTable) == 0) continue;
    if (PropertyOf(db_, family, rocksdb::DB::Properties::kMemTableFlushPending) != 0) continue;
    if (PropertyOf(db_, family, rocksdb::DB::Properties::kNumRunningFlushes) != 0) continue;
    (void)db_.Flush(options, family);  // the waiting caller gets the result
  }
}

}  // namespace cairn
