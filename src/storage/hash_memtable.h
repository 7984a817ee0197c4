// SPDX-License-Identifier: BSD-3-Clause
//
// A memtable for rows that are nearly always asked for one by one: key rows. RocksDB's skip list keeps them in order
// all the time, and that is a third of what a small write costs (docs/decisions/memtable.md). Here a row is found by
// the hash of its key, and order is made when somebody walks: by SCAN, or once by the flush.
//
// It is a MemTableRep, RocksDB's own extension point (rocksdb/memtablerep.h), with its contract: one writer at a
// time or, by the *Concurrently functions, several; any number of readers beside them without a lock; what a walk
// begins with is what was there when it began.
#pragma once

#include <rocksdb/memtablerep.h>

#include <cstddef>
#include <memory>

namespace cairn {

// `buckets` is rounded up to a power of two; 8 bytes each are charged to every memtable. As many as a full memtable
// has rows is right; fewer make look-ups longer.
std::shared_ptr<rocksdb::MemTableRepFactory> NewHashMemtableFactory(size_t buckets);

}  // namespace cairn
