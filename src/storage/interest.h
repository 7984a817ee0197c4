// SPDX-License-Identifier: BSD-3-Clause
//
// Interest: what others want to hear of the changes that are made. While nobody wants to hear anything it is 0, and a
// command pays one comparison.
//
// A transaction looks at it when a command begins and when it gets its stripes. So from the moment a bit is set,
// changes of commands that are under way may go untold; whoever must miss none takes all stripes and sets the bit then,
// for those commands hold theirs until they are committed.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <shared_mutex>

namespace cairn {

using InterestMask = uint32_t;

// The lower bits are classes of keyspace events (types/events.h).
inline constexpr InterestMask kEventClasses = (1u << 24) - 1;
// Effects go into the log data of the batches (encoding/log_entry.h).
inline constexpr InterestMask kInterestInReplication = 1u << 24;
// The effect of an expired key, of GETDEL, is called UNLINK and not DEL (lazyfree-lazy-expire, lazyfree-lazy-user-del).
inline constexpr InterestMask kUnlinksExpired = 1u << 25;
inline constexpr InterestMask kUnlinksDeleted = 1u << 26;
// Which keys change is announced, for clients that keep copies.
inline constexpr InterestMask kInterestInKeys = 1u << 27;
// Which keys get a time to live is announced, for a replica that clients write to (client/writable_replica_expires.h).
inline constexpr InterestMask kInterestInExpiries = 1u << 28;

// All that is wanted now. Thread: any.
class Interests {
 public:
  InterestMask wanted() const { return wanted_.load(std::memory_order_acquire); }
  // Sets the bits of `which` to those of `wanted`.
  void Set(InterestMask which, InterestMask wanted) {
    InterestMask current = wanted_.load();
    while (!wanted_.compare_exchange_weak(current, (current & ~which) | (wanted & which))) {
    }
  }

  // Held while effects of commands are written.
  std::shared_lock<std::shared_mutex> AllowReplication() { return std::shared_lock(effects_mutex_); }
  // No effects of commands are logged any more once it returns, until they are wanted again. Those that were logged may
  // not be synced yet. REQUIRES: all stripes are locked.
  void EndReplication() {
    Set(kInterestInReplication, 0);
    const std::lock_guard wait(effects_mutex_);
  }

 private:
  std::shared_mutex effects_mutex_;
  std::atomic<InterestMask> wanted_{0};
};

}  // namespace cairn
