// SPDX-License-Identifier: BSD-3-Clause
//
// Committer: commits for threads that may not wait: ticks that met a write stall, and every tick under `appendfsync
// always`. Ticks that queue up meanwhile are written together and share one fsync, before any of them becomes visible.
//
// Thread: any thread may hand a tick over; the work is done on the thread "commit".
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "storage/transaction.h"

namespace cairn {

class LatencyMonitor;
class Store;

class Committer {
 public:
  // Called with the result of CommitBatch::Write, on the committer's thread.
  using Done = std::function<void(Status)>;

  Committer(Store& store, LatencyMonitor& latency);
  ~Committer();

  // `txn` must live until `done` is called; its worker then calls EndTick.
  void HandOver(Transaction& txn, Done done);
  // Commits what was handed over, then ends the thread.
  void Stop();

 private:
  struct Job {
    Transaction* txn;
    Done done;
    Status status;
  };
  void Run();
  void WriteAll(std::vector<Job>& jobs);

  Store& store_;
  LatencyMonitor& latency_;
  Mutex mutex_;
  CondVar wake_;
  std::vector<Job> jobs_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace cairn
