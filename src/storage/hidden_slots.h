// SPDX-License-Identifier: BSD-3-Clause
//
// HiddenSlots: the slots of a cluster whose keys are stored here but do not exist for clients: another node serves
// them, and they are being imported, or deleted after the slot has left. A scan of a keyspace skips them, and neither
// expiry nor eviction deletes them. Readers of a snapshot see them, so that transfers to replicas are complete.
//
// A thread that hides slots and then waits for all holders of stripes knows that no key of these slots is being
// expired or evicted any more: both look here while they hold the stripe.
//
// Thread: any; one at a time sets.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

#include "encoding/row_key.h"

namespace cairn {

// The slot of a position of the keyspace, and the first position of a slot.
inline constexpr int kPositionHashBits = 32;
inline int SlotOfPosition(uint64_t position) { return static_cast<int>(position >> kPositionHashBits); }
inline uint64_t PositionOfSlot(int slot) { return static_cast<uint64_t>(slot) << kPositionHashBits; }

class HiddenSlots {
 public:
  static constexpr int kSlots = 16384;

  // Whether there are any; cheap.
  bool any() const { return any_.load(std::memory_order_acquire); }
  bool Has(int slot) const {
    return any() && (bits_[static_cast<size_t>(slot) / kBits].load(std::memory_order_relaxed) >> (slot % kBits) & 1);
  }
  // The first slot from `slot` on that is hidden, or shown; kSlots if there is none.
  int Next(int slot, bool hidden) const {
    while (slot < kSlots && Has(slot) != hidden) ++slot;
    return slot;
  }
  // Hides exactly the slots of which `is_hidden` is true. Returns whether a slot is shown that was hidden before.
  bool Set(const std::function<bool(int)>& is_hidden) {
    bool shows = false;
    bool hides = false;
    any_.store(true, std::memory_order_release);  // Has() must not miss a bit that is set below
    for (int slot = 0; slot < kSlots; ++slot) {
      const uint64_t bit = uint64_t{1} << (slot % kBits);
      std::atomic<uint64_t>& word = bits_[static_cast<size_t>(slot) / kBits];
      const bool hidden = is_hidden(slot);
      hides = hides || hidden;
      const uint64_t before = hidden ? word.fetch_or(bit) : word.fetch_and(~bit);
      shows = shows || (!hidden && (before & bit) != 0);
    }
    any_.store(hides, std::memory_order_release);
    return shows;
  }

 private:
  static constexpr int kBits = 64;

  std::array<std::atomic<uint64_t>, kSlots / kBits> bits_{};
  std::atomic<bool> any_{false};
};

}  // namespace cairn
