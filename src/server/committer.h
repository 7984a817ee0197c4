// SPDX-License-Identifier: BSD-3-Clause
//
// Committer: commits for those who may not wait: ticks that met a write stall, and every tick under
// `appendfsync always`. Ticks that queue up while it works are written together and share one fsync, before any of
// them is visible.
//
// Thread: any may hand over; the work is done on a thread of its own, "commit".
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.h"
#include "storage/transaction.h"

namespace cairn {

class LatencyMonitor;
class Store;

class Committer {
 public:
  // Called with what became of CommitBatch::Write, on the committer's thread.
  using Done = std::function<void(Status)>;

  Committer(Store& store, LatencyMonitor& latency);
  ~Committer();

  // `txn` must stay until `done` is called; its worker calls EndTick then.
  void HandOver(Transaction& txn, Done done);
  // Finishes what was handed over, then ends the thread.
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
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Job> jobs_;  // guarded by mutex_
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace cairn
