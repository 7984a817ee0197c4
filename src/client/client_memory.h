// SPDX-License-Identifier: BSD-3-Clause
//
// ClientMemory: what all clients take together, and who goes when that is more than `maxmemory-clients`: the largest,
// until the rest is within the limit, as in Redis. When there are very many, a sixteenth less, for choosing looks at
// all of them. Replicas are not counted; clients with CLIENT NO-EVICT are, and stay.
//
// Thread: any. mutex_ is held while clients are chosen, and only the registry's mutex is taken under it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "client/client_registry.h"
#include "command/session.h"
#include "config/settings.h"

namespace cairn {

class ClientMemory {
 public:
  ClientMemory(const ClientRegistry& clients, const Settings& settings) : clients_(clients), settings_(settings) {}

  // The client takes more or less than before. It is the caller itself that may have to go.
  void Count(Session& session);
  // The same of one that has not authenticated, or whose TLS handshake is not over: what it takes beside itself. Those
  // have a small share together. Beyond half of it, when it is exceeded, the largest go, of equals the oldest.
  void CountStranger(Session& session, uint64_t bytes);
  // It takes nothing any more.
  void Forget(Session& session);
  // Closes clients if they use too much. Called when other clients may be closed than before.
  void Reconsider();
  // Sets the limit anew from the settings, after they have changed. May wait.
  void FollowSettings();

  struct Totals {
    uint64_t normal = 0;  // with subscribers
    uint64_t replicas = 0;
  };
  Totals totals() const;
  // What all clients that count take.
  uint64_t counted() const { return counted_.load(std::memory_order_relaxed); }
  // What clients may take; 0: no limit.
  uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  uint64_t evicted() const { return evicted_.load(std::memory_order_relaxed); }
  void ResetStats() { evicted_ = 0; }

 private:
  bool is_too_much() const;
  void Evict();
  void EvictStrangers();
  void Disconnect(Session& session);

  const ClientRegistry& clients_;
  const Settings& settings_;
  std::atomic<uint64_t> limit_{0};    // 0: none
  std::atomic<uint64_t> counted_{0};  // the sum of all clients' counted_bytes
  std::atomic<uint64_t> most_of_strangers_{0};
  std::atomic<uint64_t> strangers_{0};  // the sum of all stranger_bytes
  std::atomic<uint64_t> evicted_{0};
  std::atomic<int64_t> idle_until_us_{0};  // monotonic; until then there is nobody to evict
  std::mutex mutex_;
};

}  // namespace cairn
