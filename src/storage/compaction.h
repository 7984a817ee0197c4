// SPDX-License-Identifier: BSD-3-Clause
//
// Compaction filters: they reclaim the space of dropped data.
//
// Deleting a collection of ten million members deletes its key row and its owner row and nothing else; FLUSHDB gives
// the database another keyspace and deletes nothing. Compaction drops the remaining rows when it reads them:
//
//   keys, expiries   a row whose keyspace no database has
//   owners           a row that names a key of such a keyspace
//   elements, scores a row whose collection has no owner row: one look-up per collection and compaction
//
// A commit can make a row dead, and only a power loss can make it alive again: one that takes this commit. So a filter
// drops only what is dead by a synced commit. Thread: RocksDB's compaction threads.
#pragma once

#include <rocksdb/compaction_filter.h>

#include <memory>

#include "encoding/row_key.h"

namespace cairn {

class Store;

// The filter factory for a space; null where rows do not die by themselves.
std::shared_ptr<rocksdb::CompactionFilterFactory> MakeFilterFactory(Store& store, Space space);

}  // namespace cairn
