// SPDX-License-Identifier: BSD-3-Clause
#include "storage/live_size.h"

#include <rocksdb/db.h>
#include <rocksdb/metadata.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr int64_t kLeastPauseUs = 50'000;
constexpr int64_t kPauses = 100;  // a look takes at most this part of the time
constexpr size_t kSampledTables = 16;

// The column family of the mode; null: there is none.
rocksdb::ColumnFamilyHandle* FamilyOf(const Engine& engine, Space space, StorageMode mode) {
  rocksdb::ColumnFamilyHandle* const family = engine.family(space, mode);
  return mode != StorageMode::kSsd && family == engine.family(space) ? nullptr : family;
}

LiveSize::Files FilesOf(const Engine& engine, Space space, StorageMode mode) {
  LiveSize::Files files;
  rocksdb::ColumnFamilyHandle* const family = FamilyOf(engine, space, mode);
  if (family == nullptr) return files;
  rocksdb::ColumnFamilyMetaData found;
  engine.db().GetColumnFamilyMetaData(family, &found);
  for (const rocksdb::LevelMetaData& level : found.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      files.bytes += file.size;
      if (file.num_entries == 0) continue;
      files.described_bytes += file.size;
      files.described_rows += file.num_entries - std::min(file.num_entries, file.num_deletions);
      files.tombstones += file.num_deletions;
    }
  }
  for (const rocksdb::BlobMetaData& blobs : found.blob_files) {
    files.blob_bytes += blobs.total_blob_bytes - std::min(blobs.total_blob_bytes, blobs.garbage_blob_bytes);
  }
  return files;
}

// The rows in some tables, which lie far apart, and in those above and below them.
LiveSize::Files SampleOf(const Engine& engine, Space space, StorageMode mode) {
  LiveSize::Files sample;
  rocksdb::ColumnFamilyHandle* const family = FamilyOf(engine, space, mode);
  if (family == nullptr) return sample;
  rocksdb::ColumnFamilyMetaData found;
  engine.db().GetColumnFamilyMetaData(family, &found);
  std::vector<std::string> rows;  // the first of each table
  for (const rocksdb::LevelMetaData& level : found.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) rows.push_back(file.smallestkey);
  }
  std::vector<rocksdb::Range> ranges;
  for (size_t i = 0; i < rows.size(); i += rows.size() / kSampledTables + 1) ranges.emplace_back(rows[i], rows[i]);
  rocksdb::TablePropertiesCollection tables;
  const rocksdb::Status read = engine.db().GetPropertiesOfTablesInRange(family, ranges.data(), ranges.size(), &tables);
  if (!read.ok()) return sample;
  for (const auto& [name, table] : tables) {
    sample.described_bytes += table->data_size + table->index_size + table->filter_size;
    sample.described_rows += table->num_entries - std::min(table->num_entries, table->num_deletions);
    sample.tombstones += table->num_deletions;
  }
  return sample;
}

uint64_t Share(uint64_t bytes, double live, double rows) {
  return rows <= live ? bytes : static_cast<uint64_t>(static_cast<double>(bytes) * live / rows);
}

}  // namespace

void LiveSize::Files::Complete(const Files& sample) {
  if (sample.described_bytes == 0 || described_bytes >= bytes) return;
  const double factor = static_cast<double>(bytes - described_bytes) / static_cast<double>(sample.described_bytes);
  described_rows += static_cast<uint64_t>(factor * static_cast<double>(sample.described_rows));
  tombstones += static_cast<uint64_t>(factor * static_cast<double>(sample.tombstones));
  described_bytes = bytes;
}

uint64_t LiveSize::Files::BytesOf(double live) const {
  if (bytes == 0) return 0;  // what is in blob files is garbage
  if (described_bytes == 0) return bytes + blob_bytes;
  const double rows =
      static_cast<double>(described_rows) * static_cast<double>(bytes) / static_cast<double>(described_bytes);
  return Share(bytes + blob_bytes, live, rows);
}

uint64_t LiveSize::Files::BytesWithoutDeleted() const {
  const auto rows = static_cast<double>(described_rows);
  return Share(bytes + blob_bytes, std::max(0.0, rows - static_cast<double>(tombstones)), rows);
}

double LiveSize::Files::RowsWithoutDeleted() const {
  if (described_bytes == 0) return 0;
  const auto rows = static_cast<double>(described_rows - std::min(described_rows, tombstones));
  return rows * static_cast<double>(bytes) / static_cast<double>(described_bytes);
}

uint64_t LiveSize::MemtableBytes(Store& store) {
  return store.engine().Property(rocksdb::DB::Properties::kCurSizeAllMemTables);
}

uint64_t LiveSize::LiveBytesInFiles(Store& store) const {
  std::array<double, kModes.size()> keys{};
  for (int db = 0; db < store.databases().size(); ++db) {
    const Database& database = store.databases()[db];
    const auto mode = static_cast<size_t>(ModeOfKeyspace(database.keyspace));
    if (mode < keys.size()) keys[mode] += static_cast<double>(std::max<int64_t>(database.keys, 0));
  }
  const uint64_t counted = store.lazy_free().orphans_on_disk();
  const MutexLock lock(mutex_);
  // A compaction since the last look has dropped rows that are still in the files as they were then.
  const auto orphans = static_cast<double>(std::max(counted, orphans_));
  uint64_t bytes = Share(other_bytes_, std::max(0.0, element_rows_ - orphans), element_rows_);
  for (size_t i = 0; i < keys.size(); ++i) bytes += keys_[i].BytesOf(keys[i]);
  return bytes;
}

uint64_t LiveSize::Bytes(Store& store) const { return MemtableBytes(store) + LiveBytesInFiles(store); }

uint64_t LiveSize::GarbageBytes(Store& store) const {
  const uint64_t live = LiveBytesInFiles(store);
  const MutexLock lock(mutex_);
  return file_bytes_ - std::min(file_bytes_, live);
}

void LiveSize::SampleTables(Store& store) {
  {
    const MutexLock lock(mutex_);
    if (std::exchange(has_sampled_, true)) return;
  }
  Samples samples;
  for (size_t i = 0; i < kModes.size(); ++i) {
    for (size_t j = 0; j < kSpaces.size(); ++j) samples[i][j] = SampleOf(store.engine(), kSpaces[j], kModes[i]);
  }
  const MutexLock lock(mutex_);
  samples_ = samples;
}

void LiveSize::Refresh(Store& store) {
  const int64_t begin_us = MonotonicUs();
  Samples samples;
  {
    const MutexLock lock(mutex_);
    if (begin_us < next_us_) return;
    next_us_ = INT64_MAX;  // this thread looks
    samples = samples_;
  }
  std::array<Files, kModes.size()> keys;
  const uint64_t orphans = store.lazy_free().orphans_on_disk();
  uint64_t other_bytes = 0;
  double element_rows = 0;
  uint64_t file_bytes = 0;
  for (size_t i = 0; i < kModes.size(); ++i) {
    for (size_t j = 0; j < kSpaces.size(); ++j) {
      Files files = FilesOf(store.engine(), kSpaces[j], kModes[i]);
      files.Complete(samples[i][j]);
      file_bytes += files.bytes + files.blob_bytes;
      if (kSpaces[j] == Space::kKeys) keys[i] = files;
      else other_bytes += files.BytesWithoutDeleted();
      if (kSpaces[j] == Space::kElements) element_rows += files.RowsWithoutDeleted();
    }
  }
  const int64_t end_us = MonotonicUs();
  const MutexLock lock(mutex_);
  keys_ = keys;
  other_bytes_ = other_bytes;
  element_rows_ = element_rows;
  orphans_ = orphans;
  file_bytes_ = file_bytes;
  next_us_ = end_us + std::max(kLeastPauseUs, kPauses * (end_us - begin_us));
}

}  // namespace cairn
