// SPDX-License-Identifier: BSD-3-Clause
#include "types/stream_rows.h"

#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr size_t kIdBytes = 16;

void AppendFixed(RowKey& row, StreamId id) {
  AppendU64(row, id.ms);
  AppendU64(row, id.seq);
}

}  // namespace

RowKey StreamRows::Chunk(StreamId base) const {
  RowKey row = MakeCollectionStart(Space::kElements, id, stripe);
  AppendFixed(row, base);
  return row;
}

RowKey StreamRows::BehindChunk(StreamId base) const {
  RowKey row = Chunk(base);
  row.push_back('\0');
  return row;
}

RowKey StreamRows::Group(std::string_view name) const {
  RowKey row = MakeCollectionStart(Space::kScores, id, stripe);
  row.push_back('g');
  row.append(name);
  return row;
}

RowKey StreamRows::Consumer(uint32_t group, std::string_view name) const {
  RowKey row = MakeCollectionStart(Space::kScores, id, stripe);
  row.push_back('c');
  AppendU32(row, group);
  row.append(name);
  return row;
}

RowKey StreamRows::Pending(uint32_t group, StreamId entry) const {
  RowKey row = MakeCollectionStart(Space::kScores, id, stripe);
  row.push_back('p');
  AppendU32(row, group);
  AppendFixed(row, entry);
  return row;
}

RowKey StreamRows::Owned(uint32_t group, uint32_t consumer, StreamId entry) const {
  RowKey row = MakeCollectionStart(Space::kScores, id, stripe);
  row.push_back('q');
  AppendU32(row, group);
  AppendU32(row, consumer);
  AppendFixed(row, entry);
  return row;
}

RowKey StreamRows::Timed(uint32_t group, int64_t time, StreamId entry) const {
  RowKey row = MakeCollectionStart(Space::kScores, id, stripe);
  row.push_back('t');
  AppendU32(row, group);
  AppendU64(row, OrderedFromInt64(time));
  AppendFixed(row, entry);
  return row;
}

RowKey StreamRows::Producer(std::string_view name) const {
  RowKey row = MakeCollectionStart(Space::kScores, id, stripe);
  row.push_back('r');
  row.append(name);
  return row;
}

RowKey StreamRows::AllProduced() const {
  RowKey row = MakeCollectionStart(Space::kScores, id, stripe);
  row.push_back('i');
  return row;
}

RowKey StreamRows::Produced(uint32_t producer, std::string_view iid) const {
  RowKey row = AllProduced();
  AppendU32(row, producer);
  row.append(iid);
  return row;
}

RowKey StreamRows::AllProducedAt() const {
  RowKey row = MakeCollectionStart(Space::kScores, id, stripe);
  row.push_back('o');
  return row;
}

RowKey StreamRows::ProducedAtStart(uint32_t producer) const {
  RowKey row = AllProducedAt();
  AppendU32(row, producer);
  return row;
}

RowKey StreamRows::ProducedAt(uint32_t producer, StreamId entry) const {
  RowKey row = ProducedAtStart(producer);
  AppendFixed(row, entry);
  return row;
}

RowKey EndOfRows(const RowKey& prefix) {
  RowKey end(prefix.space(), prefix.stripe());
  std::string bytes(prefix.row());
  while (static_cast<unsigned char>(bytes.back()) == 0xff) bytes.pop_back();
  ++bytes.back();
  end.append(bytes);
  return end;
}

Status DeleteRows(Transaction& txn, const RowKey& prefix) {
  Cursor cursor = txn.Scan(prefix, EndOfRows(prefix));
  for (; cursor.Valid(); cursor.Next()) {
    RowKey row(prefix.space(), prefix.stripe());
    row.append(cursor.row());
    txn.Delete(row);
  }
  return cursor.TakeStatus();
}

bool ReadIdAtEnd(std::string_view row, StreamId& id) {
  if (row.size() < kIdBytes) return false;
  row.remove_prefix(row.size() - kIdBytes);
  return ReadU64(row, id.ms) && ReadU64(row, id.seq);
}

StreamChunkWalk::StreamChunkWalk(Transaction& txn, StreamRows rows, StreamId first, StreamId last, Direction direction)
    : txn_(txn), rows_(rows), last_(last), direction_(direction), base_(first) {
  Result<RowRef> row = txn.Get(rows.Chunk(first));
  if (!row.ok()) {
    status_ = std::move(row).TakeStatus();
    return;
  }
  if (!*row) {
    status_ = Status::Corruption("stream: a chunk is missing");
    return;
  }
  first_ = std::move(*row);
  chunk_ = first_.bytes();
  valid_ = true;
}

Cursor StreamChunkWalk::OpenCursor() {
  if (direction_ == Direction::kForward) {
    return txn_.Scan(rows_.BehindChunk(base_), rows_.BehindChunk(last_));
  }
  return txn_.Scan(rows_.Chunk(last_), rows_.Chunk(base_), Direction::kReverse);
}

void StreamChunkWalk::Next() {
  valid_ = false;
  if (direction_ == Direction::kForward ? base_ >= last_ : base_ <= last_) return;
  if (cursor_) {
    cursor_->Next();
  } else {
    cursor_.emplace(OpenCursor());
  }
  if (!cursor_->Valid()) {
    status_ = cursor_->TakeStatus();
    return;
  }
  if (!ReadIdAtEnd(cursor_->row(), base_)) {
    status_ = Status::Corruption("stream chunk: the row key has no id");
    return;
  }
  chunk_ = cursor_->value();
  valid_ = true;
}

}  // namespace cairn
