// SPDX-License-Identifier: BSD-3-Clause
#include "base/thread.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <system_error>

#include "base/crash_report.h"

namespace cairn {
namespace {

// A value of nice(2).
constexpr int kLowPriority = 10;
constexpr uint64_t kLongTurnNs = 20'000'000;

// The kernel's struct (linux/sched/types.h, which conflicts with the C library's header).
struct SchedAttributes {
  uint32_t size = sizeof(SchedAttributes);
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime_ns = 0;
  uint64_t deadline_ns = 0;
  uint64_t period_ns = 0;
};

// How often a thread is tried to be started while the system has no room for another one, as when a limit is reached
// for a moment, and the pause in between.
constexpr int kMostTries = 50;
constexpr std::chrono::milliseconds kPause(20);

void (*thread_set_up)() = nullptr;

std::thread StartOrRetry(const std::function<void()>& run) {
  for (int tries = 1;; ++tries) {
    try {
      return std::thread(run);
    } catch (const std::system_error&) {
      if (tries == kMostTries) throw;
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

void SetThreadSetUp(void (*set_up)()) { thread_set_up = set_up; }

void NameThread(const std::string& name) { pthread_setname_np(pthread_self(), name.substr(0, 15).c_str()); }

void LengthenTurns() {
  SchedAttributes attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  attributes.runtime_ns = kLongTurnNs;
  (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void LowerPriority() {
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kLowPriority);  // only for the calling thread
  LengthenTurns();
}

std::thread StartThread(const std::string& name, std::function<void()> run) {
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (const int signal : kCrashSignals) sigdelset(&blocked, signal);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  std::thread thread = StartOrRetry([name, run = std::move(run)] {
    NameThread(name);
    if (thread_set_up != nullptr) thread_set_up();
    run();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

void RunAtLowPriority(const std::string& name, const std::function<void()>& work) {
  StartThread(name, [&work] {
    LowerPriority();
    work();
  }).join();
}

}  // namespace cairn
