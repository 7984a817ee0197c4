// SPDX-License-Identifier: BSD-3-Clause
#include "base/woken_thread.h"

#include "base/thread.h"

namespace cairn {

void WokenThread::Wake() {
  const MutexLock lock(mutex_);
  if (is_stopping_) return;
  if (!thread_.joinable()) thread_ = StartThread(name_, [this] { Run(); });
  must_work_ = true;
  wake_.NotifyOne();
}

void WokenThread::Stop() {
  {
    const MutexLock lock(mutex_);
    is_stopping_ = true;
    wake_.NotifyOne();
  }
  if (thread_.joinable()) thread_.join();
}

void WokenThread::Run() {
  for (;;) {
    {
      const MutexLock lock(mutex_);
      while (!is_stopping_ && !must_work_) wake_.Wait(mutex_);
      if (is_stopping_) return;
      must_work_ = false;
    }
    work_();
  }
}

}  // namespace cairn
