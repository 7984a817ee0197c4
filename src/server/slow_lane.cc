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

SlowLane::SlowLane(int threads, const BaseWorker::Parts& parts)
    : engine_(parts.store.engine()), most_writes_(std::max(1, threads - 1)) {
  for (int i = 0; i < threads; ++i) {
    Worker& worker = *workers_.emplace_back(std::make_unique<SlowWorker>(parts));
    threads_.push_back(StartThread("slow-" + std::to_string(i), [this, &worker] { Serve(worker); }));
  }
}

SlowLane::~SlowLane() { Stop(); }

void SlowLane::Run(SlowJob job) {
  {
    const MutexLock lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  wake_.NotifyOne();
}

bool SlowLane::TakeNext(SlowJob& job, bool& was_read_ahead) {
  was_read_ahead = true;
  if (!held_back_.empty() && writes_ < most_writes_) {
    job = std::move(held_back_.front());
    held_back_.pop_front();
    ++writes_;
    return true;
  }
  while (!jobs_.empty()) {
    job = std::move(jobs_.front());
    jobs_.pop_front();
    was_read_ahead = read_ahead_ > 0;
    if (was_read_ahead) --read_ahead_;
    if (!job.is_write) return true;
    if (writes_ < most_writes_) {
      ++writes_;
      return true;
    }
    held_back_.push_back(std::move(job));
  }
  return false;
}

bool SlowLane::Take(SlowJob& job, std::vector<std::string>& rows) {
  const MutexLock lock(mutex_);
  bool was_read_ahead = false;
  while (!TakeNext(job, was_read_ahead)) {
    if (stopping_ && held_back_.empty()) return false;
    wake_.Wait(mutex_);
  }
  if (!was_read_ahead && !jobs_.empty()) rows.push_back(job.row);  // read while the reads of the others are started
  for (; read_ahead_ < std::min(jobs_.size(), kMostReadAhead); ++read_ahead_) rows.push_back(jobs_[read_ahead_].row);
  return true;
}

void SlowLane::EndWrite() {
  {
    const MutexLock lock(mutex_);
    --writes_;
    if (held_back_.empty() && !stopping_) return;
  }
  wake_.NotifyAll();
}

void SlowLane::Serve(Worker& worker) {
  SlowJob job;
  std::vector<std::string> rows;
  while (Take(job, rows)) {
    for (const std::string& row : rows) {
      if (!row.empty()) engine_.ReadAhead(row);
    }
    rows.clear();
    job.run(worker);
    if (job.is_write) EndWrite();
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
