// SPDX-License-Identifier: BSD-3-Clause
//
// ExpiryStart: where the next round of active expiry starts (types/expiry.h). The expiries space has no row before it.
//
// A round leaves the row at which it ended and not only its time: earlier rows of the same millisecond are tombstones
// by then, possibly hundreds of thousands. A commit notes the earliest time that it wrote. A round starts at the noted
// time if that is at or before the row left.
//
// Each engine has its own, because each has its own rows (storage/row_engines.h).
//
// A row that cannot be read does not hold up the others: rounds pass it, and a minute later one starts at it again.
//
// A hash with more expired fields than one round deletes has a position of its own. It is a hint: the round that finds
// no expired field behind it starts again at the hash's earliest deadline.
//
// Thread: any; Take, Leave, Skip, RetrySkipped and fields_left belong to "cron".
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "encoding/row_key.h"
#include "encoding/storage_mode.h"

namespace cairn {

// Position of a field among the fields of its hash that have a deadline.
struct FieldPlace {
  int64_t when_ms = 0;
  std::string field;
};

class ExpiryStart {
 public:
  // For the rows of the engine on disk, or of the one in memory (kMemory).
  explicit ExpiryStart(StorageMode mode) : mode_(mode) {}

  // A row of this time was committed, or earlier rounds may have skipped rows of this time.
  void Note(int64_t when_ms);
  // Whether a row may have expired.
  bool IsDue(int64_t now_ms) const { return noted_ms_.load() <= now_ms || left_ms_.load() <= now_ms; }
  // Returns the start of a round and clears the noted time: the round reads the rows of earlier notes.
  RowKey Take();
  // The round ended at this row and has handled all earlier ones. INT64_MAX: it reached the last row. Without this
  // call the next round starts where this one did.
  void Leave(int64_t when_ms, std::string_view key_row);
  // The time of the row at which the next round starts, or, after Take, of the first row of this round.
  int64_t left_ms() const { return left_ms_.load(); }
  // The rows from this time on, or some of them, could not be read. Returns whether none were skipped since the last
  // retry. `now_ms`, here and below, is monotonic.
  bool Skip(int64_t when_ms, int64_t now_ms);
  // Notes the rows that were skipped a minute ago.
  void RetrySkipped(int64_t now_ms);
  // The start for a reader of all expiry rows.
  RowKey First() const;
  // By key row: the last field that the last round deleted.
  std::map<std::string, FieldPlace, std::less<>>& fields_left() { return fields_left_; }

 private:
  RowKey BoundAt(int64_t when_ms, std::string_view key_row) const;

  const StorageMode mode_;
  std::atomic<int64_t> noted_ms_{0};  // 0: the rows present at the start are unknown
  std::atomic<int64_t> left_ms_{INT64_MAX};
  mutable Mutex mutex_;
  std::string left_key_row_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, FieldPlace, std::less<>> fields_left_;
  int64_t skipped_ms_ = INT64_MAX;  // the earliest row that was skipped
  int64_t retry_at_ms_ = 0;
};

}  // namespace cairn
