// SPDX-License-Identifier: BSD-3-Clause
#include "storage/dead_files.h"

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/metadata.h>

#include <ranges>
#include <vector>

#include "storage/slice.h"

namespace cairn {
namespace {

constexpr uint64_t kStepsPerTable = 4;

// The level to which a table is compacted. The tables of level 0 overlap, so they are merged into the level below.
int OutputLevel(const RowPlace& place, int level) {
  if (level > 0) return level;
  uint64_t base = 0;
  place.db.GetIntProperty(place.family, rocksdb::DB::Properties::kBaseLevel, &base);
  return base > 0 ? static_cast<int>(base) : place.db.NumberLevels(place.family) - 1;
}

}  // namespace

DeadFiles::DeadFiles(const RowEngines& engines) : engines_(engines) {
  std::vector<rocksdb::LiveFileMetaData> tables;
  engines_.Of(StorageMode::kSsd).db().GetLiveFilesMetaData(&tables);
  steps_left_ = kStepsPerTable * (tables.size() + 1);
}

Result<bool> DeadFiles::CompactBlobTable(const RowPlace& place, const RowKey& lower, const RowKey& upper) {
  rocksdb::ColumnFamilyMetaData found;
  place.db.GetColumnFamilyMetaData(place.family, &found);
  bool is_left = false;
  // The lowest level first: a table is also merged with those below it that it overlaps.
  for (const rocksdb::LevelMetaData& level : std::views::reverse(found.levels)) {
    for (const rocksdb::SstFileMetaData& table : level.files) {
      if (table.oldest_blob_file_number == 0) continue;
      if (table.smallestkey < lower.row() || table.largestkey >= upper.row()) continue;
      is_left = true;
      if (table.being_compacted || steps_left_ == 0) continue;
      --steps_left_;
      rocksdb::CompactionOptions options;
      options.compression = rocksdb::kDisableCompressionOption;  // that of the level
      const rocksdb::Status done =
          place.db.CompactFiles(options, place.family, {table.relative_filename}, OutputLevel(place, level.level));
      // Another compaction takes or has taken the table.
      if (!done.IsAborted() && !done.IsInvalidArgument()) TRY(FromRocksDb(done));
      return true;
    }
  }
  return is_left;
}

Result<bool> DeadFiles::Compact(const RowKey& lower, const RowKey& upper) {
  const RowPlace place = engines_.PlaceOf(lower.space(), lower.row());
  return !TRY(CompactBlobTable(place, lower, upper)) || steps_left_ == 0;
}

Status DeadFiles::Delete(const RowKey& lower, const RowKey& upper) const {
  const RowPlace place = engines_.PlaceOf(lower.space(), lower.row());
  const rocksdb::Slice begin = ToSlice(lower.row());
  const rocksdb::Slice end = ToSlice(upper.row());
  return FromRocksDb(rocksdb::DeleteFilesInRange(&place.db, place.family, &begin, &end, false));
}

}  // namespace cairn
