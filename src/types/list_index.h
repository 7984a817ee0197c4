// SPDX-License-Identifier: BSD-3-Clause
//
// The index of a spread list: how many items stand before some of its chunks, so that an item far from both ends is
// found without passing by all chunks before it.
//
// It is a counted index (storage/rank_index.h) in which a chunk counts as often as it has items. Leaves are of some
// hundred items; the first look far into a list counts all of its chunks, later ones none. Whatever changes chunks
// tells CountItems, or drops the index where that is too much to tell.
//
// Like every counted index it is an aid: it may be gone at any time, and one that disagrees with the list is dropped.
//
// Thread: the transaction's. Changes need the key's lock; a look takes it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "storage/transaction.h"
#include "types/list_walk.h"

namespace cairn {

// Nearer to an end than this nobody asks the index: a list that is only used as a queue has none.
inline constexpr uint64_t kIndexedDistance = 1024;

// Changes of more items at once are not told: the index is dropped.
inline constexpr uint64_t kMostCounted = 4096;

struct IndexedChunk {
  int64_t seq = 0;
  uint64_t before = 0;  // items in the chunks before it
};

// A chunk not far before the item at `index`; none when the index is of no use. `total`: the list's count.
Result<std::optional<IndexedChunk>> FindIndexed(Transaction& txn, const ListRows& rows, uint64_t index, uint64_t total);

// A chunk has so many items more, or fewer. REQUIRES: the key's stripe is held.
void CountItems(Transaction& txn, const ListRows& rows, int64_t seq, int64_t change);

}  // namespace cairn
