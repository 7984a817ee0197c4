// SPDX-License-Identifier: BSD-3-Clause
//
// SlowLane: threads that may wait, each with its own worker, and a queue of jobs.
//
// Read-ahead. A thread that takes a job first starts the disk reads of the jobs behind it, as far as their rows are
// known, and then runs its own. So the disk reads many rows at once, however few threads there are, and most jobs find
// their row read: a thread that sleeps during each read costs more than the second look-up
// (docs/decisions/cold-reads.md). A job that has no other one behind or before it is run at once.
//
// Thread: any; Stop belongs to the owner.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "server/command_worker.h"

namespace cairn {

class SlowLane {
 public:
  SlowLane(int threads, const BaseWorker::Parts& parts);
  ~SlowLane();

  // `row`: the tagged row that the job will read; empty: not known. Jobs start in the order of the calls.
  void Run(std::string row, std::function<void(Worker&)> job) ABSL_LOCKS_EXCLUDED(mutex_);
  // Runs the queued jobs, then ends the threads.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Job {
    std::string row;
    std::function<void(Worker&)> run;
  };
  void Serve(Worker& worker) ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits for a job, and adds the rows to be read ahead. False: the lane has stopped.
  bool Take(Job& job, std::vector<std::string>& rows) ABSL_LOCKS_EXCLUDED(mutex_);

  Engine& engine_;
  Mutex mutex_;
  CondVar wake_;
  std::deque<Job> jobs_ ABSL_GUARDED_BY(mutex_);
  size_t read_ahead_ ABSL_GUARDED_BY(mutex_) = 0;  // reads were started for this many of the first jobs
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::unique_ptr<Worker>> workers_;  // by thread
  std::vector<std::thread> threads_;
};

}  // namespace cairn
