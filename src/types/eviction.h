// SPDX-License-Identifier: BSD-3-Clause
//
// Eviction: deletes keys of a database as `maxmemory-policy` says. Like Redis it samples: of some random keys it
// deletes those that suit the policy best (redis.io/docs, "Key eviction").
//
// The samples are keys that follow each other from a random position on. Positions are hashes, so they are random keys,
// and one read of the disk finds many of them. A sample that nobody changed meanwhile is deleted without being read
// again. The time of the last use is that in the key cache: a key that is not in it counts as unused for longest.
//
// Thread: that of the transaction.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstdint>
#include <string_view>

#include "base/random.h"
#include "base/result.h"
#include "storage/transaction.h"
#include "types/limits.h"

namespace cairn {

enum class EvictionOrder : unsigned char { kNone, kLru, kLfu, kRandom, kTtl };

struct EvictionPolicy {
  EvictionOrder order = EvictionOrder::kNone;
  bool only_expiring = false;  // volatile-*: only keys with a time to live
  int samples = 5;             // maxmemory-samples

  // `name`: a value of maxmemory-policy.
  static EvictionPolicy Named(std::string_view name, int samples);
  bool evicts() const { return order != EvictionOrder::kNone; }
};

// Deletes up to `most` keys of the database, in commits of their own, and returns about how many bytes they took; 0: no
// key suits. Emits `evicted`, and replicates a DEL of each. Deletes nothing if `may_evict` returns false, which is
// called when the keys are locked: the server may have become a replica during the wait for the locks.
Result<uint64_t> EvictKeys(Transaction& txn, int db, const Limits& limits, const EvictionPolicy& policy, Random& random,
                           int most, absl::FunctionRef<bool()> may_evict);

}  // namespace cairn
