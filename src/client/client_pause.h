// SPDX-License-Identifier: BSD-3-Clause
//
// ClientPause: the state of CLIENT PAUSE and UNPAUSE, and of the pauses during a failover or a shutdown, and while
// evictions, and the compaction of what they deleted, catch up with writers. During a pause, connections hold back the
// requests that it covers, all or only writes, and no key expires, except in the last case. Pauses of different
// purposes are independent: each has its own mode and end. Whenever one ends, all clients are woken, and blocked ones
// check whether another pause still covers them.
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/mutex.h"
#include "command/conditions.h"

namespace cairn {

class ClientRegistry;

class ClientPause {
 public:
  enum class Mode : unsigned char { kNone, kWrites, kAll };
  enum class Purpose : unsigned char { kCommand, kFailover, kShutdown, kSizeLimit };

  // Sets kPausesExpiry while a pause is on that stops it.
  ClientPause(Conditions& conditions, ClientRegistry& clients) : conditions_(conditions), clients_(clients) {}

  // As in Redis, a second pause never shortens or weakens the pause that is active at `now_ms`. Times are
  // MonotonicMs().
  void Begin(Purpose purpose, Mode mode, int64_t now_ms, int64_t until_ms);
  void End(Purpose purpose);
  // Ends the pauses that have expired at `now_ms`; cheap.
  void EndIfOver(int64_t now_ms);

  // Whether a pause may be active; cheap.
  bool is_set() const { return writes_until_ms_.load(std::memory_order_relaxed) != 0; }
  // The time until which writes, or other requests, are held back; it may have passed.
  int64_t writes_until_ms() const { return writes_until_ms_.load(std::memory_order_relaxed); }
  int64_t others_until_ms() const { return others_until_ms_.load(std::memory_order_relaxed); }

 private:
  struct Pause {
    Mode mode = Mode::kNone;
    int64_t until_ms = 0;
  };

  // Publishes the union of all pauses.
  void Publish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WakeClients();

  Conditions& conditions_;
  ClientRegistry& clients_;
  Mutex mutex_;                              // taken by writers only
  Pause pauses_[4] ABSL_GUARDED_BY(mutex_);  // by purpose
  std::atomic<int64_t> writes_until_ms_{0};
  std::atomic<int64_t> others_until_ms_{0};
};

}  // namespace cairn
