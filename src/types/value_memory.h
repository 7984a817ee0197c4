// SPDX-License-Identifier: BSD-3-Clause
//
// The memory that the rows of a value take when all of them are in the key cache: what MEMORY USAGE answers. The rows
// of a spread value are estimated from the average of the first ones.
//
// Thread: the transaction's.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "types/keyspace.h"

namespace cairn {

inline constexpr uint64_t kRowOverheadBytes = 64;  // of a cached row beside its key and value

// How many elements of the value a row holds.
using CountElements = uint64_t (*)(std::string_view row_value);

// The bytes of all rows of a spread value in `space`, from the first `samples` of them; 0: all. `count`: null for
// rows of one element each.
Result<uint64_t> EstimateRows(Transaction& txn, const Key& key, const KeyEntry& entry, Space space, uint64_t samples,
                              CountElements count = nullptr);
// Those of a value that has a row per element and no others.
Result<uint64_t> EstimateElements(Transaction& txn, const Key& key, const KeyEntry& entry, uint64_t samples);

// The bytes of the whole value, its key row included. REQUIRES: entry.exists()
Result<uint64_t> MemoryOf(Transaction& txn, const Key& key, const KeyEntry& entry, uint64_t samples);

}  // namespace cairn
