// SPDX-License-Identifier: BSD-3-Clause
//
// ScriptMemory: limits the memory of all Lua states together. A state takes memory in pieces, so an allocation is only
// a comparison. If no more is left, states that no run uses are destroyed; if there are none, the script fails with
// "not enough memory".
//
// Thread: ScriptMemory any, ScriptMemoryShare that of its state.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

namespace cairn {

class ScriptMemory {
 public:
  // `destroy_idle` destroys a state that no run uses, or returns false: there is none.
  ScriptMemory(uint64_t limit, std::function<bool()> destroy_idle)
      : limit_(limit), destroy_idle_(std::move(destroy_idle)) {}

  // The scripts' share of the budget. Even the smallest budget allows scripts of some size.
  static constexpr uint64_t ShareOf(uint64_t budget) { return std::max(budget / 8, uint64_t{16} << 20); }

  uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  void set_limit(uint64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
  // Returns false, without taking any, if not enough is left.
  bool Take(uint64_t bytes) {
    while (taken_.fetch_add(bytes, std::memory_order_relaxed) + bytes > limit()) {
      GiveBack(bytes);
      if (!destroy_idle_()) return false;
    }
    return true;
  }
  // For memory that is already in use, even beyond the limit.
  void TakeAlways(uint64_t bytes) { taken_.fetch_add(bytes, std::memory_order_relaxed); }
  void GiveBack(uint64_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> limit_;
  const std::function<bool()> destroy_idle_;
  std::atomic<uint64_t> taken_{0};
};

// The memory taken by one Lua state: whole pieces, and after Settle no more than the state needs.
class ScriptMemoryShare {
 public:
  explicit ScriptMemoryShare(ScriptMemory& memory) : memory_(memory) {}
  ~ScriptMemoryShare() { memory_.GiveBack(taken_); }
  ScriptMemoryShare(const ScriptMemoryShare&) = delete;
  ScriptMemoryShare& operator=(const ScriptMemoryShare&) = delete;

  uint64_t limit() const { return memory_.limit(); }
  // Takes the memory that a state of `bytes` lacks. Returns false, without taking any, if not enough is left.
  bool Cover(uint64_t bytes) {
    if (bytes <= taken_) return true;
    const uint64_t missing = InPieces(bytes - taken_);
    if (!memory_.Take(missing)) return false;
    taken_ += missing;
    return true;
  }
  // Adjusts the share to a state of `bytes`, even beyond the limit.
  void Settle(uint64_t bytes) {
    const uint64_t holds = InPieces(bytes);
    if (holds > taken_) memory_.TakeAlways(holds - taken_);
    if (holds < taken_) memory_.GiveBack(taken_ - holds);
    taken_ = holds;
  }

 private:
  static constexpr uint64_t kPiece = 64 << 10;
  static uint64_t InPieces(uint64_t bytes) { return (bytes + kPiece - 1) / kPiece * kPiece; }

  ScriptMemory& memory_;
  uint64_t taken_ = 0;
};

}  // namespace cairn
