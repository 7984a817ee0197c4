// SPDX-License-Identifier: BSD-3-Clause
//
// KeyspaceCounters: what commands found in the keyspace, for INFO stats.
//
// They are counted on every read, so each counter is spread over cache lines by thread and summed
// when it is read. A command that is run again must not count twice: a transaction counts into
// plain fields of its own while a command runs and adds them here once the command has finished for
// good.
//
// Thread: any. A counter is never set back: CONFIG RESETSTAT remembers where it stood
// (stats/stats.h).
#pragma once

#include <atomic>
#include <cstdint>

namespace cairn {

// A count that many threads add to and few read.
class SpreadCounter {
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

  // Threads take slots in turn as they first count.
  static unsigned MySlot() {
    static std::atomic<unsigned> next{0};
    thread_local const unsigned mine = next.fetch_add(1, std::memory_order_relaxed) % kSlots;
    return mine;
  }

  Slot slots_[kSlots];
};

struct KeyspaceCounters {
  SpreadCounter keyspace_hits;    // look-ups by reading commands that found a key
  SpreadCounter keyspace_misses;  // and those that did not
  SpreadCounter lazyfreed_objects;  // dropped collections whose rows were given back
  SpreadCounter expired_keys;     // keys deleted because their time had passed
  SpreadCounter refused_for_room;  // commands refused for min-free-disk
  SpreadCounter changes;          // changes that were committed, as INFO's rdb_changes_since_last_save counts them
};

}  // namespace cairn
