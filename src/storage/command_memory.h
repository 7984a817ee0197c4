// SPDX-License-Identifier: BSD-3-Clause
//
// CommandMemory: the memory that a command keeps until its end, besides its request and its reply: its changes, and
// elements that it collects. A command that exceeds the limit ends with an error at its next step
// (CommandState::Spend), and its changes are rolled back.
//
// The bytes are estimates. Their commit needs about as much again, so changes that need a large part of the limit take
// turns (storage/large_commits.h).
//
// Thread: that of its command.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace cairn {

class CommandMemory {
 public:
  static constexpr std::string_view kTooMuch = "OOM the command needs more memory than its part of memory-budget";

  // For the next command, which has no limit until Limit().
  void Clear() {
    used_ = 0;
    most_ = UINT64_MAX;
  }
  // Spend fails once more than this is in use.
  void Limit(uint64_t most_bytes) { most_ = most_bytes; }
  // Counts bytes that stay in use until the command ends.
  void Use(uint64_t bytes) { used_ += bytes; }

  // The bytes that the command may still use.
  uint64_t left() const { return most_ - std::min(used_, most_); }
  bool is_too_much() const { return used_ > most_; }
  // Whether others should not use as much at the same time.
  bool is_much() const { return used_ > most_ / kPartThatIsMuch; }

 private:
  static constexpr uint64_t kPartThatIsMuch = 4;  // a divisor

  uint64_t used_ = 0;
  uint64_t most_ = UINT64_MAX;
};

// The part of a command's memory for elements that it reads only to be faster: a quarter of what is left.
class SpareMemory {
 public:
  explicit SpareMemory(CommandMemory& memory) : memory_(memory), left_(memory.left() / kPart) {}

  // Uses the bytes, or returns false if they are more than what is left of the part.
  bool Take(uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    memory_.Use(bytes);
    return true;
  }

 private:
  static constexpr uint64_t kPart = 4;  // a divisor

  CommandMemory& memory_;
  uint64_t left_;
};

}  // namespace cairn
