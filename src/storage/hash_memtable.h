// SPDX-License-Identifier: BSD-3-Clause
//
// A memtable for rows that are almost always read one by one: key rows. RocksDB's skip list keeps rows sorted all the
// time, which is a third of the cost of a small write (docs/decisions/memtable.md). This memtable finds a row by the
// hash of its key, and sorts only for a walk: for SCAN, or once for the flush.
//
// It is a MemTableRep, RocksDB's own extension point (rocksdb/memtablerep.h), with its contract: one writer at a time,
// or several with the *Concurrently functions; any number of readers at the same time without a lock; a walk sees the
// rows that were present when it began.
#pragma once

#include <rocksdb/memtablerep.h>

#include <cstddef>
#include <memory>

namespace cairn {

// `buckets` is rounded up to a power of two. Each costs 8 bytes in every memtable. The right number is the number of
// rows in a full memtable; fewer make look-ups slower.
std::shared_ptr<rocksdb::MemTableRepFactory> NewHashMemtableFactory(size_t buckets);

}  // namespace cairn
