// SPDX-License-Identifier: BSD-3-Clause
//
// WriteStalls: when, why and how long RocksDB delayed or stopped writes because flushes or compactions did not keep up.
//
// RocksDB delays writes to a rate, or stops them, while one column family has too many memtables, too many files in
// level 0 or too many bytes that wait for compaction. Its listener reports changes of that condition without the
// reason; its statistics count the reasons (Causes). The time that clients waited is RocksDB's ticker STALL_MICROS.
//
// Thread: any.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "encoding/row_key.h"

namespace rocksdb {
class EventListener;
}

namespace cairn {

class Engine;

class WriteStalls {
 public:
  enum class State : unsigned char { kNormal, kDelayed, kStopped };

  struct Totals {
    State state = State::kNormal;
    uint64_t delays = 0;     // times that writes became delayed
    uint64_t stops = 0;      // times that writes became stopped
    int64_t delayed_us = 0;  // time in which writes were delayed, also if no client wrote
    int64_t stopped_us = 0;
    int64_t last_ms = 0;      // Unix time of the last change; 0: none since the start
    std::string last_family;  // the column family of that change
  };

  // A reason, and how often RocksDB met it since the start, summed over the column families.
  struct Cause {
    std::string_view name;    // "memtables", "level0-files", "pending-compaction-bytes"
    std::string_view effect;  // "delayed", "stopped"
    uint64_t count = 0;
  };

  Totals totals() const;
  static std::vector<Cause> Causes(const Engine& engine);

  // ---- storage/ calls this
  // A listener that reports changes to this object. It must not outlive this object.
  std::shared_ptr<rocksdb::EventListener> MakeListener();

 private:
  class Listener;
  void Note(const std::string& family, State state);
  // Adds the time since the last change.
  void CountTime(Totals& totals, int64_t now_us) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  std::array<std::pair<std::string, State>, size_t{2} * kSpaceCount> families_ ABSL_GUARDED_BY(mutex_);
  Totals totals_ ABSL_GUARDED_BY(mutex_);
  int64_t changed_us_ ABSL_GUARDED_BY(mutex_) = 0;
};

// "normal", "delayed", "stopped".
std::string_view NameOf(WriteStalls::State state);

}  // namespace cairn
