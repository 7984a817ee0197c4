// SPDX-License-Identifier: BSD-3-Clause
//
// Interest: which parts of the server want to learn about changes. While it is 0, a command pays one comparison.
//
// A transaction reads it when a command begins and when the command gets its stripes. So after a bit is set, changes
// of running commands may still go unreported. A subscriber that must not miss any locks all stripes and then sets the
// bit: running commands hold their stripes until they are committed.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/mutex.h"

namespace cairn {

using InterestMask = uint32_t;

// The lower bits are the classes of keyspace events (types/events.h).
inline constexpr InterestMask kEventClasses = (1u << 24) - 1;
// Replicated commands are written to the log data of batches (encoding/log_entry.h).
inline constexpr InterestMask kInterestInReplication = 1u << 24;
// An expired key, or GETDEL, is replicated as UNLINK, not DEL (lazyfree-lazy-expire, lazyfree-lazy-user-del).
inline constexpr InterestMask kUnlinksExpired = 1u << 25;
inline constexpr InterestMask kUnlinksDeleted = 1u << 26;
// Changed keys are reported, for clients that keep copies.
inline constexpr InterestMask kInterestInKeys = 1u << 27;
// Keys that get a time to live are reported, for a replica that clients write to (client/writable_replica_expires.h).
inline constexpr InterestMask kInterestInExpiries = 1u << 28;

// The current interest. Thread: any.
class Interests {
 public:
  InterestMask wanted() const { return wanted_.load(std::memory_order_acquire); }
  // Sets the bits of `which` to those of `wanted`.
  void Set(InterestMask which, InterestMask wanted) {
    InterestMask current = wanted_.load();
    while (!wanted_.compare_exchange_weak(current, (current & ~which) | (wanted & which))) {
    }
  }

  // Held while replicated commands are written.
  ReaderLock AllowReplication() ABSL_SHARED_LOCK_FUNCTION(replication_mutex_) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return ReaderLock(replication_mutex_);
  }
  // After it returns, no replicated commands are logged until they are wanted again. The ones logged before may not be
  // synced yet. REQUIRES: all stripes are locked.
  void EndReplication() {
    Set(kInterestInReplication, 0);
    const WriterLock wait(replication_mutex_);
  }

 private:
  SharedMutex replication_mutex_;
  std::atomic<InterestMask> wanted_{0};
};

}  // namespace cairn
