// SPDX-License-Identifier: BSD-3-Clause
//
// WritableReplicaExpires: expire times set by clients of a writable replica. A replica only hides an expired key whose
// expire time came from its primary, and waits for the primary's DEL. The primary does not know the keys in this class,
// so the replica deletes them itself. They are kept in memory only, as in Redis: after a restart they are hidden. A key
// has at most one entry for itself and one for its fields, however often they are prolonged.
//
// Thread: any, under mutex_, a leaf.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "storage/transaction.h"
#include "types/expiry.h"

namespace cairn {

class WritableReplicaExpires {
 public:
  // Records the expire times among the notifications (kKeyExpires, kFieldsExpire). Thread: any.
  void Note(std::span<const Notification> notifications);
  // Puts rows back that could not be deleted. Thread: any.
  void Note(std::span<const DueRow> rows);
  // Removes and returns up to `most` rows that expire at `now_ms` or before. Thread: any.
  std::vector<DueRow> TakeDue(int64_t now_ms, size_t most);
  // Forgets everything: this server is no longer a replica and expires all keys itself. Thread: any.
  void Clear();

 private:
  enum class Of : unsigned char { kKey, kFields, kPutBack };
  using Owner = std::pair<std::string, Of>;  // a key row

  void Remember(Owner owner, int64_t when_ms) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<bool> any_{false};
  Mutex mutex_;
  std::map<Owner, int64_t> times_ ABSL_GUARDED_BY(mutex_);
  std::set<std::pair<int64_t, Owner>> by_time_ ABSL_GUARDED_BY(mutex_);  // the same entries by time
};

}  // namespace cairn
