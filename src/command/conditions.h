// SPDX-License-Identifier: BSD-3-Clause
//
// Conditions: states of the whole server in which commands are refused or run otherwise. Whoever
// brings one about sets its bit; the gates of the dispatcher look at all of them at once.
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>

namespace cairn {

enum Condition : uint32_t {
  kLoadingData = 1 << 0,      // the data set is being replaced
  kReadOnlyReplica = 1 << 1,  // writes belong to the primary
  kStaleReplica = 1 << 2,     // the primary is away, and what is here is not to be shown
  kTooFewReplicas = 1 << 3,   // min-replicas-to-write is not met
  kKeepsExpired = 1 << 4,     // a replica hides keys past their time and leaves them to its primary
  kPausesExpiry = 1 << 5,     // CLIENT PAUSE: as long as it lasts keys past their time are hidden and stay
  kLowOnDisk = 1 << 6,        // min-free-disk is reached: nothing may grow
  kFullDisk = 1 << 7,         // all of it but the last part is used: a write may only empty a database
};

class Conditions {
 public:
  bool Has(uint32_t conditions) const { return (bits_.load(std::memory_order_relaxed) & conditions) != 0; }
  bool any() const { return bits_.load(std::memory_order_relaxed) != 0; }
  void Set(Condition condition, bool on) { on ? bits_.fetch_or(condition) : bits_.fetch_and(~uint32_t{condition}); }

 private:
  std::atomic<uint32_t> bits_{0};
};

}  // namespace cairn
