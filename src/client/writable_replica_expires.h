// SPDX-License-Identifier: BSD-3-Clause
//
// WritableReplicaExpires: what clients of a writable replica gave a time to live. What the primary gave one, a replica
// only hides when its time has passed, and the primary says when it goes; but of these keys the primary knows nothing,
// so the replica deletes them itself. They are remembered in memory alone, as in Redis: after a restart they are
// hidden. Of a key there is one time at most, and one for its fields, however often they are prolonged.
//
// Thread: any, under mutex_, a leaf.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "storage/transaction.h"
#include "types/expiry.h"

namespace cairn {

class WritableReplicaExpires {
 public:
  // Remembers what of this tells of a time to live (kKeyExpires, kFieldsExpire). Thread: any.
  void Note(std::span<const Notification> notifications);
  // Puts back what could not be deleted. Thread: any.
  void Note(std::span<const DueRow> rows);
  // Up to `most` of those whose time is `now_ms` or before; they are not remembered any more. Thread: any.
  std::vector<DueRow> TakeDue(int64_t now_ms, size_t most);
  // This server is a replica no more, and expires everything itself. Thread: any.
  void Clear();

 private:
  enum class Of : unsigned char { kKey, kFields, kPutBack };
  using Owner = std::pair<std::string, Of>;  // a key row

  void Remember(Owner owner, int64_t when_ms);

  std::atomic<bool> any_{false};
  std::mutex mutex_;
  std::map<Owner, int64_t> times_;  // guarded by mutex_, like the next, which has the same
  std::set<std::pair<int64_t, Owner>> by_time_;
};

}  // namespace cairn
