// SPDX-License-Identifier: BSD-3-Clause
//
// Active expiry: deletes keys soon after their time has passed, without scanning and without their being touched.
//
// Every key with an expiry has a row in the expiries space, ordered by time. The store remembers a row before which
// there are none (storage/expiry_start.h), so a round costs nothing while nothing is due and never walks over the
// tombstones of rounds before.
//
// Thread: the cron thread, with a transaction of its own.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "storage/transaction.h"
#include "types/limits.h"

namespace cairn {

// A row of the expiries space. Thread: a value.
struct DueRow {
  int64_t when_ms;
  std::string key_row;
  auto operator<=>(const DueRow&) const = default;
};

// Deletes the keys, and the fields of hashes, of these rows that are still due, in commits of some dozen. `done`
// becomes the number of rows that are settled, all of them unless there was an error. Thread: that of the transaction;
// takes the stripes of the keys.
Status ExpireRows(Transaction& txn, const Limits& limits, int64_t now_ms, std::span<const DueRow> rows, uint64_t& done);

// Deletes up to `most` keys whose time is `now_ms` or before, in commits of some dozen. Returns how many.
Result<uint64_t> ExpireDue(Transaction& txn, const Limits& limits, int64_t now_ms, uint64_t most);

// Of keys past their time that stay where they are: tells that a read has missed those of which it is wanted. Thread:
// the transaction's.
void AnnounceMisses(Transaction& txn, std::span<const StaleKey> found);

// Deletes those of the keys that are still there and past their time, within the transaction's current command.
// On the fast lane kWouldWait when a key's stripe is taken. Thread: the transaction's.
Status ExpireKeys(Transaction& txn, const Limits& limits, std::span<const StaleKey> found);

}  // namespace cairn
