// SPDX-License-Identifier: BSD-3-Clause
//
// OfflineRows: walks over the rows of one space of an OfflineDatabase and steps over those that cannot be read: the
// rows of a damaged block, or one row whose value in a blob file is damaged. The rows of a damaged block are the ones
// between two keys that are found by bisection, because RocksDB does not tell where the block ends.
//
// Thread: that of its user.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "storage/offline_database.h"

namespace rocksdb {
class Iterator;
}

namespace cairn {

class OfflineRows {
 public:
  // The rows between `first` and `last`, the nearest ones that can be read, could not be read. An empty `first` is the
  // start of the space, an empty `last` its end. If both are the same, only that row's value could not be read.
  using OnGap = std::function<void(Space space, std::string_view first, std::string_view last, std::string_view why)>;

  // Starts at the first row.
  OfflineRows(const OfflineDatabase& database, Space space, OnGap on_gap);
  ~OfflineRows();

  void Seek(std::string_view row);
  void Next();
  bool Valid() const;
  std::string_view row() const;  // both valid until the next call
  std::string_view value() const;

 private:
  bool Reads(std::string_view row);  // whether a seek to this row succeeds
  // Moves to the first row behind `from` that can be read; a seek to `from` fails. `after` is the row before.
  void StepOver(const std::string& after, const std::string& from);
  // Whether a seek succeeds to `row`, or to one of a few rows between it and `low`; `row` is that one then. A single
  // row may be in another damaged block, far behind the end of the first one.
  bool ReadsNear(const std::string& low, std::string& row);
  std::string Bisect(std::string low, std::string high);

  const OfflineDatabase& database_;
  const Space space_;
  const OnGap on_gap_;
  std::unique_ptr<rocksdb::Iterator> rows_;
};

}  // namespace cairn
