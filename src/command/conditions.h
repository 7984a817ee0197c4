// SPDX-License-Identifier: BSD-3-Clause
//
// Conditions: states of the whole server in which commands are refused or run differently. The code that enters a state
// sets its bit; the dispatcher's gates check all bits at once.
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>

namespace cairn {

enum Condition : uint32_t {
  kLoadingData = 1 << 0,      // the data set is being replaced
  kReadOnlyReplica = 1 << 1,  // only the primary may write
  kStaleReplica = 1 << 2,     // the link to the primary is down, and stale data must not be served
  kTooFewReplicas = 1 << 3,   // min-replicas-to-write is not met
  kKeepsExpired = 1 << 4,     // a replica hides expired keys, and only its primary deletes them
  kPausesExpiry = 1 << 5,     // CLIENT PAUSE: while it lasts, expired keys are hidden but not deleted
  kLowOnDisk = 1 << 6,        // min-free-disk is reached: commands must not add data
  kFullDisk = 1 << 7,         // only the last reserve is left: a write may only empty a database
  kFullMemory = 1 << 8,       // memory-databases-limit is reached: databases in memory must not grow
  kFullData = 1 << 9,         // max-data-size is reached: the others must not grow
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
