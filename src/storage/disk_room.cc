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

constexpr uint64_t kMemtableShare = 32;  // of the disk: a 32nd
constexpr uint64_t kLogShare = 16;
constexpr uint64_t kLeastLogBytes = 1 << 20;
constexpr int64_t kFlushPauseUs = 1000000;
constexpr uint64_t kManyRows = 1 << 14;  // of deletes: a megabyte or two of log
// Of a compaction by COMPACT where the disk has no room for a copy of the data.
constexpr uint64_t kTablesPerStep = 4;
constexpr char kMostCompacted[] = "max_compaction_bytes";

// While it lives, compactions are of few tables. Each gives back what it frees before the next begins.
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
    // Without it the steps are as large as usual.
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

// A delete frees nothing while it waits in a memtable.
void DiskRoom::Watch() {
  const uint64_t pending = engine_.Property(rocksdb::DB::Properties::kEstimatePendingCompactionBytes);
  engine_.disk_reserve().SetPending(pending, engine_.MemtableBytes());
  engine_.disk_reserve().Look();
  if (!recovery_.writable()) engine_.disk_reserve().LetGo();  // RocksDB needs room to recover
  if (engine_.disk_reserve().level() == DiskReserve::Level::kPlenty || !recovery_.writable()) return;
  if (engine_.disk_reserve().free_bytes() < engine_.MemtableBytes()) return;
  // Where tables wait for a compaction already, one more is worth the log that it frees.
  const uint64_t latest = log_.LatestSequence();
  const uint64_t least = pending > 0 ? kManyRows : 1;
  const int64_t now_us = MonotonicUs();
  if (latest - flushed_sequence_ < least || now_us - flushed_us_ < kFlushPauseUs) return;
  flushed_sequence_ = latest;
  flushed_us_ = now_us;
  rocksdb::FlushOptions options;
  options.wait = false;
  options.allow_write_stall = true;
  // An error of the disk is told to the listener.
  static_cast<void>(engine_.db().Flush(options, engine_.families()).ok());
}

Status DiskRoom::CompactAll() {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  options.exclusive_manual_compaction = false;
  const FlushNudge nudge(engine_.db(), engine_.families());
  // Owners go first: what they no longer name, the other families drop.
  for (const Space space :
       {Space::kOwners, Space::kKeys, Space::kElements, Space::kScores, Space::kExpiries, Space::kMeta}) {
    TRY(FromRocksDb(engine_.db().CompactRange(options, engine_.family(space), nullptr, nullptr)));
  }
  return Ok();
}

Status DiskRoom::Compact() {
  const uint64_t data = engine_.Property(rocksdb::DB::Properties::kTotalSstFilesSize);
  if (DiskSpaceOf(engine_.options().dir).free > data + engine_.disk_reserve().size()) return CompactAll();
  const std::lock_guard lock(small_steps_mutex_);
  const SmallSteps steps(engine_.db(), engine_.families(), kTablesPerStep * TableBytes(engine_.options().budget));
  return CompactAll();
}

}  // namespace cairn
