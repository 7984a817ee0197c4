// SPDX-License-Identifier: BSD-3-Clause
//
// ClientRegistry: every connected client by its id, for CLIENT LIST, CLIENT KILL and INFO clients.
//
// It holds shared pointers, so that a session stays valid for a reader of the list; the connection removes its session
// when it closes.
//
// Thread: any; guarded by mutex_, a leaf: no lock is taken while it is held.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "command/session.h"

namespace cairn {

class ClientRegistry {
 public:
  // Ids count up from 1 and are never reused.
  uint64_t NextId() { return next_id_.fetch_add(1, std::memory_order_relaxed); }

  // Returns false and adds nothing if `max_clients` are connected.
  bool Add(std::shared_ptr<Session> session, size_t max_clients);
  void Remove(uint64_t id);

  std::shared_ptr<Session> Find(uint64_t id) const;
  // Returns the clients in the order in which they connected.
  std::vector<std::shared_ptr<Session>> All() const;
  size_t size() const;

 private:
  std::atomic<uint64_t> next_id_{1};
  mutable Mutex mutex_;
  std::map<uint64_t, std::shared_ptr<Session>> sessions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn
