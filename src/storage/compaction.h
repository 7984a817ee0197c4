// SPDX-License-Identifier: BSD-3-Clause
//
// Compaction filters: how the space of dropped data comes back.
//
// Deleting a collection of ten million members removes its key row and its owner row and nothing else; FLUSHDB
// gives the database another keyspace and removes nothing. What they leave behind is dropped when compaction
// passes over it:
//
//   keys, expiries   a row whose keyspace no database has
//   owners           a row that names a key of such a keyspace
//   elements, scores a row whose collection has no owner row: one look-up per collection and compaction
//
// A row only becomes dead by a commit, and never alive again, so asking for the latest state is right at any
// time. Thread: RocksDB's compaction threads.
#pragma once

#include <rocksdb/compaction_filter.h>

#include <memory>

#include "encoding/row_key.h"

namespace cairn {

class Store;

// The filter factory for a space; null for a space where nothing dies by itself.
std::shared_ptr<rocksdb::CompactionFilterFactory> MakeFilterFactory(Store& store, Space space);

}  // namespace cairn
