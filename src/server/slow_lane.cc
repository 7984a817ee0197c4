// SPDX-License-Identifier: BSD-3-Clause
#include "server/slow_lane.h"

#include <algorithm>
#include <utility>

#include "base/thread.h"
#include "storage/store.h"

namespace cairn {
namespace {

// The most jobs whose reads are started before they run: the queue depth at which an SSD is busy. A block that is read
// much too early may be evicted again.
constexpr size_t kMostReadAhead = 32;

}  // namespace

SlowLane::SlowLane(int threads, const BaseWorker::Parts& parts) : engine_(parts.store.engine()) {
  for (int i = 0; i < threads; ++i) {
    Worker& worker = *workers_.emplace_back(std::make_unique<SlowWorker>(parts));
    threads_.push_back(StartThread("slow-" + std::to_string(i), [this, &worker] { Serve(worker); }));
  }
}

SlowLane::~SlowLane() { Stop(); }

void SlowLane::Run(std::string row, std::function<void(Worker&)> job) {
  {
    const MutexLock lock(mutex_);
    jobs_.push_back({std::move(row), std::move(job)});
  }
  wake_.NotifyOne();
}

bool SlowLane::Take(Job& job, std::vector<std::string>& rows) {
  const MutexLock lock(mutex_);
  while (!stopping_ && jobs_.empty()) wake_.Wait(mutex_);
  if (jobs_.empty()) return false;
  job = std::move(jobs_.front());
  jobs_.pop_front();
  if (read_ahead_ > 0) {
    --read_ahead_;
  } else if (!jobs_.empty()) {
    rows.push_back(job.row);  // the disk reads it while the reads of the others are started
  }
  for (; read_ahead_ < std::min(jobs_.size(), kMostReadAhead); ++read_ahead_) rows.push_back(jobs_[read_ahead_].row);
  return true;
}

void SlowLane::Serve(Worker& worker) {
  Job job;
  std::vector<std::string> rows;
  while (Take(job, rows)) {
    for (const std::string& row : rows) {
      if (!row.empty()) engine_.ReadAhead(row);
    }
    rows.clear();
    job.run(worker);
    job = {};
  }
}

void SlowLane::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyAll();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace cairn
