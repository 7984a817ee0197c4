// SPDX-License-Identifier: BSD-3-Clause
//
// Cursor: iterates over the rows between two bounds of one space, in either direction, as one transaction sees them:
// committed rows merged with the transaction's uncommitted ones.
//
// A cursor sees the rows as of its construction; it does not see rows that its transaction writes later. It must not
// outlive the command that made it.
//
//   for (Cursor cursor = txn.Scan(lower, upper, Direction::kForward); cursor.Valid(); cursor.Next()) ...
//   TRY(cursor.status());   // kWouldWait when the next block is not in memory, or the work budget is used up
//
// Thread: that of its transaction.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "encoding/row_key.h"

namespace rocksdb {
class Iterator;
}

namespace cairn {

class Transaction;

enum class Direction : unsigned char { kForward, kReverse };

class Cursor {
 public:
  Cursor(Cursor&&) noexcept;
  Cursor& operator=(Cursor&&) noexcept;
  ~Cursor();

  bool Valid() const { return valid_; }
  void Next();
  std::string_view row() const { return row_; }      // without the space byte
  std::string_view value() const { return value_; }  // both valid until Next()

  // Why Valid() is false; OK at the end of the range.
  Status TakeStatus();

 private:
  friend class Transaction;
  struct OwnRow {  // an uncommitted row within the bounds, of this tick or its predecessor
    std::string_view row;
    std::string_view value;
    bool deleted;
  };
  Cursor(Transaction& txn, const RowKey& lower, const RowKey& upper, Direction direction);
  void CollectOwnRows(const RowKey& lower, const RowKey& upper);
  void AwaitDurable();
  void Settle();
  bool Before(std::string_view a, std::string_view b) const;
  void StepCommitted();
  // Calls step(), which moves committed_. Charges its reads, and notes a read that would have had to wait.
  template <typename Step>
  void Read(Step step);

  Transaction* txn_;
  Direction direction_;
  struct Bounds;
  std::unique_ptr<Bounds> bounds_;  // the iterator points into it
  std::unique_ptr<rocksdb::Iterator> committed_;
  std::vector<OwnRow> own_;  // in the cursor's direction
  size_t next_own_ = 0;
  bool on_own_ = false;
  bool refused_ = false;  // a read of committed_ would have had to wait
  bool valid_ = false;
  Status status_;
  std::string_view row_;
  std::string_view value_;
};

}  // namespace cairn
