// SPDX-License-Identifier: BSD-3-Clause
//
// ScriptMemory: the bytes that all Lua states together may hold. A state takes them in pieces, so that an allocation is
// a comparison; a state that gets no more answers the script with "not enough memory".
//
// Thread: of ScriptMemory any, of ScriptMemoryShare its state's.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace cairn {

class ScriptMemory {
 public:
  explicit ScriptMemory(uint64_t limit) : limit_(limit) {}

  // The share of a budget that scripts may take. A script of some size runs with the smallest budget, too.
  static constexpr uint64_t ShareOf(uint64_t budget) { return std::max(budget / 8, uint64_t{16} << 20); }

  uint64_t limit() const { return limit_; }
  // False: there are not as many left, and nothing was taken.
  bool Take(uint64_t bytes) {
    if (taken_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= limit_) return true;
    GiveBack(bytes);
    return false;
  }
  // For what is there already, limit or not.
  void TakeAlways(uint64_t bytes) { taken_.fetch_add(bytes, std::memory_order_relaxed); }
  void GiveBack(uint64_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const uint64_t limit_;
  std::atomic<uint64_t> taken_{0};
};

// What one Lua state has taken: whole pieces, and after Settle just enough for what the state holds.
class ScriptMemoryShare {
 public:
  explicit ScriptMemoryShare(ScriptMemory& memory) : memory_(memory) {}
  ~ScriptMemoryShare() { memory_.GiveBack(taken_); }
  ScriptMemoryShare(const ScriptMemoryShare&) = delete;
  ScriptMemoryShare& operator=(const ScriptMemoryShare&) = delete;

  uint64_t limit() const { return memory_.limit(); }
  // Takes what is missing for a state of `bytes`. False: there is not enough left, and nothing was taken.
  bool Cover(uint64_t bytes) {
    if (bytes <= taken_) return true;
    const uint64_t missing = InPieces(bytes - taken_);
    if (!memory_.Take(missing)) return false;
    taken_ += missing;
    return true;
  }
  // The state holds `bytes`, whatever the limit is.
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
