// SPDX-License-Identifier: BSD-3-Clause
//
// EngineCounters: RocksDB's own counters since the store was opened, under the names of INFO rocksdb.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace cairn {

class Store;

struct EngineCounter {
  std::string_view name;
  uint64_t value;
};

std::vector<EngineCounter> EngineCounters(Store& store);

// Size of one LSM level, summed over all column families.
struct EngineLevel {
  uint64_t files = 0;
  uint64_t bytes = 0;
};

// Starts with level 0.
std::vector<EngineLevel> EngineLevels(Store& store);

// Total time that writers were stalled because flushes or compactions did not keep up.
uint64_t WriteStallMicros(Store& store);

}  // namespace cairn
