// SPDX-License-Identifier: BSD-3-Clause
//
// SlowLane: threads that may wait, each with its own worker, and a queue of jobs.
//
// Read-ahead. A thread that takes a job first starts the disk reads of the jobs behind it, as far as their rows are
// known, and then runs its own. So the disk reads many rows at once, however few threads there are, and most jobs find
// their row read: a thread that sleeps during each read costs more than the second look-up
// (docs/decisions/cold-reads.md). A job that has no other one behind or before it is run at once.
//
// Writes may wait for seconds: for the disk's sync, for RocksDB's write stalls, for a key that another such write
// holds. They take all threads but one, so that reads go on; a write beyond that is held back.
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

  // Jobs start in the order of the calls, except for writes that are held back.
  void Run(SlowJob job) ABSL_LOCKS_EXCLUDED(mutex_);
  // Runs the queued jobs, then ends the threads.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Serve(Worker& worker) ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits for a job, and adds the rows to be read ahead. False: the lane has stopped.
  bool Take(SlowJob& job, std::vector<std::string>& rows) ABSL_LOCKS_EXCLUDED(mutex_);
  // The next job that may start; false if there is none.
  bool TakeNext(SlowJob& job, bool& was_read_ahead) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndWrite() ABSL_LOCKS_EXCLUDED(mutex_);

  Engine& engine_;
  const int most_writes_;  // that run at once
  Mutex mutex_;
  CondVar wake_;
  std::deque<SlowJob> jobs_ ABSL_GUARDED_BY(mutex_);
  std::deque<SlowJob> held_back_ ABSL_GUARDED_BY(mutex_);  // writes, older than all in jobs_
  int writes_ ABSL_GUARDED_BY(mutex_) = 0;                 // that run
  size_t read_ahead_ ABSL_GUARDED_BY(mutex_) = 0;          // reads were started for this many of the first jobs
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::unique_ptr<Worker>> workers_;  // by thread
  std::vector<std::thread> threads_;
};

}  // namespace cairn
