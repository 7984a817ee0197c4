// SPDX-License-Identifier: BSD-3-Clause
//
// SizeLimit: keeps the databases on disk within `max-data-size`, or `maxmemory` if that is 0.
//
// Above the limit (storage/live_size.h) a thread evicts keys as `maxmemory-policy` says. With noeviction, or when no
// key suits, commands that may add data are refused (kFullData) until the data is smaller. With a policy that evicts,
// writes are not refused. They wait while the data is a quarter above the limit, which means that writers are faster
// than evictions. They also wait, for some of the time, while evicted rows take too much of the disk, which means that
// writers are faster than the compaction that removes these rows. Redis never refuses a write of a cache that can
// evict.
//
// Thread: Watch belongs to any; the rest to "size-limit".
#pragma once

#include <atomic>
#include <cstdint>

#include "base/mutex.h"
#include "base/result.h"
#include "base/woken_thread.h"
#include "server/evictor.h"

namespace cairn {

class ClientPause;
class LiveSize;

class SizeLimit {
 public:
  SizeLimit(Store& store, Config& config, Conditions& conditions, ClientPause& pause, const Notifier& notifier,
            LiveSize& size);

  // Called ten times a second, and when the directives change; cheap.
  void Watch();
  void Stop() { thread_.Stop(); }

 private:
  void MakeRoom();
  Result<uint64_t> MakeSomeRoom(uint64_t bytes, uint64_t limit);
  void AwaitOrphans();
  // Asks for a compaction when evictions and deletes have left too much garbage, and slows writers down if it does not
  // follow. `bytes`: of the data. While a snapshot is held a compaction frees little: then it is asked for only if the
  // garbage has grown, and writers are not slowed down.
  void LimitGarbage(uint64_t bytes, uint64_t limit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Holds writes back while the data is far above the limit, and lets them go soon afterwards.
  void PaceWriters(uint64_t bytes, uint64_t limit);

  Store& store_;
  Config& config_;
  Conditions& conditions_;
  ClientPause& pause_;
  LiveSize& size_;
  Evictor evictor_;
  Mutex mutex_;                                             // one look at a time
  uint64_t requested_garbage_ ABSL_GUARDED_BY(mutex_) = 0;  // at the last request, or less if a compaction freed it
  uint64_t uncounted_ = 0;  // about the bytes of evictions with collections since AwaitOrphans; belongs to "size-limit"
  std::atomic<bool> is_stuck_{false};  // no key suited the policy at the last try
  std::atomic<bool> holds_writes_{false};
  WokenThread thread_{"size-limit", [this] { MakeRoom(); }};
};

}  // namespace cairn
