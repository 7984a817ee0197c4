// SPDX-License-Identifier: BSD-3-Clause
//
// LiveSize: the bytes that the data of all databases on disk take, for `max-data-size`.
//
// It is the size of the tables and of blob files, as compressed, without the part that is garbage, and of the
// memtables. The garbage is known only as an estimate: a compaction finds it. For key rows the exact number of keys
// tells which share of the tables' rows is alive, so an eviction counts at once. For elements it is the number of
// tombstones; rows of dropped collections count until a compaction, which LazyFree suggests at once.
//
// Source: rocksdb/metadata.h. Thread: any.
#pragma once

#include <array>
#include <cstdint>

#include "base/mutex.h"
#include "encoding/storage_mode.h"

namespace cairn {

class Store;

class LiveSize {
 public:
  // The bytes, from the files as they were at the last Refresh and from the present number of keys.
  uint64_t Bytes(Store& store) const;
  // The bytes of garbage in the files, as of the last Refresh.
  uint64_t GarbageBytes(Store& store) const;
  // Looks at the files, unless the last look is too recent for what it cost. Takes RocksDB's mutex for about a
  // microsecond a file.
  void Refresh(Store& store);

  // Files of one column family.
  struct Files {
    uint64_t bytes = 0;
    uint64_t blob_bytes = 0;       // without what RocksDB knows to be garbage
    uint64_t described_bytes = 0;  // of files whose number of entries is known; those opened at a start are not
    uint64_t described_rows = 0;   // in them, tombstones excluded
    uint64_t tombstones = 0;       // in them
    // The bytes of `live` rows, if the files have that many; else of all.
    uint64_t BytesOf(double live) const;
    // The bytes of the rows that have no tombstone.
    uint64_t BytesWithoutDeleted() const;
  };

 private:
  static constexpr std::array kModes = {StorageMode::kSsd, StorageMode::kHdd};

  mutable Mutex mutex_;
  std::array<Files, kModes.size()> keys_ ABSL_GUARDED_BY(mutex_);
  uint64_t other_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of the other spaces
  uint64_t file_bytes_ ABSL_GUARDED_BY(mutex_) = 0;   // of all files, garbage included
  int64_t next_us_ ABSL_GUARDED_BY(mutex_) = 0;       // the time of the next look
};

}  // namespace cairn
