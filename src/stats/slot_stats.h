// SPDX-License-Identifier: BSD-3-Clause
//
// SlotStats: the time and the bytes that the commands of clients cost in each slot of a cluster, for CLUSTER
// SLOT-STATS.
//
// The queue of EXEC counts command by command, a script as a whole in the slot of its declared keys. Commands of the
// replication stream do not count.
//
// Thread: any. While the directive cluster-slot-stats-enabled is off, a command costs one atomic read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace cairn {

class SlotStats {
 public:
  struct Sums {
    uint64_t usec = 0;
    uint64_t bytes_in = 0;
    uint64_t bytes_out = 0;
  };

  // `slots` is 0 on a server that is no node of a cluster.
  explicit SlotStats(size_t slots) : slots_(slots), cells_(slots == 0 ? nullptr : std::make_unique<Cell[]>(slots)) {}

  // The directive; a server that is no node of a cluster is never on.
  void set_on(bool is_on) { is_on_ = is_on && slots_ > 0; }
  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }

  // Adds the costs of a command. REQUIRES: the slot is one, on a node of a cluster.
  void Note(int slot, const Sums& costs) {
    Cell& cell = At(slot);
    Add(cell.usec, costs.usec);
    Add(cell.bytes_in, costs.bytes_in);
    Add(cell.bytes_out, costs.bytes_out);
  }
  // Since the start, the last reset, or the moment when the slot came here. REQUIRES: as Note.
  Sums Of(int slot) const {
    const Cell& cell = At(slot);
    return {cell.usec.load(std::memory_order_relaxed), cell.bytes_in.load(std::memory_order_relaxed),
            cell.bytes_out.load(std::memory_order_relaxed)};
  }
  // The slot has left this node. REQUIRES: as Note.
  void Forget(int slot) { At(slot).Clear(); }
  // CONFIG RESETSTAT.
  void Reset() {
    for (size_t i = 0; i < slots_; ++i) cells_[i].Clear();
  }

 private:
  using Counter = std::atomic<uint64_t>;
  struct Cell {
    Counter usec{0}, bytes_in{0}, bytes_out{0};
    void Clear() {
      for (Counter* counter : {&usec, &bytes_in, &bytes_out}) counter->store(0, std::memory_order_relaxed);
    }
  };

  static void Add(Counter& counter, uint64_t value) { counter.fetch_add(value, std::memory_order_relaxed); }
  Cell& At(int slot) const { return cells_[static_cast<size_t>(slot)]; }

  std::atomic<bool> is_on_{false};
  const size_t slots_;
  const std::unique_ptr<Cell[]> cells_;
};

}  // namespace cairn
