// SPDX-License-Identifier: BSD-3-Clause
//
// RocksDB's statistics, without the look-ups that only start a read (storage/ready_reads.h). Otherwise a block that is
// read once would be two misses of the block cache.
//
// Thread: any.
#pragma once

#include <rocksdb/statistics.h>

#include <memory>

namespace cairn {

// Counters only; histograms and timers would cost time on each look-up (rocksdb/statistics.h, StatsLevel).
std::shared_ptr<rocksdb::Statistics> MakeReadStatistics();

}  // namespace cairn
