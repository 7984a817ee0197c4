// SPDX-License-Identifier: BSD-3-Clause
//
// The chunk rows of a spread list and the way from one to the next (docs/format.md, section 5.2, since format 1).
//
//   row     element space, id:u64 seq:u64 (ordered i64)
//   value   flags:u8 (bit 0: crowded, see below; others 0), then a packed list: the chunk's items
//
// Example: the chunk of the items "a" and 1, not crowded = 00 02 02 61 05
//
// The chunks of a list follow one another by seq. A chunk added at an end takes the next multiple
// of 2^20 (the grid), so that there are numbers left between two chunks for one that is split off.
//
// A neighbour is looked for on the grid first, as that is the look-up of a known row, which the key cache answers.
// "crowded" on a chunk that is on the grid says that there may be chunks before the next grid position; then, and
// where there is a hole or the chunk is off the grid, a cursor finds the neighbour.
//
// Invariants: (1) no chunk is empty; (2) every chunk's seq is within [first, last], and these two are there; (3) if a
// chunk on the grid is not crowded, the next chunk, if any, is at the next grid position or later.
//
// Thread: the transaction's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "encoding/row_key.h"
#include "storage/transaction.h"

namespace cairn {

inline constexpr int64_t kChunkGrid = int64_t{1} << 20;
// Numbers of chunks stay below this in magnitude, so that sums and differences of two never overflow.
inline constexpr int64_t kChunkSeqLimit = int64_t{1} << 60;

inline bool IsOnGrid(int64_t seq) { return (seq & (kChunkGrid - 1)) == 0; }
inline int64_t NextOnGrid(int64_t seq) { return (seq & -kChunkGrid) + kChunkGrid; }
inline int64_t PreviousOnGrid(int64_t seq) { return (seq - 1) & -kChunkGrid; }

// Whether a chunk whose follower has number `next` has to be marked.
inline bool IsCrowded(int64_t seq, int64_t next) { return IsOnGrid(seq) && next < seq + kChunkGrid; }

// Appends a chunk row's value.
void AppendChunk(std::string& out, bool crowded, std::string_view items);

// A chunk as it was read.
struct ListChunk {
  int64_t seq = 0;
  bool crowded = false;
  uint64_t count = 0;
  std::string_view items;  // a packed list
};
// kCorruption for an unknown flag, and for a chunk without items.
Result<ListChunk> DecodeChunk(int64_t seq, std::string_view value);

// Whose chunks: a collection and its ends.
struct ListRows {
  CollectionId id = 0;
  uint32_t stripe = 0;
  int64_t first = 0;
  int64_t last = 0;

  RowKey Row(int64_t seq) const { return MakeChunkRow(id, seq, stripe); }
};

// Chunks one after another, from `from` on towards an end of the list. The chunk that a walk is on
// and those behind it may be changed or deleted meanwhile.
//
//   for (ChunkWalk walk(txn, rows, seq, Direction::kForward); walk.Valid(); walk.Next()) ...
//   walk.chunk() TRY(walk.TakeStatus());
class ChunkWalk {
 public:
  // REQUIRES: there is a chunk with the number `from`.
  ChunkWalk(Transaction& txn, const ListRows& rows, int64_t from, Direction direction);

  bool Valid() const { return valid_; }
  // Good until Next().
  const ListChunk& chunk() const { return chunk_; }
  void Next();
  // Why Valid() is false: OK behind the end of the list.
  Status TakeStatus() { return std::move(status_); }

 private:
  bool IsForward() const { return direction_ == Direction::kForward; }
  bool StepOnGrid();  // false: the neighbour is to be looked for
  void OpenCursor();
  void TakeFromCursor();
  void Take(int64_t seq, std::string_view value);
  void Fail(Status status);

  Transaction& txn_;
  const ListRows rows_;
  const Direction direction_;
  int gets_ = 0;
  bool valid_ = false;
  Status status_;
  ListChunk chunk_;
  RowRef row_;
  std::optional<Cursor> cursor_;
};

}  // namespace cairn
