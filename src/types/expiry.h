// SPDX-License-Identifier: BSD-3-Clause
//
// Active expiry: deletes keys soon after they expire, without a scan and without an access to them.
//
// Every key with an expiry has a row in the expiries space, ordered by time. The store remembers a row before which the
// space is empty (storage/expiry_start.h). So a round costs nothing while no key is due, and it never walks over the
// tombstones of earlier rounds.
//
// Thread: the cron thread, with its own transaction.
#pragma once

#include <absl/functional/function_ref.h>

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/transaction.h"
#include "types/limits.h"

namespace cairn {

// A row of the expiries space. Thread: a value.
struct DueRow {
  int64_t when_ms;
  std::string key_row;
  bool is_one_row = false;  // its value was kExpiresOneRow
  auto operator<=>(const DueRow&) const = default;
};

// What has become of due rows. Thread: a value.
struct ExpiredRows {
  uint64_t done = 0;  // so many of the first rows were handled: all of them, unless a commit failed or had to wait
  std::vector<DueRow> unreadable;  // those of them that could not be read, which are as they were
  Status status;                   // why not all were handled, or why some could not be read
};

// Deletes the keys and the hash fields of these rows that are still due, some dozen per commit. Takes the stripes of
// the keys. Asks `may_expire` in each commit while it holds them, and stops with kWouldWait if not. If `is_one_row` of
// a row is set, all rows must be of one engine and in the order of the expiries space. Thread: that of the transaction.
ExpiredRows ExpireRows(Transaction& txn, const Limits& limits, int64_t now_ms, std::span<const DueRow> rows,
                       absl::FunctionRef<bool()> may_expire);

// Deletes up to `most` keys that expired at `now_ms` or before, some dozen per commit, as long as `may_expire` (see
// above) allows it. Returns their number. What cannot be read is skipped for a minute, and its error returned once.
Result<uint64_t> ExpireDue(Transaction& txn, const Limits& limits, int64_t now_ms, uint64_t most,
                           absl::FunctionRef<bool()> may_expire);

// Emits `keymiss` for the expired keys in `found` that a read missed. The keys stay where they are. Thread: that of the
// transaction.
void EmitMisses(Transaction& txn, std::span<const StaleKey> found);

// Deletes the keys of `found` that still exist and are expired, within the transaction's current command. Returns
// kWouldWait on the fast lane if a key's stripe is taken. Thread: that of the transaction.
Status ExpireKeys(Transaction& txn, const Limits& limits, std::span<const StaleKey> found);

}  // namespace cairn
