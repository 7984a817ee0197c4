// SPDX-License-Identifier: BSD-3-Clause
//
// Stats: the server's counters. Each worker counts in its own WorkerStats, which no other thread writes; INFO adds them
// up.
//
// CONFIG RESETSTAT does not reset the counters (two writers would lose counts); it stores the current totals, and later
// totals are shown relative to them. Only the errors by prefix, which have a mutex, are deleted, so that there is room
// for others.
//
// Thread: a WorkerStats has one writer, its worker; everything else may be called by any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "command/script_calls.h"
#include "command/table.h"
#include "stats/latency_histogram.h"
#include "storage/counters.h"

namespace cairn {

// The calls of one command, or of all.
struct CommandTotals {
  uint64_t calls = 0;
  uint64_t usec = 0;
  uint64_t rejected = 0;          // refused by a gate before it ran
  uint64_t failed = 0;            // replied with an error
  std::vector<uint64_t> latency;  // by bucket of LatencyHistogram; empty: never called
  uint64_t latency_usec = 0;      // of the calls in `latency`, which excludes calls by scripts
};

// Totals over all workers, since the start or the last RESETSTAT.
// All fields are uint64_t: Stats subtracts them as one array.
struct StatsTotals {
  uint64_t commands = 0;
  uint64_t net_input_bytes = 0;
  uint64_t net_output_bytes = 0;
  uint64_t keyspace_hits = 0;
  uint64_t keyspace_misses = 0;
  uint64_t expired_keys = 0;
  uint64_t evicted_keys = 0;
  uint64_t connections_received = 0;
  uint64_t connections_rejected = 0;
  uint64_t error_replies = 0;
  uint64_t lazyfreed_objects = 0;
  uint64_t slow_lane_commands = 0;
  uint64_t reads_processed = 0;
  uint64_t writes_processed = 0;
};

class WorkerStats {
 public:
  explicit WorkerStats(uint32_t command_count);
  ~WorkerStats();

  // Counts a command that ran. `error` is the error reply without its '-'; empty unless `failed`, and empty if a script
  // returned the error of a command it called, because that command has counted it.
  void OnCommand(const Command& command, int64_t usec, bool failed, std::string_view error);
  // Counts a command that was refused before it ran; null: an unknown command.
  void OnRejected(const Command* command, std::string_view error);
  // Counts the commands that scripts have called.
  void OnScriptCalls(const ScriptCalls& calls);
  void OnRead(uint64_t bytes);
  void OnWritten(uint64_t bytes);
  void OnSlowLane();

  // Sets whether latency histograms are kept (`latency-tracking`).
  void set_tracks_latency(bool on) { tracks_latency_.store(on, std::memory_order_relaxed); }

 private:
  friend class Stats;
  using Counter = std::atomic<uint64_t>;
  struct PerCommand {
    Counter calls{0};
    Counter usec{0};
    Counter rejected{0};
    Counter failed{0};
    std::atomic<LatencyHistogram*> latency{nullptr};  // made on first use
  };

  void CountError(std::string_view error, uint64_t times = 1);

  const std::unique_ptr<PerCommand[]> per_command_;
  const uint32_t command_count_;
  std::atomic<bool> tracks_latency_{true};
  Counter commands_{0};
  Counter input_bytes_{0};
  Counter output_bytes_{0};
  Counter reads_{0};
  Counter writes_{0};
  Counter errors_{0};
  Counter slow_lane_{0};
  Mutex error_mutex_;  // taken by the worker per error, by INFO and by RESETSTAT
  std::map<std::string, uint64_t, std::less<>> errors_by_prefix_ ABSL_GUARDED_BY(error_mutex_);
};

class Stats {
 public:
  explicit Stats(uint32_t command_count);
  ~Stats();

  // Sets where the store counts hits and misses of keys; it must outlive the Stats. Called before the server runs.
  void set_keyspace(const KeyspaceCounters* keyspace) { keyspace_ = keyspace; }

  // Counts an accepted or a refused connection. Thread: any.
  void OnConnection(bool accepted) { (accepted ? accepted_ : refused_).Add(); }

  // The result lives as long as the Stats, so the counts of an ended worker are kept.
  WorkerStats& AddWorker();

  StatsTotals Totals() const;
  // By Command::index().
  std::vector<CommandTotals> Commands() const;
  // By the error's first word: at most 64 bytes, and '?' for bytes that are not printable ASCII.
  std::map<std::string, uint64_t> Errors() const;

  // CONFIG RESETSTAT.
  void Reset();
  void set_tracks_latency(bool on);

  // Takes a sample for the instantaneous rates; called ten times a second by cron.
  void Sample(int64_t now_us);
  struct Rates {
    uint64_t commands_per_s = 0;
    double input_kb_per_s = 0;
    double output_kb_per_s = 0;
  };
  Rates rates() const;

 private:
  struct Snapshot;
  StatsTotals Sum() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<CommandTotals> SumCommands() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  static constexpr int kSamples = 16;
  struct RatePoint {
    int64_t at_us = 0;
    uint64_t commands = 0;
    uint64_t input_bytes = 0;
    uint64_t output_bytes = 0;
  };

  const uint32_t command_count_;
  const KeyspaceCounters* keyspace_ = nullptr;
  ShardedCounter accepted_;
  ShardedCounter refused_;
  mutable Mutex mutex_;
  std::vector<std::unique_ptr<WorkerStats>> workers_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Snapshot> baseline_ ABSL_GUARDED_BY(mutex_);
  std::array<RatePoint, kSamples> samples_ ABSL_GUARDED_BY(mutex_){};
  int next_sample_ ABSL_GUARDED_BY(mutex_) = 0;
  bool tracks_latency_ ABSL_GUARDED_BY(mutex_) = true;
};

}  // namespace cairn
