// SPDX-License-Identifier: BSD-3-Clause
//
// The chunk rows of a spread list, and how to find their neighbours (docs/format.md, section 5.2, since format 1).
//
//   row     element space, id:u64 seq:u64 (ordered i64)
//   value   flags:u8 (bit 0: crowded, see below; others 0), then a packed list: the chunk's items
//
// Example: the chunk of the items "a" and 1, not crowded = 00 02 02 61 05
//
// Chunks are ordered by seq. A chunk added at an end takes the next multiple of 2^20 (the grid), which leaves numbers
// between two chunks for chunks that are split off.
//
// A neighbour is first looked up at the next grid position: that is a get of a known row, which the key cache can
// answer. The flag "crowded" on a chunk on the grid says that chunks may exist before the next grid position. A cursor
// finds the neighbour in that case, at a hole, and for a chunk off the grid.
//
// Invariants: (1) no chunk is empty; (2) every chunk's seq is within [first, last], and these two chunks exist; (3) if
// a chunk on the grid is not crowded, the next chunk, if any, is at the next grid position or later.
//
// Thread: that of the transaction.
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
// The magnitude of chunk numbers stays below this, so that sums and differences of two never overflow.
inline constexpr int64_t kChunkSeqLimit = int64_t{1} << 60;

inline bool IsOnGrid(int64_t seq) { return (seq & (kChunkGrid - 1)) == 0; }
inline int64_t NextOnGrid(int64_t seq) { return (seq & -kChunkGrid) + kChunkGrid; }
inline int64_t PreviousOnGrid(int64_t seq) { return (seq - 1) & -kChunkGrid; }

// Returns whether a chunk must be marked as crowded if the next chunk's number is `next`.
inline bool IsCrowded(int64_t seq, int64_t next) { return IsOnGrid(seq) && next < seq + kChunkGrid; }

// Appends a chunk row's value.
void AppendChunk(std::string& out, bool crowded, std::string_view items);

// A decoded chunk.
struct ListChunk {
  int64_t seq = 0;
  bool crowded = false;
  uint64_t count = 0;
  std::string_view items;  // a packed list
};
// Returns kCorruption for an unknown flag, and for a chunk without items.
Result<ListChunk> DecodeChunk(int64_t seq, std::string_view value);

// A spread list's collection and its first and last chunk.
struct ListRows {
  CollectionId id = 0;
  uint32_t stripe = 0;
  int64_t first = 0;
  int64_t last = 0;

  RowKey Row(int64_t seq) const { return MakeChunkRow(id, seq, stripe); }
};

// Walks chunks from `from` on towards an end of the list. The current chunk and those already passed may be changed or
// deleted during the walk.
//
//   for (ChunkWalk walk(txn, rows, seq, Direction::kForward); walk.Valid(); walk.Next()) ...
//   walk.chunk() TRY(walk.TakeStatus());
class ChunkWalk {
 public:
  // REQUIRES: a chunk has the number `from`.
  ChunkWalk(Transaction& txn, const ListRows& rows, int64_t from, Direction direction);

  bool Valid() const { return valid_; }
  // Valid until Next().
  const ListChunk& chunk() const { return chunk_; }
  void Next();
  // Why Valid() is false: OK after the end of the list.
  Status TakeStatus() { return std::move(status_); }

 private:
  bool IsForward() const { return direction_ == Direction::kForward; }
  bool StepOnGrid();  // false: the neighbour must be searched for
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
