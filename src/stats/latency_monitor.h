// SPDX-License-Identifier: BSD-3-Clause
//
// LatencyMonitor: events that took latency-monitor-threshold milliseconds or longer, by kind, for LATENCY.
//
// Each kind keeps its last 160 samples, at most one per second: the slowest of that second.
//
//   command, fast-command   a command, by COMMAND's flag "fast"
//   command-unblocking      the second run of a blocked client's command
//   commit                  writing a batch to RocksDB: a tick's, or a slow lane command's
//   aof-fsync-always        the sync of the log that replies wait for under `appendfsync always`
//   aof-fsync-everysec      the sync of each second, which no reply waits for
//   write-stall             RocksDB delays writers because flushes or compactions do not keep up
//   expire-cycle            one round that deletes expired keys
//
// Thread: any; guarded by mutex_. While the threshold is 0, everything costs one atomic read. Not here: histograms of
// all commands (stats/latency_histogram.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace cairn {

struct LatencySample {
  int64_t unix_s = 0;
  int64_t ms = 0;
};

// The samples of one kind of event.
struct LatencySeries {
  int64_t worst_ms = 0;               // since the last reset, including dropped samples
  std::deque<LatencySample> samples;  // oldest first; never empty in a stored series
};

class LatencyMonitor {
 public:
  // Each call reads the threshold, so CONFIG SET takes effect at once.
  explicit LatencyMonitor(const std::atomic<int64_t>& threshold_ms) : threshold_ms_(threshold_ms) {}

  bool is_on() const { return threshold_ms_.load(std::memory_order_relaxed) > 0; }
  int64_t threshold_ms() const { return threshold_ms_.load(std::memory_order_relaxed); }

  // Adds a sample if it reaches the threshold.
  void Note(std::string_view event, int64_t usec) {
    const int64_t bound_ms = threshold_ms();
    if (bound_ms > 0 && usec / 1000 >= bound_ms) Add(event, usec / 1000, WallMs() / 1000);
  }

  // All series, ordered by name.
  std::map<std::string, LatencySeries, std::less<>> All() const;
  // The series of `event`; without samples if there is none.
  LatencySeries Of(std::string_view event) const;
  // Deletes the named events, ignoring case, or all if none is named. Returns their number.
  int64_t Reset(const std::vector<std::string_view>& events);

  // Adds a sample regardless of the threshold.
  void Add(std::string_view event, int64_t ms, int64_t unix_s);

 private:
  const std::atomic<int64_t>& threshold_ms_;
  mutable Mutex mutex_;
  std::map<std::string, LatencySeries, std::less<>> series_ ABSL_GUARDED_BY(mutex_);
};

// Records its own lifetime as an event.
class LatencyTimer {
 public:
  LatencyTimer(LatencyMonitor& monitor, std::string_view event)
      : monitor_(monitor), event_(event), started_us_(monitor.is_on() ? MonotonicUs() : 0) {}
  ~LatencyTimer() {
    if (started_us_ != 0) monitor_.Note(event_, MonotonicUs() - started_us_);
  }
  LatencyTimer(const LatencyTimer&) = delete;
  LatencyTimer& operator=(const LatencyTimer&) = delete;

 private:
  LatencyMonitor& monitor_;
  const std::string_view event_;
  const int64_t started_us_;  // 0: the monitor is off
};

}  // namespace cairn
