// SPDX-License-Identifier: BSD-3-Clause
//
// SlotSet: a set of hash slots, kept as the bitmap that the bus sends: slot s is bit s % 8 (the least significant is 0)
// of byte s / 8.
//
// Thread: any; a value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cairn {

inline constexpr int kSlotCount = 16384;

// Whether `slot` is the number of a slot.
inline bool IsSlot(int64_t slot) { return slot >= 0 && slot < kSlotCount; }

// The slots from `first` to `last`, both included.
struct SlotRange {
  int first;
  int last;

  friend bool operator==(const SlotRange&, const SlotRange&) = default;
};

// REQUIRES: each slot passed is one (IsSlot).
class SlotSet {
 public:
  static constexpr size_t kBytes = kSlotCount / 8;

  // The empty set.
  SlotSet() : bytes_{} {}
  // The set with this bitmap. REQUIRES: bitmap.size() == kBytes
  static SlotSet FromBitmap(std::string_view bitmap);

  bool Has(int slot) const { return (bytes_[slot / 8] >> slot % 8 & 1) != 0; }
  // Adds or removes a slot; false if it was in the set or not in it already.
  bool Add(int slot);
  bool Remove(int slot);

  int count() const { return count_; }
  bool empty() const { return count_ == 0; }
  std::string_view bitmap() const { return {reinterpret_cast<const char*>(bytes_.data()), kBytes}; }

  // The maximal ranges of the set, ascending.
  std::vector<SlotRange> Ranges() const;

  friend bool operator==(const SlotSet&, const SlotSet&) = default;

 private:
  std::array<uint8_t, kBytes> bytes_;
  int count_ = 0;
};

}  // namespace cairn
