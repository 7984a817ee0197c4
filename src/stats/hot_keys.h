// SPDX-License-Identifier: BSD-3-Clause
//
// HotKeys: the keys on which most time and most bytes are spent, for HOTKEYS.
//
// A session is started, and then stopped by a client or at the end of its duration; its results stay until RESET or the
// next session. Commands with keys are measured: the time and the bytes of a command are divided equally by its keys.
// The queue of EXEC counts command by command; the calls of a script do not count, only its declared keys.
//
// Thread: any; guarded by mutex_. Without a session a command costs one atomic read.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "stats/top_keys.h"

namespace cairn {

// CPU time of the process.
struct ProcessCpu {
  int64_t user_ms = 0;
  int64_t sys_ms = 0;
  static ProcessCpu Read();
};

class HotKeys {
 public:
  struct Options {
    bool cpu = false;
    bool net = false;
    uint64_t count = 10;      // of the keys in the results
    int64_t duration_ms = 0;  // 0: no limit
    uint64_t sample_ratio = 1;
  };
  struct Results {
    Options options;
    bool is_active = false;
    int64_t started_ms = 0;
    int64_t took_ms = 0;
    uint64_t usec = 0;   // of all commands with keys
    uint64_t bytes = 0;  // of these
    uint64_t sampled_bytes = 0;
    ProcessCpu cpu;
    std::vector<TopKeys::Sum> by_usec;
    std::vector<TopKeys::Sum> by_bytes;
  };

  // Whether a session may be running; cheap.
  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }
  // Starts a session. False: one is running.
  bool Start(const Options& options, int64_t now_ms);
  // False: none is running.
  bool Stop(int64_t now_ms);
  // Drops the results. False: a session is running.
  bool Reset(int64_t now_ms);
  // None: no session since the start or the last reset.
  std::optional<Results> Get(int64_t now_ms);

  // Measures a command that ran. REQUIRES: it has keys.
  void Note(std::span<const std::string_view> keys, int64_t usec, uint64_t bytes, int64_t now_ms);

 private:
  struct Session {
    Options options;
    int64_t started_ms;
    ProcessCpu cpu_at_start;
    Random random;
    TopKeys by_nsec;  // nanoseconds: a share of a short command's microseconds would be 0
    TopKeys by_bytes;
    bool is_active = true;
    int64_t took_ms = 0;  // after the end
    ProcessCpu cpu = {};  // after the end
    uint64_t usec = 0;
    uint64_t bytes = 0;
    uint64_t sampled_bytes = 0;
  };

  // Ends the session if its duration is over. Returns whether it is running.
  bool IsRunning(int64_t now_ms) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(int64_t now_ms) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  ProcessCpu CpuSinceStart() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<bool> is_on_{false};
  Mutex mutex_;
  std::optional<Session> session_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn
