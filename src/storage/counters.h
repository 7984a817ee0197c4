// SPDX-License-Identifier: BSD-3-Clause
//
// KeyspaceCounters: counts of keyspace look-ups and changes, for INFO stats.
//
// Every read counts. A command that runs again must not count twice, so a transaction counts into its own plain fields
// while a command runs, and adds them here when the command has finished.
//
// Thread: any. A counter is never reset: CONFIG RESETSTAT remembers its value at that time (stats/stats.h).
#pragma once

#include "base/sharded_counter.h"

namespace cairn {

struct KeyspaceCounters {
  ShardedCounter keyspace_hits;      // look-ups by reading commands that found a key
  ShardedCounter keyspace_misses;    // the same look-ups that found none
  ShardedCounter lazyfreed_objects;  // deleted collections whose rows were freed
  // Fast lane probes that RocksDB could not answer from memory. RocksDB counts them as point reads; they are not.
  ShardedCounter incomplete_probes;
  ShardedCounter expired_keys;      // keys deleted because they had expired
  ShardedCounter evicted_keys;      // keys that maxmemory-policy chose
  ShardedCounter refused_for_room;  // commands refused for min-free-disk
  ShardedCounter changes;           // committed changes, as INFO's rdb_changes_since_last_save counts them
};

}  // namespace cairn
