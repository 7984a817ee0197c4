// SPDX-License-Identifier: BSD-3-Clause
#include "storage/disk_room.h"

#include <rocksdb/db.h>

#include <algorithm>

#include "base/clock.h"
#include "storage/disk_reserve.h"
#include "storage/tuning.h"

namespace cairn {
namespace {

constexpr uint64_t kMemtableShare = 32;  // a 32nd of the disk
constexpr uint64_t kLogShare = 16;
constexpr uint64_t kLeastLogBytes = 1 << 20;
constexpr int64_t kFlushPauseUs = 1000000;
constexpr uint64_t kManyRows = 1 << 14;  // of deletes: one or two MB of log

}  // namespace

uint64_t MostMemtables(const std::string& dir) {
  const uint64_t disk = DiskSpaceOf(dir).total;
  return disk == 0 ? UINT64_MAX : disk / kMemtableShare;
}

StoreOptions FitToDisk(StoreOptions options) {
  const uint64_t disk = DiskSpaceOf(options.dir).total;
  if (disk == 0) return options;
  options.budget.memtables = std::min(options.budget.memtables, disk / kMemtableShare);
  options.wal_bytes = std::min(options.wal_bytes, std::max(disk / kLogShare, kLeastLogBytes));
  return options;
}

void DiskRoom::SetReserve(uint64_t wanted) {
  const uint64_t unflushed = std::min(engine_.options().budget.memtables, engine_.options().wal_bytes);
  engine_.disk_reserve().SetSize(
      SizeOfReserve(wanted, unflushed, TableBytes(engine_.options().budget), DiskSpaceOf(engine_.options().dir).total));
}

// A delete frees nothing while it is in a memtable, so Watch flushes memtables.
void DiskRoom::Watch() {
  const uint64_t pending = engine_.Property(rocksdb::DB::Properties::kEstimatePendingCompactionBytes);
  const uint64_t unflushed = engine_.Property(rocksdb::DB::Properties::kCurSizeAllMemTables);
  engine_.disk_reserve().SetPending(pending, unflushed);
  engine_.disk_reserve().Look();
  if (!recovery_.writable()) engine_.disk_reserve().LetGo();  // RocksDB needs room to recover
  if (engine_.disk_reserve().level() == DiskReserve::Level::kPlenty || !recovery_.writable()) return;
  if (engine_.disk_reserve().free_bytes() < unflushed) return;
  // If tables wait for compaction, a flush only pays when it frees much log.
  const uint64_t latest = log_.LatestSequence();
  const uint64_t least = pending > 0 ? kManyRows : 1;
  const int64_t now_us = MonotonicUs();
  if (latest - flushed_sequence_ < least || now_us - flushed_us_ < kFlushPauseUs) return;
  flushed_sequence_ = latest;
  flushed_us_ = now_us;
  rocksdb::FlushOptions options;
  options.wait = false;
  options.allow_write_stall = true;
  // The event listener gets the disk's errors.
  static_cast<void>(engine_.db().Flush(options, engine_.families()).ok());
}

}  // namespace cairn
