// SPDX-License-Identifier: BSD-3-Clause
#include "server/committer.h"

#include "base/thread.h"
#include "server/latency_monitor.h"
#include "storage/store.h"

namespace cairn {

Committer::Committer(Store& store, LatencyMonitor& latency) : store_(store), latency_(latency) {
  thread_ = StartThread("commit", [this] { Run(); });
}

Committer::~Committer() { Stop(); }

void Committer::HandOver(Transaction& txn, CommitMode mode, Done done) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({&txn, mode, std::move(done), {}});
  }
  wake_.notify_one();
}

void Committer::Run() {
  for (;;) {
    std::vector<Job> jobs;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      jobs.swap(jobs_);
    }
    bool wants_sync = false;
    for (Job& job : jobs) {
      const LatencyTimer timer(latency_, "commit");
      job.status = job.txn->Write(CommitMode::kWait);
      wants_sync |= job.mode == CommitMode::kSync;
    }
    Status synced = wants_sync ? Sync() : Ok();
    for (Job& job : jobs) {
      const bool written = job.status.ok();
      if (written && job.mode == CommitMode::kSync && !synced.ok()) job.status = Status::Io(synced.text());
      job.done(written, std::move(job.status));
    }
  }
}

Status Committer::Sync() {
  const LatencyTimer timer(latency_, "aof-fsync-always");
  return store_.SyncLog();
}

void Committer::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

}  // namespace cairn
