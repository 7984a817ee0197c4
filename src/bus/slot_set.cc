// SPDX-License-Identifier: BSD-3-Clause
#include "bus/slot_set.h"

#include <bit>
#include <cstring>

#include "base/assert.h"

namespace cairn {

SlotSet SlotSet::FromBitmap(std::string_view bitmap) {
  ASSERT(bitmap.size() == kBytes, "a bitmap of slots has another size");
  SlotSet set;
  std::memcpy(set.bytes_.data(), bitmap.data(), kBytes);
  for (const uint8_t byte : set.bytes_) set.count_ += std::popcount(byte);
  return set;
}

bool SlotSet::Add(int slot) {
  if (Has(slot)) return false;
  bytes_[slot / 8] |= static_cast<uint8_t>(1 << slot % 8);
  ++count_;
  return true;
}

bool SlotSet::Remove(int slot) {
  if (!Has(slot)) return false;
  bytes_[slot / 8] &= static_cast<uint8_t>(~(1 << slot % 8));
  --count_;
  return true;
}

std::vector<SlotRange> SlotSet::Ranges() const {
  std::vector<SlotRange> ranges;
  int slot = 0;
  // The first slot from `slot` on that is in the set (`is_in`) or not in it; steps over bytes that hold none.
  const auto find = [&](bool is_in) {
    const uint8_t none = is_in ? 0x00 : 0xff;
    while (slot < kSlotCount && Has(slot) != is_in) slot += slot % 8 == 0 && bytes_[slot / 8] == none ? 8 : 1;
    return slot;
  };
  while (find(true) < kSlotCount) {
    const int first = slot;
    ranges.push_back({first, find(false) - 1});
  }
  return ranges;
}

}  // namespace cairn
