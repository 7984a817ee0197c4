// SPDX-License-Identifier: BSD-3-Clause
//
// KeyspaceCounters: what commands found in the keyspace, for INFO stats.
//
// They are counted on every read. A command that is run again must not count twice: a transaction counts into
// plain fields of its own while a command runs and adds them here once the command has finished for
// good.
//
// Thread: any. A counter is never set back: CONFIG RESETSTAT remembers where it stood
// (stats/stats.h).
#pragma once

#include "base/sharded_counter.h"

namespace cairn {

struct KeyspaceCounters {
  ShardedCounter keyspace_hits;      // look-ups by reading commands that found a key
  ShardedCounter keyspace_misses;    // and those that did not
  ShardedCounter lazyfreed_objects;  // dropped collections whose rows were given back
  // Fast lane looks that RocksDB could not answer from memory: not point reads, though its counter has them.
  ShardedCounter incomplete_probes;
  ShardedCounter expired_keys;      // keys deleted because their time had passed
  ShardedCounter refused_for_room;  // commands refused for min-free-disk
  ShardedCounter changes;           // changes that were committed, as INFO's rdb_changes_since_last_save counts them
};

}  // namespace cairn
