// SPDX-License-Identifier: BSD-3-Clause
//
// Event: wakes threads that wait for a change of some state. The state itself is kept elsewhere, in atomics.
//
// Notify is one atomic operation while no thread waits: no lock and no system call. A change before Notify is never
// missed: Notify and Await both begin with a read-modify-write of one counter, so either Notify sees the waiting
// thread, or that thread sees the change.
//
// Thread: any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/mutex.h"

namespace cairn {

class Event {
 public:
  // REQUIRES: the state has been changed.
  void Notify() {
    if (waiting_.fetch_add(0, std::memory_order_acq_rel) == 0) return;
    { const MutexLock lock(mutex_); }
    changed_.NotifyAll();
  }

  // Waits until `ready()` holds, at most `most_us`; returns whether it holds. `ready` runs with mutex_ held, so it must
  // be short and must not call Notify.
  template <typename Ready>
  bool Await(int64_t most_us, const Ready& ready) {
    waiting_.fetch_add(1, std::memory_order_acq_rel);
    mutex_.Lock();
    const bool is_ready = changed_.WaitFor(mutex_, std::chrono::microseconds(most_us), ready);
    mutex_.Unlock();
    waiting_.fetch_sub(1, std::memory_order_acq_rel);
    return is_ready;
  }

 private:
  Mutex mutex_;  // a leaf, except for locks that `ready` takes
  CondVar changed_;
  std::atomic<int> waiting_{0};
};

}  // namespace cairn
