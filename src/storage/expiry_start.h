// SPDX-License-Identifier: BSD-3-Clause
//
// ExpiryStart: where the next round of active expiry begins (types/expiry.h). No row of the expiries space lies before
// it.
//
// A round leaves the row where it ended, not only its time: rows of the same millisecond before it are tombstones by
// then, and may be hundreds of thousands. A commit notes the earliest time that it has written. A round that finds a
// note at or before the row that was left begins at the noted time.
//
// A hash of which more fields are due than a round deletes has a place of its own. It is an aid: the round that finds
// no more behind it looks from the hash's earliest deadline on.
//
// Thread: any; Take, Leave and fields_left belong to "cron".
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "encoding/row_key.h"

namespace cairn {

// Of a field, among those of its hash that have a deadline.
struct FieldPlace {
  int64_t when_ms = 0;
  std::string field;
};

class ExpiryStart {
 public:
  // A row of this time was committed, or rows may have been passed over since.
  void Note(int64_t when_ms);
  // Whether a row may be due.
  bool IsDue(int64_t now_ms) const { return noted_ms_.load() <= now_ms || left_ms_.load() <= now_ms; }
  // Where a round begins. Commits note their times anew from here on: those noted before are in the rows that it reads.
  RowKey Take();
  // The round ended at this row, and everything before is settled. INT64_MAX: it reached the last row. Without it the
  // next round begins where this one did.
  void Leave(int64_t when_ms, std::string_view key_row);
  // For a reader of all expiry rows.
  RowKey First() const;
  // By key row: the last field that the last round has deleted.
  std::map<std::string, FieldPlace, std::less<>>& fields_left() { return fields_left_; }

 private:
  std::atomic<int64_t> noted_ms_{0};  // what was there at the start is not known
  std::atomic<int64_t> left_ms_{INT64_MAX};
  mutable std::mutex mutex_;
  std::string left_key_row_;  // guarded by mutex_
  std::map<std::string, FieldPlace, std::less<>> fields_left_;
};

}  // namespace cairn
