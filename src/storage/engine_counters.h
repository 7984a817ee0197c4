// SPDX-License-Identifier: BSD-3-Clause
//
// EngineCounters: RocksDB's own counts of what it did since the store was opened, under the names
// INFO rocksdb shows them by.
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

// What a level of the trees holds, all column families together.
struct EngineLevel {
  uint64_t files = 0;
  uint64_t bytes = 0;
};

// From level 0 on.
std::vector<EngineLevel> EngineLevels(Store& store);

// For how long writers were held up because flushes or compactions do not keep up, all of them together.
uint64_t WriteStallMicros(Store& store);

}  // namespace cairn
