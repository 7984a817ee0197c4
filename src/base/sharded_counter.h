// SPDX-License-Identifier: BSD-3-Clause
//
// ShardedCounter: a counter with many writing and few reading threads. Each thread adds to one of several cache lines;
// a read sums them.
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>

namespace cairn {

class ShardedCounter {
 public:
  void Add(uint64_t n = 1) { slots_[MySlot()].value.fetch_add(n, std::memory_order_relaxed); }

  uint64_t load(std::memory_order order = std::memory_order_relaxed) const {
    uint64_t sum = 0;
    for (const Slot& slot : slots_) sum += slot.value.load(order);
    return sum;
  }

 private:
  static constexpr unsigned kSlots = 16;  // a power of two
  struct alignas(64) Slot {
    std::atomic<uint64_t> value{0};
  };

  // Threads get slots in turn at their first count.
  static unsigned MySlot() {
    static std::atomic<unsigned> next{0};
    thread_local const unsigned mine = next.fetch_add(1, std::memory_order_relaxed) % kSlots;
    return mine;
  }

  Slot slots_[kSlots];
};

}  // namespace cairn
