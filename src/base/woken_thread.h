// SPDX-License-Identifier: BSD-3-Clause
//
// WokenThread: a thread that sleeps until it is woken, and then works. It is started when it is woken first.
//
//   WokenThread thread_{"size-limit", [this] { MakeRoom(); }};   // the last field: it is stopped before the others end
//   thread_.Wake();                                              // from any thread; MakeRoom runs soon
//
// A Wake during the work lets it run once more. The work must end soon after is_stopping() is true.
//
// Thread: any.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "base/mutex.h"

namespace cairn {

class WokenThread {
 public:
  // `work` is called on the thread.
  WokenThread(std::string name, std::function<void()> work) : name_(std::move(name)), work_(std::move(work)) {}
  ~WokenThread() { Stop(); }
  WokenThread(const WokenThread&) = delete;
  WokenThread& operator=(const WokenThread&) = delete;

  // Cheap. No effect after Stop.
  void Wake();
  // Waits for the end of the work.
  void Stop();
  bool is_stopping() const { return is_stopping_; }

 private:
  void Run();

  const std::string name_;
  const std::function<void()> work_;
  Mutex mutex_;
  CondVar wake_;
  bool must_work_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> is_stopping_{false};  // set under mutex_
  std::thread thread_;                    // started under mutex_
};

}  // namespace cairn
