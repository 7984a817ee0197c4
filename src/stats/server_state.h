// SPDX-License-Identifier: BSD-3-Clause
//
// The small pieces of state of a running server that commands set and other threads act upon.
//
// Thread: any, unless a field says otherwise.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

namespace cairn {

// What makes this process this one, fixed at its start.
struct Identity {
  std::string run_id;  // 40 hexadecimal digits, new with every start
  std::string executable;
  std::string config_file;  // empty: none
  int64_t started_us = 0;   // monotonic
  int64_t started_unix_s = 0;

  // Reads the clocks and draws a run id.
  static Identity Make(std::string executable, std::string config_file);
};

// What DEBUG switches.
struct DebugSwitches {
  std::atomic<bool> active_expire{true};  // off: expired keys are hidden and not deleted
  std::atomic<bool> ticks{true};          // off: nothing is done that is done every so often (server/cron.h)
};

// When everything was last saved by command (SAVE, BGSAVE, BGREWRITEAOF), for INFO persistence.
struct SaveState {
  std::atomic<int> running{0};          // saves under way
  std::atomic<int64_t> last_unix_s{0};  // of the last that went well; the start counts as one
  std::atomic<bool> last_ok{true};
  std::atomic<uint64_t> count{0};
  std::atomic<uint64_t> changes_before{0};  // changes counted before the last save
};

// The most memory that was in use at any time it was looked at.
class MemoryPeak {
 public:
  // Takes a look at `bytes` into account; the peak.
  uint64_t Note(uint64_t bytes) {
    uint64_t peak = peak_.load(std::memory_order_relaxed);
    while (bytes > peak && !peak_.compare_exchange_weak(peak, bytes, std::memory_order_relaxed)) {
    }
    return peak_.load(std::memory_order_relaxed);
  }
  // What was in use when the server began to serve.
  void NoteStart(uint64_t bytes) { start_ = bytes; }
  uint64_t start() const { return start_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> peak_{0};
  std::atomic<uint64_t> start_{0};
};

// SHUTDOWN's options.
struct ShutdownOptions {
  bool save = false;  // an RDB file too, which is there (replication/saving.h), and flush the memtables
  bool no_save = false;
  bool now = false;
  bool force = false;  // end even when that file could not be written
};

// The wish to end: SHUTDOWN or a signal asks, the main thread waits for it.
class ShutdownRequest {
 public:
  // Called once, by the thread that asks first; wakes the main thread.
  void set_on_request(std::function<void()> wake) { wake_ = std::move(wake); }

  void Ask(const ShutdownOptions& options);
  bool asked() const { return asked_.load(std::memory_order_acquire); }
  // REQUIRES: asked().
  ShutdownOptions options() const;

 private:
  std::function<void()> wake_;  // set before any thread starts
  mutable std::mutex mutex_;
  std::atomic<bool> asked_{false};
  ShutdownOptions options_;
};

}  // namespace cairn
