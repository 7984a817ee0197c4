// SPDX-License-Identifier: BSD-3-Clause
//
// ClientMemory: the memory of all clients together. When it exceeds `maxmemory-clients`, the largest clients are
// evicted until the rest is within the limit, as in Redis. With very many clients it evicts a sixteenth more, because
// the choice scans all of them. Replicas are not counted; clients with CLIENT NO-EVICT are counted, but not evicted.
//
// Thread: any. mutex_ is held during the choice, and only the registry's mutex is taken under it.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/mutex.h"
#include "client/client_registry.h"
#include "command/session.h"
#include "config/settings.h"

namespace cairn {

class ClientMemory {
 public:
  ClientMemory(const ClientRegistry& clients, const Settings& settings) : clients_(clients), settings_(settings) {}

  // Notes that the client's memory changed. The caller itself may be evicted.
  void Count(Session& session);
  // The same for the additional memory of a client that has not authenticated or is in its TLS handshake. All of these
  // share a small limit. When they exceed it, the largest (of equals the oldest) are evicted down to half of it.
  void CountStranger(Session& session, uint64_t bytes);
  // Notes that the client has freed its memory.
  void Forget(Session& session);
  // Evicts clients if they exceed the limit. Call it when the set of clients that may be evicted has changed.
  void Reconsider();
  // Computes the limit from the settings, after they have changed. May wait.
  void FollowSettings();

  struct Totals {
    uint64_t normal = 0;  // including subscribers
    uint64_t replicas = 0;
  };
  Totals totals() const;
  // The memory of all counted clients.
  uint64_t counted() const { return counted_.load(std::memory_order_relaxed); }
  // The most memory that clients may use; 0: no limit.
  uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  uint64_t evicted() const { return evicted_.load(std::memory_order_relaxed); }
  // Clients that were disconnected for a limit of each client.
  struct OverLimit {
    std::atomic<uint64_t> query_buffer{0};   // client-query-buffer-limit
    std::atomic<uint64_t> output_buffer{0};  // client-output-buffer-limit
  };
  OverLimit& over_limit() { return over_limit_; }
  const OverLimit& over_limit() const { return over_limit_; }
  void ResetStats() { evicted_ = over_limit_.query_buffer = over_limit_.output_buffer = 0; }

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
  OverLimit over_limit_;
  std::atomic<int64_t> idle_until_us_{0};  // monotonic; until then no client can be evicted
  Mutex mutex_;
};

}  // namespace cairn
