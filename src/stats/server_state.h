// SPDX-License-Identifier: BSD-3-Clause
//
// Small pieces of state of a running server that commands set and other threads read.
//
// Thread: any, unless a field says otherwise.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "base/mutex.h"

namespace cairn {

// Identifies this process; fixed at its start.
struct Identity {
  std::string run_id;  // 40 hexadecimal digits, new at every start
  std::string executable;
  std::string config_file;        // empty: none
  std::string supervised = "no";  // or systemd
  int64_t started_us = 0;         // monotonic
  int64_t started_unix_s = 0;

  // Reads the clocks and draws a run id.
  static Identity Make(std::string executable, std::string config_file);
};

// Switches set by DEBUG.
struct DebugSwitches {
  std::atomic<bool> active_expire{true};  // off: expired keys are hidden but not deleted
  std::atomic<bool> ticks{true};          // off: no periodic work (server/cron.h)
};

// The time of the last save by a command (SAVE, BGSAVE, BGREWRITEAOF), for INFO persistence.
struct SaveState {
  std::atomic<int> running{0};          // saves in progress
  std::atomic<int64_t> last_unix_s{0};  // of the last successful save, or the start
  std::atomic<bool> last_ok{true};
  std::atomic<uint64_t> count{0};
  std::atomic<uint64_t> changes_before{0};  // number of changes before the last save
};

// The highest memory use that was observed.
class MemoryPeak {
 public:
  // Notes the present use, and returns the peak.
  uint64_t Note(uint64_t bytes) {
    uint64_t peak = peak_.load(std::memory_order_relaxed);
    while (bytes > peak && !peak_.compare_exchange_weak(peak, bytes, std::memory_order_relaxed)) {
    }
    return peak_.load(std::memory_order_relaxed);
  }
  // Notes the use at the time when the server began to serve.
  void NoteStart(uint64_t bytes) { start_ = bytes; }
  uint64_t start() const { return start_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> peak_{0};
  std::atomic<uint64_t> start_{0};
};

// SHUTDOWN's options.
struct ShutdownOptions {
  bool save = false;  // write an RDB file before the end (replication/saving.h), and flush the memtables
  bool no_save = false;
  bool now = false;
  bool force = false;  // end even if the RDB file could not be written
};

// The request to shut down: SHUTDOWN or a signal makes it, and the main thread waits for it.
class ShutdownRequest {
 public:
  // `wake` is called once, by the first thread that asks; it wakes the main thread.
  void set_on_request(std::function<void()> wake) { wake_ = std::move(wake); }

  void Ask(const ShutdownOptions& options);
  bool asked() const { return asked_.load(std::memory_order_acquire); }
  // REQUIRES: asked().
  ShutdownOptions options() const;

 private:
  std::function<void()> wake_;  // set before any thread starts
  mutable Mutex mutex_;
  std::atomic<bool> asked_{false};
  ShutdownOptions options_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn
