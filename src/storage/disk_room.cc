// SPDX-License-Identifier: BSD-3-Clause
#include "storage/disk_room.h"

#include <rocksdb/db.h>

#include <algorithm>

#include "base/clock.h"
#include "storage/disk_reserve.h"
#include "storage/flush_nudge.h"
#include "storage/tuning.h"

namespace cairn {
namespace {

constexpr uint64_t kMemtableShare = 32;  // a 32nd of the disk
constexpr uint64_t kLogShare = 16;
constexpr uint64_t kLeastLogBytes = 1 << 20;
constexpr int64_t kFlushPauseUs = 1000000;
constexpr uint64_t kManyRows = 1 << 14;  // of deletes: one or two MB of log
// Limit for each compaction of COMPACT when the disk has no space for a copy of the data.
constexpr uint64_t kTablesPerStep = 4;
constexpr char kMostCompacted[] = "max_compaction_bytes";

// Limits compactions to a few tables during its lifetime. Each frees its input before the next begins.
class SmallSteps {
 public:
  SmallSteps(rocksdb::DB& db, const std::vector<rocksdb::ColumnFamilyHandle*>& families, uint64_t most_bytes)
      : db_(db), families_(families) {
    for (rocksdb::ColumnFamilyHandle* family : families_) {
      before_.push_back(db_.GetOptions(family).max_compaction_bytes);
      Set(family, std::min(before_.back(), most_bytes));
    }
  }
  ~SmallSteps() {
    for (size_t i = 0; i < families_.size(); ++i) Set(families_[i], before_[i]);
  }
  SmallSteps(const SmallSteps&) = delete;
  SmallSteps& operator=(const SmallSteps&) = delete;

 private:
  void Set(rocksdb::ColumnFamilyHandle* family, uint64_t bytes) {
    // On an error the compactions are as large as usual.
    static_cast<void>(db_.SetOptions(family, {{kMostCompacted, std::to_string(bytes)}}).ok());
  }

  rocksdb::DB& db_;
  const std::vector<rocksdb::ColumnFamilyHandle*>& families_;
  std::vector<uint64_t> before_;
};

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
  engine_.disk_reserve().SetPending(pending, engine_.MemtableBytes());
  engine_.disk_reserve().Look();
  if (!recovery_.writable()) engine_.disk_reserve().LetGo();  // RocksDB needs room to recover
  if (engine_.disk_reserve().level() == DiskReserve::Level::kPlenty || !recovery_.writable()) return;
  if (engine_.disk_reserve().free_bytes() < engine_.MemtableBytes()) return;
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

Status DiskRoom::CompactAll() {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  options.exclusive_manual_compaction = false;
  const FlushNudge nudge(engine_.db(), engine_.families());
  // Owners come first: the other families drop the rows of collections without one.
  for (const Space space :
       {Space::kOwners, Space::kKeys, Space::kElements, Space::kScores, Space::kExpiries, Space::kMeta}) {
    TRY(FromRocksDb(engine_.db().CompactRange(options, engine_.family(space), nullptr, nullptr)));
  }
  return Ok();
}

Status DiskRoom::Compact() {
  const uint64_t data = engine_.Property(rocksdb::DB::Properties::kTotalSstFilesSize);
  if (DiskSpaceOf(engine_.options().dir).free > data + engine_.disk_reserve().size()) return CompactAll();
  const MutexLock lock(small_steps_mutex_);
  const SmallSteps steps(engine_.db(), engine_.families(), kTablesPerStep * TableBytes(engine_.options().budget));
  return CompactAll();
}

}  // namespace cairn
