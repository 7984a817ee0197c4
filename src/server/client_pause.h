// SPDX-License-Identifier: BSD-3-Clause
//
// ClientPause: the state behind CLIENT PAUSE and UNPAUSE. While a pause lasts, the connections of
// clients hold back what it covers: everything, or what may write, and nothing expires.
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

  // Sets kPausesExpiry while a pause is on.
  explicit ClientPause(Conditions& conditions) : conditions_(conditions) {}

  // As in Redis a second pause never shortens or weakens the one that is on at `now_ms`.
  void Begin(Mode mode, int64_t now_ms, int64_t until_ms);
  void End();
  // Ends a pause whose time is over at `now_ms`; cheap.
  void EndIfOver(int64_t now_ms);

  // Whether there may be a pause; cheap.
  bool is_set() const { return mode_.load(std::memory_order_relaxed) != Mode::kNone; }
  // What is held back at `now_ms` (wall time).
  Mode ModeAt(int64_t now_ms) const;
  int64_t until_ms() const { return until_ms_.load(std::memory_order_relaxed); }

 private:
  void EndLocked();

  Conditions& conditions_;
  std::mutex mutex_;  // writers
  std::atomic<Mode> mode_{Mode::kNone};
  std::atomic<int64_t> until_ms_{0};
};

}  // namespace cairn
