// SPDX-License-Identifier: BSD-3-Clause
//
// RowLoader: writes rows as they are into a new data directory, without the store's checks and compaction filters.
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
  Status Put(Space space, std::string_view row, std::string_view value);
  // Writes all rows to tables.
  Status Flush();
  // Flush, and closes the database.
  Status Finish();

 private:
  Status WriteBatch();

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<rocksdb::WriteBatch> batch_;
};

}  // namespace cairn
