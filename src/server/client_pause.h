// SPDX-License-Identifier: BSD-3-Clause
//
// ClientPause: the state behind CLIENT PAUSE and UNPAUSE, and what a failover or a shutdown holds back. While a pause
// lasts, the connections of clients hold back what it covers: everything, or what may write, and nothing expires.
// Pauses of different purposes do not end one another.
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "command/conditions.h"

namespace cairn {

class ClientPause {
 public:
  enum class Mode : unsigned char { kNone, kWrites, kAll };
  enum class Purpose : unsigned char { kCommand, kFailover, kShutdown };

  // Sets kPausesExpiry while a pause is on.
  explicit ClientPause(Conditions& conditions) : conditions_(conditions) {}

  // As in Redis a second pause never shortens or weakens the one that is on at `now_ms`.
  void Begin(Purpose purpose, Mode mode, int64_t now_ms, int64_t until_ms);
  void End(Purpose purpose);
  // Ends a pause whose time is over at `now_ms`; cheap.
  void EndIfOver(int64_t now_ms);

  // Whether there may be a pause; cheap.
  bool is_set() const { return mode_.load(std::memory_order_relaxed) != Mode::kNone; }
  // What is held back at `now_ms` (wall time).
  Mode ModeAt(int64_t now_ms) const;
  int64_t until_ms() const { return until_ms_.load(std::memory_order_relaxed); }

 private:
  struct Pause {
    Mode mode = Mode::kNone;
    int64_t until_ms = 0;
  };

  // What holds of all purposes together: the strictest, until the last one is over.
  void Publish();

  Conditions& conditions_;
  std::mutex mutex_;   // writers
  Pause pauses_[3];    // by purpose; guarded by mutex_
  std::atomic<Mode> mode_{Mode::kNone};
  std::atomic<int64_t> until_ms_{0};
};

}  // namespace cairn
