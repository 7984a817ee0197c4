// SPDX-License-Identifier: BSD-3-Clause
//
// DeadFiles: deletes the files of ranges of rows that are all dead, as after FLUSHALL.
//
// A table is deleted as it is (rocksdb::DeleteFilesInRange), unless values of its rows are in blob files: RocksDB would
// not count these values as garbage, and would keep their files. So such a table is compacted first, and the compaction
// filter drops its rows without a look at the values.
//
// Thread: one at a time.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "encoding/row_key.h"
#include "storage/row_engines.h"

namespace cairn {

class DeadFiles {
 public:
  explicit DeadFiles(const RowEngines& engines);

  // Compacts at most one table with rows in [lower, upper) that has values in blob files. Returns whether none is left,
  // or whether it has given up; otherwise the caller tries again later.
  Result<bool> Compact(const RowKey& lower, const RowKey& upper);
  // Deletes the files that have only rows in [lower, upper). REQUIRES: Compact has returned true; a power loss does not
  // bring the rows back.
  Status Delete(const RowKey& lower, const RowKey& upper) const;

 private:
  // Returns false if there is no table with values in blob files.
  Result<bool> CompactBlobTable(const RowPlace& place, const RowKey& lower, const RowKey& upper);

  const RowEngines& engines_;
  uint64_t steps_left_;  // compactions; more than are needed, so that one that drops no rows is not repeated for ever
};

}  // namespace cairn
