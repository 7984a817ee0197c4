// SPDX-License-Identifier: BSD-3-Clause
#include "base/repeating_thread.h"

#include <utility>

#include "base/thread.h"

namespace cairn {

RepeatingThread::RepeatingThread(const std::string& name, std::chrono::milliseconds pause, std::function<void()> work)
    : pause_(pause), work_(std::move(work)), thread_(StartThread(name, [this] { Run(); })) {}

RepeatingThread::~RepeatingThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void RepeatingThread::Run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, pause_, [this] { return ending_; })) work_();
}

}  // namespace cairn
