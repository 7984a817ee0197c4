// SPDX-License-Identifier: BSD-3-Clause
//
// Mutex, SharedMutex, their locks and CondVar: those of the standard library, with the attributes that clang's thread
// safety analysis reads (https://clang.llvm.org/docs/ThreadSafetyAnalysis.html).
//
// libstdc++'s mutexes have no attributes. absl::Mutex has, but Debian's absl is not instrumented, so ThreadSanitizer
// would not see its locks.
//
// A field says ABSL_GUARDED_BY(mutex_), a private function that needs the lock ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
// tests/locks/run compiles the tree with the analysis. A lambda that runs under a lock is a function of its
// own to the analysis: write a loop instead of a predicate, or give the lambda the attribute.
//
// Thread: any.
#pragma once

#include <absl/base/thread_annotations.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

namespace cairn {

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) { return mutex_.try_lock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Any number of readers or one writer.
class ABSL_LOCKABLE SharedMutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  void ReaderLock() ABSL_SHARED_LOCK_FUNCTION() { mutex_.lock_shared(); }
  bool ReaderTryLock() ABSL_SHARED_TRYLOCK_FUNCTION(true) { return mutex_.try_lock_shared(); }
  void ReaderUnlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

// Holds a mutex for the rest of the block.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) { mutex.Lock(); }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// As MutexLock, but the block may unlock the mutex and lock it again.
class ABSL_SCOPED_LOCKABLE ReleasableMutexLock {
 public:
  explicit ReleasableMutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) { mutex.Lock(); }
  ~ReleasableMutexLock() ABSL_UNLOCK_FUNCTION() {
    if (is_held_) mutex_.Unlock();
  }
  ReleasableMutexLock(const ReleasableMutexLock&) = delete;
  ReleasableMutexLock& operator=(const ReleasableMutexLock&) = delete;

  // REQUIRES: the mutex is not held.
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    mutex_.Lock();
    is_held_ = true;
  }
  // REQUIRES: the mutex is held.
  void Unlock() ABSL_UNLOCK_FUNCTION() {
    is_held_ = false;
    mutex_.Unlock();
  }

 private:
  Mutex& mutex_;
  bool is_held_ = true;
};

// Holds a shared mutex for reading.
class ABSL_SCOPED_LOCKABLE ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) ABSL_SHARED_LOCK_FUNCTION(mutex) : mutex_(mutex) { mutex.ReaderLock(); }
  ~ReaderLock() ABSL_UNLOCK_FUNCTION() { mutex_.ReaderUnlock(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  SharedMutex& mutex_;
};

// Holds a shared mutex for writing.
class ABSL_SCOPED_LOCKABLE WriterLock {
 public:
  explicit WriterLock(SharedMutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) { mutex.Lock(); }
  ~WriterLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  SharedMutex& mutex_;
};

// Waits for a change of what a Mutex guards. A wait may end without a notification, so it stands in a loop.
class CondVar {
 public:
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

  // Unlocks the mutex while it waits.
  void Wait(Mutex& mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  // Waits for `most` at the longest.
  template <typename Duration>
  void WaitFor(Mutex& mutex, Duration most) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    condition_.wait_for(lock, most);
    lock.release();
  }
  // Waits until `ready()` holds, for `most` at the longest; returns whether it holds. `ready` runs with the mutex held.
  template <typename Duration, typename Ready>
  bool WaitFor(Mutex& mutex, Duration most, const Ready& ready) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex)
      ABSL_NO_THREAD_SAFETY_ANALYSIS {  // it cannot tell that `mutex` is the one `ready` asks for
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    const bool is_ready = condition_.wait_for(lock, most, ready);
    lock.release();
    return is_ready;
  }

 private:
  std::condition_variable condition_;
};

}  // namespace cairn
