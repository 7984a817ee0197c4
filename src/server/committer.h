// SPDX-License-Identifier: BSD-3-Clause
//
// Committer: commits for those who may not wait: ticks that met a write stall, and every tick under
// `appendfsync always`. Ticks that queue up while it works are written together and share one fsync.
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

class Store;

class Committer {
 public:
  // Called with the transaction, clean again, and what became of the commit; on the committer's thread.
  using Done = std::function<void(std::unique_ptr<Transaction>, Status)>;

  explicit Committer(Store& store);
  ~Committer();

  void HandOver(std::unique_ptr<Transaction> txn, CommitMode mode, Done done);
  // Finishes what was handed over, then ends the thread.
  void Stop();

 private:
  struct Job {
    std::unique_ptr<Transaction> txn;
    CommitMode mode;
    Done done;
    Status status;
  };
  void Run();

  Store& store_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Job> jobs_;   // guarded by mutex_
  bool stopping_ = false;   // guarded by mutex_
  std::thread thread_;
};

}  // namespace cairn
