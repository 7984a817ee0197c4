// SPDX-License-Identifier: BSD-3-Clause
//
// Faults that the thread safety analysis must find, one on each line with FAULT (tests/locks/run). Not built.
#include "base/mutex.h"

namespace cairn {

class Account {
 public:
  void Add(int amount) {
    const MutexLock lock(mutex_);
    AddLocked(amount);
  }
  void AwaitMoney() {
    const MutexLock lock(mutex_);
    while (balance_ == 0) changed_.Wait(mutex_);
  }
  int Pause() {
    ReleasableMutexLock lock(mutex_);
    lock.Unlock();
    const int balance = balance_;  // FAULT: read without the lock
    lock.Lock();
    return balance;
  }
  void AddInVain(int amount) { AddLocked(amount); }  // FAULT: a function that needs the lock
  void Keep() { mutex_.Lock(); }                     // FAULT: still locked
  void TurnAround() {
    const MutexLock second(second_);
    const MutexLock lock(mutex_);  // FAULT: against the order
  }
  int Read() {
    const ReaderLock lock(shared_);
    return ++count_;  // FAULT: written as a reader
  }
  void WaitInVain() { changed_.Wait(mutex_); }  // FAULT: waits without the lock

 private:
  void AddLocked(int amount) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { balance_ += amount; }

  Mutex mutex_;
  Mutex second_ ABSL_ACQUIRED_AFTER(mutex_);
  CondVar changed_;
  int balance_ ABSL_GUARDED_BY(mutex_) = 0;
  SharedMutex shared_;
  int count_ ABSL_GUARDED_BY(shared_) = 0;
};

}  // namespace cairn
