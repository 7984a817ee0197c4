// SPDX-License-Identifier: BSD-3-Clause
//
// BlobFiles: the blob files, which hold large values, and their garbage collection (docs/decisions/blob-files.md).
//
// A blob file is deleted when all its values are garbage. RocksDB's own collection moves the other values of the oldest
// files to new ones, in each compaction that meets them, whether the files have garbage or not. So it is switched on
// only while `blob-garbage-share` of all bytes in blob files is garbage, and only for so many of the oldest files that
// a compaction moves about `blob-garbage-step` bytes of values.
//
// Thread: any; Watch on one thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "encoding/row_key.h"
#include "storage/store_options.h"

namespace cairn {

class Engine;

// The spaces whose large values are in blob files.
inline constexpr Space kBlobSpaces[] = {Space::kKeys, Space::kElements};

// The blob files of a space, or of all spaces. Garbage is what compactions found deleted or overwritten.
struct BlobTotals {
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t garbage = 0;

  bool operator==(const BlobTotals&) const = default;
};

struct BlobFile {
  uint64_t bytes = 0;
  uint64_t garbage = 0;  // of these bytes
};

// The share of the oldest files, 0 to 1, that compactions shall empty, as RocksDB counts it: the garbage shall fall to
// `share` of all bytes, and at most `step_bytes` of values shall move, but one file is always included. 0: the garbage
// is within `share`. `files` begins with the oldest.
double BlobCutoff(std::span<const BlobFile> files, double share, uint64_t step_bytes);

class BlobFiles {
 public:
  BlobFiles(Engine& engine, const BlobOptions& options) : engine_(engine), options_(options) {}

  // Sizes and compression are those of values that are flushed or compacted later.
  Status Set(const BlobOptions& options);
  // Called ten times a second. Switches the collection on and off, for which writes wait some ms: RocksDB syncs its
  // options.
  void Watch();
  // Whether there is too much garbage, but for ten seconds no compaction has changed anything, so that only one for
  // this purpose will; and whether the garbage is worth that, as all tables of the space are rewritten.
  bool MustCompact(Space space) const;
  // What BlobCutoff returns for the space now, without regard to a step. `share` of the bytes may be garbage; the
  // setting if it is less.
  double CutoffTo(Space space, double share) const;

  BlobTotals totals() const;
  // Bytes of values that the collection has moved since the start.
  uint64_t moved_bytes() const;

 private:
  BlobTotals TotalsOf(Space space) const;
  // From the oldest to the newest. The cost is that of a look at all tables: not ten times a second.
  std::vector<BlobFile> FilesOf(Space space) const;
  BlobOptions options() const;

  Engine& engine_;
  mutable Mutex mutex_;
  BlobOptions options_ ABSL_GUARDED_BY(mutex_);
  // Used by Watch, by space.
  double cutoffs_[kSpaceCount] = {};  // as set in RocksDB; 0: the collection is off
  BlobTotals seen_[kSpaceCount];
  BlobOptions used_;                              // for cutoffs_
  std::atomic<int> unchanged_[kSpaceCount] = {};  // looks while there was too much garbage
};

}  // namespace cairn
