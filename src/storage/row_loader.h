// SPDX-License-Identifier: BSD-3-Clause
//
// RowLoader: writes rows as they are into a new data directory, without the store's checks and compaction filters.
//
// After a failed write the database stays open, also beyond the loader's end: RocksDB cannot be closed while it tries
// to recover (storage/recovery.h). So the process must end with std::_Exit then.
//
// Thread: that of its user.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "encoding/row_key.h"

namespace rocksdb {
class WriteBatch;
}

namespace cairn {

class Engine;

class RowLoader {
 public:
  RowLoader();
  ~RowLoader();
  // Creates the database in `dir`, which must be missing or empty. kIo with a message for the operator.
  Status Open(const std::string& dir);
  // This function and the next two return kIo if the disk does not take the rows.
  Status Put(Space space, std::string_view row, std::string_view value);
  // Writes all rows to tables.
  Status Flush();
  // Flush, and closes the database.
  Status Finish();

 private:
  Status WriteBatch();
  Status Fail(std::string_view error);

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<rocksdb::WriteBatch> batch_;
  std::string dir_;
  bool has_failed_ = false;
};

}  // namespace cairn
