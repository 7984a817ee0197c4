// SPDX-License-Identifier: BSD-3-Clause
#include "types/list_walk.h"

#include <utility>

#include "encoding/packed.h"

namespace cairn {
namespace {

constexpr char kCrowdedFlag = 1;

// A longer walk continues with a cursor, which reads the disk in sequence and does not displace rows in the key cache.
constexpr int kMaxGets = 64;

// Reading this many items costs one step of the work budget, besides the step from chunk to chunk.
constexpr uint64_t kItemsPerStep = 16;

}  // namespace

void AppendChunk(std::string& out, bool crowded, std::string_view items) {
  out.push_back(crowded ? kCrowdedFlag : '\0');
  out.append(items);
}

Result<ListChunk> DecodeChunk(int64_t seq, std::string_view value) {
  if (value.empty()) return Status::Corruption("list chunk: no bytes");
  if ((value[0] & ~kCrowdedFlag) != 0) return Status::Corruption("list chunk: unknown flags");
  ListChunk chunk;
  chunk.seq = seq;
  chunk.crowded = value[0] == kCrowdedFlag;
  chunk.items = value.substr(1);
  const PackedReader reader(chunk.items);
  chunk.count = reader.count();
  if (chunk.count == 0) return Status::Corruption("list chunk: no items");
  return chunk;
}

ChunkWalk::ChunkWalk(Transaction& txn, const ListRows& rows, int64_t from, Direction direction)
    : txn_(txn), rows_(rows), direction_(direction) {
  auto row = txn_.Get(rows_.Row(from));
  if (!row.ok()) {
    Fail(std::move(row).TakeStatus());
  } else if (!*row) {
    Fail(Status::Corruption("list chunk: a chunk is missing"));
  } else {
    row_ = std::move(*row);
    Take(from, row_.bytes());
  }
}

void ChunkWalk::Next() {
  valid_ = false;
  if (chunk_.seq == (IsForward() ? rows_.last : rows_.first)) return;
  if (Status spent = txn_.command().Spend(1 + chunk_.count / kItemsPerStep); !spent.ok()) return Fail(std::move(spent));
  if (cursor_) {
    cursor_->Next();
    return TakeFromCursor();
  }
  if (gets_ < kMaxGets && StepOnGrid()) return;
  OpenCursor();
  TakeFromCursor();
}

bool ChunkWalk::StepOnGrid() {
  if (!IsOnGrid(chunk_.seq) || (IsForward() && chunk_.crowded)) return false;
  const int64_t seq = chunk_.seq + (IsForward() ? kChunkGrid : -kChunkGrid);
  ++gets_;
  auto row = txn_.Get(rows_.Row(seq));
  if (!row.ok()) {
    Fail(std::move(row).TakeStatus());
    return true;
  }
  if (!*row) return false;
  row_ = std::move(*row);
  Take(seq, row_.bytes());
  // Backwards, the chunk on the grid is the neighbour only if no chunk lies between.
  if (valid_ && !IsForward() && chunk_.crowded) {
    valid_ = false;
    chunk_.seq = seq + kChunkGrid;
    return false;
  }
  return true;
}

void ChunkWalk::OpenCursor() {
  const RowKey lower = rows_.Row(IsForward() ? chunk_.seq + 1 : rows_.first);
  const RowKey upper = rows_.Row(IsForward() ? rows_.last + 1 : chunk_.seq);
  cursor_.emplace(txn_.Scan(lower, upper, direction_));
}

void ChunkWalk::TakeFromCursor() {
  if (!cursor_->Valid()) {
    Status status = cursor_->TakeStatus();
    return Fail(status.ok() ? Status::Corruption("list chunk: the last chunk is missing") : std::move(status));
  }
  CollectionId id;
  int64_t seq;
  if (!ParseChunkRow(cursor_->row(), id, seq)) return Fail(Status::Corruption("list chunk: malformed row"));
  Take(seq, cursor_->value());
}

void ChunkWalk::Take(int64_t seq, std::string_view value) {
  auto chunk = DecodeChunk(seq, value);
  if (!chunk.ok()) return Fail(std::move(chunk).TakeStatus());
  chunk_ = *chunk;
  valid_ = true;
}

void ChunkWalk::Fail(Status status) {
  valid_ = false;
  status_ = std::move(status);
}

}  // namespace cairn
