// SPDX-License-Identifier: BSD-3-Clause
//
// The keys of a slot, which are neighbours in the order of SCAN.
//
// Thread: one that may wait for the disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "storage/key_range_drops.h"

namespace cairn {

class Notifier;
class Store;
class Transaction;
struct Limits;

// Whether there is any key.
bool HasKeys(Store& store, const Limits& limits);
// The number of keys in each slot from `first` to `last`.
Result<std::vector<int64_t>> CountSlotKeys(Store& store, const Limits& limits, int first, int last);
// Calls visit(key) for the keys of a slot until it returns false. It begins at the position `first_key`, if that is in
// the slot, and sets it to that of the first key it visits. The keys before it come last. So a caller that takes some
// keys and deletes them, again and again, does not walk each time over the tombstones of all deleted keys.
Status ForEachSlotKey(Store& store, const Limits& limits, int slot, std::atomic<uint64_t>& first_key,
                      const std::function<bool(std::string_view)>& visit);
// Deletes all data, here and on replicas.
Status DeleteEverything(Store& store, const Notifier& notifier);
// Deletes the keys of slots by range tombstones, here and on replicas.
class SlotKeyDrops {
 public:
  SlotKeyDrops(Store& store, const Notifier& notifier) : store_(store), notifier_(notifier), drops_(store) {}

  // Deletes some thousand keys of a slot; returns false if it has none, or if `may_drop` returns false. It waits for
  // holders of stripes, but not with `mutex`, which it holds while it calls `may_drop` and deletes the rows. REQUIRES:
  // the caller holds no stripe, no other thread is in this function, and if `may_drop` returns true, the slot is hidden
  // (storage/hidden_slots.h), and no command of a client uses its keys.
  Result<bool> DropSome(int slot, Mutex& mutex, const std::function<bool()>& may_drop);

 private:
  // Deletes the rows of the first keys of a slot, but not from the key cache. Returns the names of these keys.
  Result<std::vector<std::string>> DropRows(Transaction& txn, int slot);

  Store& store_;
  const Notifier& notifier_;
  KeyRangeDrops drops_;
};

}  // namespace cairn
