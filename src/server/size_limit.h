// SPDX-License-Identifier: BSD-3-Clause
//
// SizeLimit: keeps the databases on disk within `max-data-size`, or `maxmemory` if that is 0.
//
// Above the limit (storage/live_size.h) a thread evicts keys as `maxmemory-policy` says. With noeviction, or when no
// key suits, commands that may add data are refused (kFullData) until the data is smaller; with a policy that evicts
// also at a quarter above the limit, when writers are faster than evictions.
//
// Thread: Watch belongs to any; the rest to "size-limit".
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "base/mutex.h"
#include "base/result.h"
#include "server/evictor.h"

namespace cairn {

class LiveSize;

class SizeLimit {
 public:
  SizeLimit(Store& store, Config& config, Conditions& conditions, const Notifier& notifier, LiveSize& size);
  ~SizeLimit() { Stop(); }

  // Called ten times a second, and when the directives change; cheap.
  void Watch();
  void Stop();

 private:
  void Run();
  void MakeRoom();

  Store& store_;
  Config& config_;
  Conditions& conditions_;
  LiveSize& size_;
  Evictor evictor_;
  Mutex mutex_;
  CondVar wake_;
  bool must_look_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> is_ending_{false};
  std::atomic<bool> is_stuck_{false};  // no key suited the policy at the last try
  std::thread thread_;                 // started when it is needed first, under mutex_
};

}  // namespace cairn
