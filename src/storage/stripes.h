// SPDX-License-Identifier: BSD-3-Clause
//
// Stripes: the locks of keys. A key belongs to one of kStripeCount stripes by its hash. A transaction that writes
// holds the stripe from its first look at the key until its commit is done.
//
// A stripe also has a version: even at rest, odd during a commit that touches it, and two higher after it. A reader
// that finds the same even version before and after its reads has seen one state.
//
// Lock order: only slow lane transactions wait for stripes. They lock all of a command's stripes at once in ascending
// order, and hold none while they wait. Fast lane transactions hold stripes but never wait for one. So there is no
// deadlock (docs/threading.md).
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "encoding/row_key.h"

namespace cairn {

class Transaction;

class Stripes {
 public:
  // False if the stripe is held or another thread waits for it: callers that never wait must not starve those that do.
  bool TryLock(uint32_t stripe, const Transaction* owner) {
    const Transaction* nobody = nullptr;
    Stripe& s = all_[stripe];
    if (s.waiting.load(std::memory_order_relaxed) != 0) return false;
    if (!s.owner.compare_exchange_strong(nobody, owner)) return false;
    s.taken_from = nullptr;
    return true;
  }

  // Waits until the stripe is free.
  void Lock(uint32_t stripe, const Transaction* owner) {
    Stripe& s = all_[stripe];
    s.waiting.fetch_add(1);
    const Transaction* holder = nullptr;
    while (!s.owner.compare_exchange_strong(holder, owner)) {
      s.owner.wait(holder);
      holder = nullptr;
    }
    s.taken_from = nullptr;
    s.waiting.fetch_sub(1);
  }

  // Takes the stripe over from a transaction that is being committed. False if that transaction does not hold it any
  // more, or if another thread waits for it.
  bool TryTakeOver(uint32_t stripe, const Transaction* from, const Transaction* owner) {
    Stripe& s = all_[stripe];
    if (s.waiting.load(std::memory_order_relaxed) != 0) return false;
    const Transaction* const first = from;
    if (!s.owner.compare_exchange_strong(from, owner)) return false;
    s.taken_from = first;
    return true;
  }
  // The transaction from which the owner took the stripe over; null: it was free. REQUIRES: the caller is the owner.
  const Transaction* TakenFrom(uint32_t stripe) const { return all_[stripe].taken_from; }

  // No effect if another transaction has taken the stripe over.
  void Unlock(uint32_t stripe, const Transaction* owner) {
    Stripe& s = all_[stripe];
    // Sequentially consistent, as `waiting` is: at least one of the two threads sees the other's write.
    if (s.owner.compare_exchange_strong(owner, nullptr) && s.waiting.load() != 0) s.owner.notify_all();
  }

  void Prefetch(uint32_t stripe) const { __builtin_prefetch(&all_[stripe], 1); }

  bool IsHeldBy(uint32_t stripe, const Transaction* owner) const {
    return all_[stripe].owner.load(std::memory_order_relaxed) == owner;
  }

  uint64_t Version(uint32_t stripe) const { return all_[stripe].version.load(std::memory_order_acquire); }
  // Switches between rest and commit. REQUIRES: the caller holds the stripe.
  void Advance(uint32_t stripe) { all_[stripe].version.fetch_add(1, std::memory_order_acq_rel); }

  static bool IsCommitting(uint64_t version) { return version & 1; }

 private:
  struct Stripe {
    std::atomic<const Transaction*> owner{nullptr};
    const Transaction* taken_from = nullptr;  // belongs to the owner
    std::atomic<uint32_t> waiting{0};
    std::atomic<uint64_t> version{0};
  };
  std::unique_ptr<Stripe[]> all_ = std::make_unique<Stripe[]>(kStripeCount);
};

}  // namespace cairn
