// SPDX-License-Identifier: BSD-3-Clause
//
// The keys of a slot, which are neighbours in the order of SCAN.
//
// Thread: one that may wait for the disk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/key_range_drops.h"

namespace cairn {

class Notifier;
class Store;
struct Limits;

// Whether there is any key.
bool HasKeys(Store& store, const Limits& limits);
// The number of keys in each slot from `first` to `last`.
Result<std::vector<int64_t>> CountSlotKeys(Store& store, const Limits& limits, int first, int last);
// The first `count` keys.
Result<std::vector<std::string>> SlotKeys(Store& store, const Limits& limits, int slot, int64_t count);
// Deletes all data, here and on replicas.
Status DeleteEverything(Store& store, const Notifier& notifier);
// Deletes the keys of slots by range tombstones, here and on replicas.
class SlotKeyDrops {
 public:
  SlotKeyDrops(Store& store, const Notifier& notifier) : store_(store), notifier_(notifier), drops_(store) {}

  // Deletes some thousand keys of a slot; returns false if it has none. REQUIRES: the slot is hidden
  // (storage/hidden_slots.h), no command of a client uses its keys, and no other thread is in this function.
  Result<bool> DropSome(int slot);

 private:
  Store& store_;
  const Notifier& notifier_;
  KeyRangeDrops drops_;
};

}  // namespace cairn
