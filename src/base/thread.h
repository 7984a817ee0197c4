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

// The calling thread's turns on a processor, once it has one, are long ones from now on (sched_setattr(2): the slice of
// a normal thread, Linux 6.12 and later; older ones take no notice). Its share stays what it was, but who wakes in
// order to answer a client is given the processor at once: of two that want it, Linux takes the one whose turn would
// end first, and looks again only when another wakes or at the next tick. For work in the background; threads started
// by this one do as it does.
void LengthenTurns();

// The calling thread, for as long as it runs, gets a processor after those who serve clients (setpriority(2), which on
// Linux is a thread's own), and long turns on it. For long work that nobody waits for.
void LowerPriority();

// Starts a thread under `name`. Signals are left to the main thread.
std::thread StartThread(const std::string& name, std::function<void()> run);

// Does `work` on a thread of its own under `name` and with LowerPriority, and waits until it is done. For a long piece
// of work of a thread that serves clients afterwards, since a priority once lowered may only be raised by root.
void RunAtLowPriority(const std::string& name, const std::function<void()>& work);

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
