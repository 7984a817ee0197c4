// SPDX-License-Identifier: BSD-3-Clause
#include "storage/live_size.h"

#include <rocksdb/db.h>
#include <rocksdb/metadata.h>

#include <algorithm>

#include "base/clock.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr int64_t kLeastPauseUs = 50'000;
constexpr int64_t kPauses = 100;  // a look takes at most this part of the time

LiveSize::Files FilesOf(const Engine& engine, Space space, StorageMode mode) {
  LiveSize::Files files;
  rocksdb::ColumnFamilyHandle* const family = engine.family(space, mode);
  if (mode != StorageMode::kSsd && family == engine.family(space)) return files;  // there is none of this mode
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

uint64_t Share(uint64_t bytes, double live, double rows) {
  return rows <= live ? bytes : static_cast<uint64_t>(static_cast<double>(bytes) * live / rows);
}

}  // namespace

uint64_t LiveSize::Files::BytesOf(double live) const {
  if (described_bytes == 0) return bytes + blob_bytes;
  const double rows =
      static_cast<double>(described_rows) * static_cast<double>(bytes) / static_cast<double>(described_bytes);
  return Share(bytes + blob_bytes, live, rows);
}

uint64_t LiveSize::Files::BytesWithoutDeleted() const {
  const auto rows = static_cast<double>(described_rows);
  return Share(bytes + blob_bytes, std::max(0.0, rows - static_cast<double>(tombstones)), rows);
}

uint64_t LiveSize::Bytes(Store& store) const {
  std::array<double, kModes.size()> keys{};
  for (int db = 0; db < store.databases().size(); ++db) {
    const Database& database = store.databases()[db];
    const auto mode = static_cast<size_t>(ModeOfKeyspace(database.keyspace));
    if (mode < keys.size()) keys[mode] += static_cast<double>(std::max<int64_t>(database.keys, 0));
  }
  uint64_t bytes = store.engine().MemtableBytes();
  const MutexLock lock(mutex_);
  for (size_t i = 0; i < keys.size(); ++i) bytes += keys_[i].BytesOf(keys[i]);
  return bytes + other_bytes_;
}

uint64_t LiveSize::GarbageBytes(Store& store) const {
  const uint64_t bytes = Bytes(store);
  const uint64_t live = bytes - std::min(bytes, store.engine().MemtableBytes());
  const MutexLock lock(mutex_);
  return file_bytes_ - std::min(file_bytes_, live);
}

void LiveSize::Refresh(Store& store) {
  const int64_t begin_us = MonotonicUs();
  {
    const MutexLock lock(mutex_);
    if (begin_us < next_us_) return;
    next_us_ = INT64_MAX;  // this thread looks
  }
  std::array<Files, kModes.size()> keys;
  uint64_t other_bytes = 0;
  uint64_t file_bytes = 0;
  for (size_t i = 0; i < kModes.size(); ++i) {
    keys[i] = FilesOf(store.engine(), Space::kKeys, kModes[i]);
    file_bytes += keys[i].bytes + keys[i].blob_bytes;
    for (const Space space : {Space::kElements, Space::kScores}) {
      const Files others = FilesOf(store.engine(), space, kModes[i]);
      other_bytes += others.BytesWithoutDeleted();
      file_bytes += others.bytes + others.blob_bytes;
    }
  }
  const int64_t end_us = MonotonicUs();
  const MutexLock lock(mutex_);
  keys_ = keys;
  other_bytes_ = other_bytes;
  file_bytes_ = file_bytes;
  next_us_ = end_us + std::max(kLeastPauseUs, kPauses * (end_us - begin_us));
}

}  // namespace cairn
