// SPDX-License-Identifier: BSD-3-Clause
//
// The memory that a value's rows take when all of them are in the key cache, for MEMORY USAGE. The size of a spread
// value is estimated from the average of its first rows.
//
// Thread: that of the transaction.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "types/keyspace.h"

namespace cairn {

inline constexpr uint64_t kRowOverheadBytes = 64;  // of a cached row, besides its key and value

// Returns the number of elements in a row.
using CountElements = uint64_t (*)(std::string_view row_value);

// Returns the bytes of all rows of a spread value in `space`, estimated from the first `samples` rows; 0: from all.
// `count` is null for rows of one element each.
Result<uint64_t> EstimateRows(Transaction& txn, const Key& key, const KeyEntry& entry, Space space, uint64_t samples,
                              CountElements count = nullptr);
// The same for a value that has only rows of one element each.
Result<uint64_t> EstimateElements(Transaction& txn, const Key& key, const KeyEntry& entry, uint64_t samples);

// Returns the bytes of the whole value, including its key row. REQUIRES: entry.exists()
Result<uint64_t> MemoryOf(Transaction& txn, const Key& key, const KeyEntry& entry, uint64_t samples);

}  // namespace cairn
