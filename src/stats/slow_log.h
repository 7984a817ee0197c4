// SPDX-License-Identifier: BSD-3-Clause
//
// SlowLog: the last commands that took longer than slowlog-log-slower-than, newest first.
//
// An entry keeps at most 32 arguments of at most 128 bytes each; a note in Redis's words replaces the rest. Ids count
// up from 0, and a reset does not restart them.
//
// Thread: any; guarded by mutex_. The common case, a fast command, costs one atomic read.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"

namespace cairn {

struct SlowLogEntry {
  int64_t id = 0;
  int64_t unix_s = 0;
  int64_t duration_us = 0;
  std::vector<std::string> argv;
  std::string peer;
  std::string client_name;
};

class SlowLog {
 public:
  // Each call reads the bounds, so CONFIG SET takes effect at once. A negative `slower_than_us` turns the log off, 0
  // logs everything.
  SlowLog(const std::atomic<int64_t>& slower_than_us, const std::atomic<int64_t>& max_entries)
      : slower_than_us_(slower_than_us), max_entries_(max_entries) {}

  bool IsSlow(int64_t duration_us) const {
    const int64_t bound = slower_than_us_.load(std::memory_order_relaxed);
    return bound >= 0 && duration_us >= bound;
  }

  // Adds an entry. REQUIRES: IsSlow(duration_us).
  void Add(std::span<const std::string_view> argv, int64_t duration_us, std::string peer, std::string client_name);

  // The newest `count` entries; all if it is negative.
  std::vector<SlowLogEntry> Newest(int64_t count) const;
  size_t size() const;
  void Reset();

 private:
  const std::atomic<int64_t>& slower_than_us_;
  const std::atomic<int64_t>& max_entries_;
  mutable Mutex mutex_;
  std::deque<SlowLogEntry> entries_ ABSL_GUARDED_BY(mutex_);  // newest first
  int64_t next_id_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace cairn
