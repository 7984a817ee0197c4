// SPDX-License-Identifier: BSD-3-Clause
#include "server/committer.h"

#include <algorithm>

#include "base/thread.h"
#include "stats/latency_monitor.h"
#include "storage/store.h"

namespace cairn {

Committer::Committer(Store& store, LatencyMonitor& latency) : store_(store), latency_(latency) {
  thread_ = StartThread("commit", [this] { Run(); });
}

Committer::~Committer() { Stop(); }

void Committer::HandOver(Transaction& txn, Done done) {
  {
    const MutexLock lock(mutex_);
    jobs_.push_back({&txn, std::move(done), {}});
  }
  wake_.NotifyOne();
}

void Committer::Run() {
  for (;;) {
    std::vector<Job> jobs;
    {
      const MutexLock lock(mutex_);
      while (!stopping_ && jobs_.empty()) wake_.Wait(mutex_);
      if (jobs_.empty()) return;
      jobs.swap(jobs_);
    }
    WriteAll(jobs);
    for (Job& job : jobs) job.done(std::move(job.status));
  }
}

void Committer::WriteAll(std::vector<Job>& jobs) {
  uint64_t last = 0;
  for (Job& job : jobs) {
    const LatencyTimer timer(latency_, "commit");
    CommitBatch& batch = job.txn->batch();
    job.status = batch.must_sync() ? batch.Append(CommitMode::kWait) : batch.Write(CommitMode::kWait);
    last = std::max(last, batch.unsynced_sequence());
  }
  if (last != 0) {
    const LatencyTimer timer(latency_, "aof-fsync-always");
    store_.log().MakeDurable(last);
  }
  for (const Job& job : jobs) job.txn->batch().Publish();
}

void Committer::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyOne();
  if (thread_.joinable()) thread_.join();
}

}  // namespace cairn
