// SPDX-License-Identifier: BSD-3-Clause
//
// Named threads, and a pool of them with a queue. Names are those of the table in docs/threading.md and show
// in `top -H`.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace cairn {

// The calling thread's name from now on; 15 characters at the most are kept.
void NameThread(const std::string& name);

// The calling thread, for as long as it runs, gets a processor after those who serve clients (setpriority(2), which on
// Linux is a thread's own). For long work that nobody waits for.
void LowerPriority();

// Starts a thread under `name`. Signals are left to the main thread.
std::thread StartThread(const std::string& name, std::function<void()> run);

// Runs `set_up` first thing on every thread started from here on. To be called before others start threads.
void SetThreadSetUp(void (*set_up)());

// A fixed number of threads that run jobs in the order they were posted.
// Thread: any may post; Stop belongs to the owner.
class ThreadPool {
 public:
  // Threads are called `name`-0, `name`-1 ...
  ThreadPool(std::string name, int threads);
  ~ThreadPool();

  void Post(std::function<void(int thread)> job);
  // Runs what is queued, then ends the threads.
  void Stop();
  size_t queued() const;

 private:
  void Run(int thread);

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void(int)>> jobs_;  // guarded by mutex_
  bool stopping_ = false;                      // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace cairn
