// SPDX-License-Identifier: BSD-3-Clause
//
// LiveSize: the bytes that the data of all databases on disk take, for `max-data-size`.
//
// It is the size of the tables and of blob files, as compressed, without the part that is garbage, and of the
// memtables. The garbage is known only as an estimate: a compaction finds it. For key rows the exact number of keys
// tells which share of the tables' rows is alive, so an eviction counts at once. For elements it is the number of
// tombstones, and of the rows of dropped collections, which LazyFree counts soon after the drop. Scores are taken to
// have the same share of such rows as elements.
//
// Source: rocksdb/metadata.h. Thread: any.
#pragma once

#include <array>
#include <cstdint>

#include "base/mutex.h"
#include "encoding/row_key.h"
#include "encoding/storage_mode.h"

namespace cairn {

class Store;

class LiveSize {
 public:
  // The bytes, from the files as they were at the last Refresh, and from the present numbers of keys and of rows of
  // dropped collections.
  uint64_t Bytes(Store& store) const;
  // The bytes of garbage in the files, as of the last Refresh.
  uint64_t GarbageBytes(Store& store) const;
  // Looks at the files, unless the last look is too recent for what it cost. Takes RocksDB's mutex for about a
  // microsecond a file.
  void Refresh(Store& store);
  // Reads how many rows some tables have, at the first call. RocksDB does not tell it of tables that were opened at a
  // start. Without this no eviction would count before a compaction has rewritten them. Waits for the disk.
  void SampleTables(Store& store);
  // The bytes of the memtables on disk's engine that are not flushed. Those in memory and those that a reader still
  // holds are not included.
  static uint64_t MemtableBytes(Store& store);

  // Files of one column family.
  struct Files {
    uint64_t bytes = 0;
    uint64_t blob_bytes = 0;       // without what RocksDB knows to be garbage
    uint64_t described_bytes = 0;  // of files whose number of entries is known; those opened at a start are not
    uint64_t described_rows = 0;   // in them, tombstones excluded
    uint64_t tombstones = 0;       // in them
    // Describes the other files: their rows take as many bytes as those of `sample`.
    void Complete(const Files& sample);
    // The bytes of `live` rows, if the files have that many; else of all.
    uint64_t BytesOf(double live) const;
    // Returns the bytes of all rows except those that a tombstone deletes.
    uint64_t BytesWithoutDeleted() const;
    // Returns the number of these rows.
    double RowsWithoutDeleted() const;
  };

 private:
  static constexpr std::array kModes = {StorageMode::kSsd, StorageMode::kHdd};
  static constexpr std::array kSpaces = {Space::kKeys, Space::kElements, Space::kScores};
  using Samples = std::array<std::array<Files, kSpaces.size()>, kModes.size()>;

  uint64_t LiveBytesInFiles(Store& store) const;

  mutable Mutex mutex_;
  std::array<Files, kModes.size()> keys_ ABSL_GUARDED_BY(mutex_);
  uint64_t other_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of the other spaces, with rows of dropped collections
  double element_rows_ ABSL_GUARDED_BY(mutex_) = 0;   // with those too
  uint64_t orphans_ ABSL_GUARDED_BY(mutex_) = 0;      // those rows on disk
  uint64_t file_bytes_ ABSL_GUARDED_BY(mutex_) = 0;   // of all files, garbage included
  int64_t next_us_ ABSL_GUARDED_BY(mutex_) = 0;       // the time of the next look
  bool has_sampled_ ABSL_GUARDED_BY(mutex_) = false;
  Samples samples_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn
