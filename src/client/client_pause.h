// SPDX-License-Identifier: BSD-3-Clause
//
// ClientPause: the state behind CLIENT PAUSE and UNPAUSE, and what a failover or a shutdown holds back. While a pause
// lasts, the connections of clients hold back what it covers: everything, or what may write, and nothing expires.
// Pauses of different purposes do not end one another, and each covers its own for its own time. Whenever one ends, all
// clients are woken: those that are held back look whether another one holds them still.
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "command/conditions.h"

namespace cairn {

class ClientRegistry;

class ClientPause {
 public:
  enum class Mode : unsigned char { kNone, kWrites, kAll };
  enum class Purpose : unsigned char { kCommand, kFailover, kShutdown };

  // Sets kPausesExpiry while a pause is on.
  ClientPause(Conditions& conditions, ClientRegistry& clients) : conditions_(conditions), clients_(clients) {}

  // As in Redis a second pause never shortens or weakens the one that is on at `now_ms`.
  void Begin(Purpose purpose, Mode mode, int64_t now_ms, int64_t until_ms);
  void End(Purpose purpose);
  // Ends the pauses whose time is over at `now_ms`; cheap.
  void EndIfOver(int64_t now_ms);

  // Whether there may be a pause; cheap.
  bool is_set() const { return writes_until_ms_.load(std::memory_order_relaxed) != 0; }
  // Until when (wall time) what may write is held back, and what does not; it may have passed.
  int64_t writes_until_ms() const { return writes_until_ms_.load(std::memory_order_relaxed); }
  int64_t others_until_ms() const { return others_until_ms_.load(std::memory_order_relaxed); }

 private:
  struct Pause {
    Mode mode = Mode::kNone;
    int64_t until_ms = 0;
  };

  // What holds of all purposes together.
  void Publish();
  void WakeClients();

  Conditions& conditions_;
  ClientRegistry& clients_;
  std::mutex mutex_;  // writers
  Pause pauses_[3];   // by purpose; guarded by mutex_
  std::atomic<int64_t> writes_until_ms_{0};
  std::atomic<int64_t> others_until_ms_{0};
};

}  // namespace cairn
