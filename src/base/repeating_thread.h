// SPDX-License-Identifier: BSD-3-Clause
//
// RepeatingThread: does a piece of work again and again, with a pause before each, for as long as the object lives.
//
// Thread: the owner's; the work is done on a thread of the given name, and the destructor waits for it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace cairn {

class RepeatingThread {
 public:
  RepeatingThread(const std::string& name, std::chrono::milliseconds pause, std::function<void()> work);
  ~RepeatingThread();
  RepeatingThread(const RepeatingThread&) = delete;
  RepeatingThread& operator=(const RepeatingThread&) = delete;

 private:
  void Run();

  const std::chrono::milliseconds pause_;
  const std::function<void()> work_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace cairn
