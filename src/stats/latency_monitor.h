// SPDX-License-Identifier: BSD-3-Clause
//
// LatencyMonitor: what took latency-monitor-threshold milliseconds or longer, by kind of event, for LATENCY.
//
// An event keeps its last 160 samples, one for a second at the most: the worst of it.
//
//   command, fast-command   a command, by COMMAND's flag "fast"
//   command-unblocking      a blocked client's command when it was run again
//   commit                  writing a batch to RocksDB: a tick's, or a slow lane command's
//   aof-fsync-always        the sync of the log that replies wait for under `appendfsync always`
//   aof-fsync-everysec      the sync of each second, which nobody waits for
//   write-stall             writers held up by RocksDB because flushes or compactions do not keep up
//   expire-cycle            one deletion of the keys that are due
//
// Thread: any; guarded by mutex_. While the threshold is 0, everything costs one atomic read. Not here: histograms of
// all commands (stats/latency_histogram.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace cairn {

struct LatencySample {
  int64_t unix_s = 0;
  int64_t ms = 0;
};

// What is known of one kind of event.
struct LatencySeries {
  int64_t worst_ms = 0;               // since the last reset, also of samples that are gone
  std::deque<LatencySample> samples;  // oldest first; never empty once the series is there
};

class LatencyMonitor {
 public:
  // The threshold is read with each call, so that CONFIG SET takes effect at once.
  explicit LatencyMonitor(const std::atomic<int64_t>& threshold_ms) : threshold_ms_(threshold_ms) {}

  bool is_on() const { return threshold_ms_.load(std::memory_order_relaxed) > 0; }
  int64_t threshold_ms() const { return threshold_ms_.load(std::memory_order_relaxed); }

  // Keeps a sample if it reaches the threshold.
  void Note(std::string_view event, int64_t usec) {
    const int64_t bound_ms = threshold_ms();
    if (bound_ms > 0 && usec / 1000 >= bound_ms) Add(event, usec / 1000, WallMs() / 1000);
  }

  // By event, ordered by name.
  std::map<std::string, LatencySeries, std::less<>> All() const;
  // Without samples when there are none of `event`.
  LatencySeries Of(std::string_view event) const;
  // Forgets the events named, in any case; all when none is. How many were forgotten.
  int64_t Reset(const std::vector<std::string_view>& events);

  // A sample, whatever the threshold.
  void Add(std::string_view event, int64_t ms, int64_t unix_s);

 private:
  const std::atomic<int64_t>& threshold_ms_;
  mutable std::mutex mutex_;
  std::map<std::string, LatencySeries, std::less<>> series_;
};

// Takes the time from its construction to its end as an event.
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
  const int64_t started_us_;  // 0: nobody wants to know
};

}  // namespace cairn
