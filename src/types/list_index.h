// SPDX-License-Identifier: BSD-3-Clause
//
// The index of a spread list: how many items precede some of its chunks. An item far from both ends is found without a
// walk over all chunks before it.
//
// It is a counted index (storage/rank_index.h) in which a chunk counts as many times as it has items. A leaf covers
// some hundred items. The first access far into a list counts all of its chunks; later ones count none. A function that
// changes chunks calls CountItems, or drops the index if it changes too many.
//
// Like every counted index it is a hint: it may be dropped at any time, and is dropped if it disagrees with the list.
//
// Thread: that of the transaction. Changes need the key's lock; a lookup takes it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "storage/transaction.h"
#include "types/list_walk.h"

namespace cairn {

// Items nearer to an end are found without the index, so a list that is only used as a queue has none.
inline constexpr uint64_t kIndexedDistance = 1024;

// A change of more items drops the index instead of updating it.
inline constexpr uint64_t kMostCounted = 4096;

struct IndexedChunk {
  int64_t seq = 0;
  uint64_t before = 0;  // items in the chunks before it
};

// Finds a chunk not far before the item at `index`; none if the index cannot help. `total` is the list's count.
Result<std::optional<IndexedChunk>> FindIndexed(Transaction& txn, const ListRows& rows, uint64_t index, uint64_t total);

// Adds `change` to a chunk's number of items. REQUIRES: the key's stripe is held.
void CountItems(Transaction& txn, const ListRows& rows, int64_t seq, int64_t change);

}  // namespace cairn
