// SPDX-License-Identifier: BSD-3-Clause
//
// ListChunks: the items of a spread list, in chunk rows (types/list_walk.h has their format).
//
// A chunk holds up to 128 items and up to 2 KB, or one larger item. Pushing and popping touch only the chunk at that
// end. A change in the middle rewrites one chunk. A chunk that has become too large is split, and the new part takes a
// number between the chunk's and the next one's. If no number is free, the fewest following chunks that make room are
// renumbered. Small chunks are not merged.
//
// Thread: that of the transaction. Not here: the count of items and the key row, which List maintains.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "encoding/row_key.h"
#include "storage/transaction.h"
#include "types/list_items.h"
#include "types/list_walk.h"

namespace cairn {

class ListChunks {
 public:
  // Makes a list without chunks.
  ListChunks(Transaction& txn, CollectionId id, uint32_t stripe) : txn_(&txn), rows_{.id = id, .stripe = stripe} {}
  // Opens a list with chunks; `ends` is the output of AppendEnds.
  static Result<ListChunks> Decode(Transaction& txn, CollectionId id, uint32_t stripe, std::string_view ends);

  CollectionId id() const { return rows_.id; }
  // Appends our part of the key row's payload: the numbers of the first and the last chunk, as zigzag varints.
  void AppendEnds(std::string& payload) const;

  // Pushes items one after another. `is_empty`: the list is empty now.
  Status Push(ListEnd end, const EncodedItems& items, bool is_empty);
  // Deletes `n` items from an end; calls visit, if given, for each in order. REQUIRES: the list has more than `n`.
  Status Drop(ListEnd end, uint64_t n, const ItemVisitor* visit);

  // Calls visit for `n` items from `index` on, towards the head if `reverse`. `total` is the list's count.
  Status ForEach(uint64_t index, uint64_t n, bool reverse, uint64_t total, const ItemVisitor& visit);
  // Calls visit(distance from `end`) for each item equal to `wanted`, nearest first, until it returns false. Looks only
  // at the `max_items` nearest items.
  Status Find(const Item& wanted, ListEnd end, uint64_t max_items, const std::function<bool(uint64_t)>& visit);

  // REQUIRES: index < total.
  Status Set(uint64_t index, std::string_view value, uint64_t total);
  // Inserts `value` next to the first `pivot`. Returns false if the list has no such item.
  Result<bool> Insert(const Item& pivot, bool before, std::string_view value);
  // Deletes up to `limit` items equal to `wanted`, nearest to `end` first. Returns the number deleted.
  Result<uint64_t> Remove(const Item& wanted, ListEnd end, uint64_t limit);

 private:
  struct Place {
    int64_t seq;
    uint64_t offset;  // of the item within the chunk
  };

  // Finds the item at `index`: by counting from the nearer end or, if it is far from both, from the chunk that the
  // list's index (types/list_index.h) gives.
  Result<Place> ChunkAt(uint64_t index, uint64_t total);
  Result<Place> ChunkBehind(ChunkWalk walk, bool forward, uint64_t left);

  ChunkWalk Walk(int64_t from, Direction direction) const { return {*txn_, rows_, from, direction}; }
  ChunkWalk WalkFrom(ListEnd end) const {
    return end == ListEnd::kHead ? Walk(rows_.first, Direction::kForward) : Walk(rows_.last, Direction::kReverse);
  }
  int64_t& EndSeq(ListEnd end) { return end == ListEnd::kHead ? rows_.first : rows_.last; }

  void Put(int64_t seq, bool crowded, std::string_view items);
  // Numbers a new chunk at an end and makes it that end. Returns whether the chunk is crowded.
  Result<bool> AddChunk(ListEnd end, bool is_empty);
  // Writes changed items to the chunk; splits the chunk if it has become too large.
  Status Store(const ListChunk& chunk, std::string items);
  // Returns `extra` ascending numbers behind `seq` and before the next chunk. `next` becomes that chunk's number, or a
  // high one if there is none.
  Result<std::vector<int64_t>> MakeRoom(int64_t seq, size_t extra, int64_t& next);
  Result<std::vector<int64_t>> Renumber(int64_t seq, size_t extra, int64_t& next);

  Transaction* txn_;
  ListRows rows_;
};

}  // namespace cairn
