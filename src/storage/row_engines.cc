// SPDX-License-Identifier: BSD-3-Clause
#include "storage/row_engines.h"

#include <rocksdb/db.h>

#include "storage/slice.h"

namespace cairn {

Status RowEngines::Provide(StorageMode mode) {
  if (mode == StorageMode::kHdd) return disk_.AddHddFamilies();
  if (mode != StorageMode::kMemory || owned_ != nullptr) return Ok();
  auto engine = std::make_unique<Engine>(disk_);
  TRY(engine->Open(filter_of_, {}));
  owned_ = std::move(engine);
  memory_.store(owned_.get(), std::memory_order_release);
  return Ok();
}

void RowEngines::CloseMemory() {
  if (owned_ != nullptr) owned_->Close();
}

rocksdb::Status RowEngines::Get(const rocksdb::ReadOptions& options, Space space, std::string_view row,
                                rocksdb::PinnableSlice& value) const {
  const RowPlace place = PlaceOf(space, row);
  return place.db.Get(options, place.family, ToSlice(row), &value);
}

uint64_t RowEngines::MemoryTableBytes() const {
  const Engine* const engine = memory();
  return engine == nullptr ? 0 : engine->Property(rocksdb::DB::Properties::kTotalSstFilesSize);
}

uint64_t RowEngines::MemoryBytes() const {
  const Engine* const engine = memory();
  if (engine == nullptr) return 0;
  return MemoryTableBytes() + engine->Property(rocksdb::DB::Properties::kCurSizeAllMemTables);
}

uint64_t RowEngines::MemorySequence() const { return memory()->db().GetLatestSequenceNumber(); }

Status RowEngines::CompactMemory() {
  Engine& engine = *memory();
  for (rocksdb::ColumnFamilyHandle* family : engine.families()) {
    rocksdb::CompactRangeOptions options;
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
    TRY(FromRocksDb(engine.db().CompactRange(options, family, nullptr, nullptr)));
  }
  return Ok();
}

}  // namespace cairn
