// SPDX-License-Identifier: BSD-3-Clause
//
// SlowLane: threads that may wait, each with its own worker.
//
// Thread: any.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/thread.h"
#include "server/command_worker.h"

namespace cairn {

class SlowLane {
 public:
  SlowLane(int threads, const BaseWorker::Parts& parts) : pool_("slow", threads) {
    for (int i = 0; i < threads; ++i) workers_.push_back(std::make_unique<SlowWorker>(parts));
  }

  void Run(std::function<void(Worker&)> job) {
    pool_.Post([this, job = std::move(job)](int thread) { job(*workers_[static_cast<size_t>(thread)]); });
  }
  // Runs the queued jobs, then ends the threads.
  void Stop() { pool_.Stop(); }

 private:
  std::vector<std::unique_ptr<Worker>> workers_;  // by thread
  ThreadPool pool_;
};

}  // namespace cairn
