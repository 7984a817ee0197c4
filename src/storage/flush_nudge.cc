// SPDX-License-Identifier: BSD-3-Clause
#include "storage/flush_nudge.h"

#include <rocksdb/db.h>

#include <chrono>

#include "base/end_process.h"

namespace cairn {
namespace {

constexpr auto kPause = std::chrono::milliseconds(100);

uint64_t PropertyOf(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const std::string& name) {
  uint64_t value = 0;
  return db.GetIntProperty(family, name, &value) ? value : 0;
}

}  // namespace

FlushNudge::FlushNudge(rocksdb::DB& db, const std::vector<rocksdb::ColumnFamilyHandle*>& families)
    : db_(db), families_(families), thread_("flush-nudge", kPause, [this] { NudgeStuck(); }) {}

void FlushNudge::NudgeStuck() {
  rocksdb::FlushOptions options;
  options.wait = false;
  options.allow_write_stall = true;
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    if (PropertyOf(db_, family, rocksdb::DB::Properties::kNumImmutableMemTable) == 0) continue;
    if (PropertyOf(db_, family, rocksdb::DB::Properties::kMemTableFlushPending) != 0) continue;
    if (PropertyOf(db_, family, rocksdb::DB::Properties::kNumRunningFlushes) != 0) continue;
    (void)db_.Flush(options, family);  // who waits is told what became of it
  }
}

LostFlushWatch::LostFlushWatch(rocksdb::DB& db, const std::vector<rocksdb::ColumnFamilyHandle*>& families,
                               std::chrono::milliseconds patience)
    : db_(db), families_(families), patience_(patience), thread_("flush-watch", kPause, [this] { Look(); }) {}

bool LostFlushWatch::HasIdleRequest() const {
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    if (PropertyOf(db_, family, rocksdb::DB::Properties::kNumRunningFlushes) != 0) return false;
    if (PropertyOf(db_, family, rocksdb::DB::Properties::kMemTableFlushPending) != 0) return true;
  }
  return false;
}

void LostFlushWatch::Look() {
  idle_for_ = HasIdleRequest() ? idle_for_ + kPause : std::chrono::milliseconds(0);
  if (idle_for_ < patience_) return;
  EndProcess("RocksDB has lost a flush while it recovered from an error, and would refuse writes for ever. What was "
             "acknowledged is in the data directory; start the server again.");
}

}  // namespace cairn
