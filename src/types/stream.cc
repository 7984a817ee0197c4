// SPDX-License-Identifier: BSD-3-Clause
#include "types/stream.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/assert.h"
#include "encoding/record.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

// Adding an entry rewrites the chunk, so a chunk is limited to half a block.
constexpr int64_t kMostChunkBytes = 2048;
constexpr size_t kBytesPerItem = 2;         // about the overhead of an item
constexpr uint64_t kMostAdded = INT64_MAX;  // replies and groups count entries in a signed number

// A visit of an entry and of each of its fields takes as long as a walk over so many elements of a packed collection.
constexpr uint64_t kElementsPerEntry = 64;
constexpr uint64_t kElementsPerField = 32;

Status BadRecord() { return Status::Corruption("stream record: cut short"); }

}  // namespace

Result<StreamState> DecodeStreamState(const SpreadPayload& payload) {
  StreamState state;
  state.count = payload.count;
  std::string_view in = payload.rest;
  uint64_t next_group;
  if (!ReadStreamId(in, state.last_id) || !ReadStreamId(in, state.first_id) ||
      !ReadStreamId(in, state.max_deleted_id) || !ReadVarint(in, state.entries_added) ||
      !ReadStreamId(in, state.head) || !ReadStreamId(in, state.tail) || !ReadVarint(in, state.chunks) ||
      !ReadVarint(in, state.groups) || !ReadVarint(in, next_group) || next_group > UINT32_MAX) {
    return BadRecord();
  }
  state.next_group = static_cast<uint32_t>(next_group);
  if (in.empty()) return state;
  StreamIdempotence& kept = state.idempotence;
  uint64_t next_producer;
  if (!ReadVarint(in, kept.duration_s) || !ReadVarint(in, kept.most_ids) || !ReadVarint(in, kept.added) ||
      !ReadVarint(in, kept.duplicates) || !ReadVarint(in, kept.producers) || !ReadVarint(in, next_producer) ||
      !ReadVarint(in, kept.sweep_at) || next_producer > UINT32_MAX || kept.duration_s > kept.kMostDurationS) {
    return BadRecord();
  }
  kept.next_producer = static_cast<uint32_t>(next_producer);
  return state;
}

void AppendStreamState(std::string& payload, CollectionId id, const StreamState& state) {
  AppendSpreadPayload(payload, id, state.count);
  AppendStreamId(payload, state.last_id);
  AppendStreamId(payload, state.first_id);
  AppendStreamId(payload, state.max_deleted_id);
  AppendVarint(payload, state.entries_added);
  AppendStreamId(payload, state.head);
  AppendStreamId(payload, state.tail);
  AppendVarint(payload, state.chunks);
  AppendVarint(payload, state.groups);
  AppendVarint(payload, state.next_group);
  const StreamIdempotence& kept = state.idempotence;
  if (kept == StreamIdempotence()) return;
  AppendVarint(payload, kept.duration_s);
  AppendVarint(payload, kept.most_ids);
  AppendVarint(payload, kept.added);
  AppendVarint(payload, kept.duplicates);
  AppendVarint(payload, kept.producers);
  AppendVarint(payload, kept.next_producer);
  AppendVarint(payload, kept.sweep_at);
}

Status Stream::Open() { return Open(TRY(keys_->FindTyped(*key_, Type::kStream))); }

Status Stream::Open(KeyEntry entry) {
  entry_ = std::move(entry);
  if (!entry_.exists()) return Ok();
  if (entry_.encoding() != Encoding::kSpread) {
    return Status::Corruption("stream: an invalid encoding");
  }
  const SpreadPayload spread = TRY(DecodeSpreadPayload(entry_.payload()));
  rows_ = {.id = spread.id, .stripe = key_->stripe()};
  state_ = TRY(DecodeStreamState(spread));
  return Ok();
}

void Stream::Create() {
  ASSERT(!exists(), "a stream is created where there is none");
  rows_ = {.id = txn().NewCollectionId(keys_->id()), .stripe = key_->stripe()};
}

Status Stream::Save() {
  std::string payload;
  AppendStreamState(payload, rows_.id, state_);
  const RecordHeader header{.type = Type::kStream,
                            .encoding = Encoding::kSpread,
                            .expire_ms = entry_.exists() ? entry_.expire_ms() : kNoExpiry};
  return keys_->Write(*key_, entry_, header, payload);
}

bool Stream::HasRoom(size_t bytes, uint64_t count, std::span<const std::string_view> fields) const {
  const int64_t most_entries = keys_->limits().stream_node_max_entries;
  const int64_t most_bytes = keys_->limits().stream_node_max_bytes;
  for (const std::string_view text : fields) bytes += text.size() + kBytesPerItem;
  const int64_t limit = most_bytes > 0 ? std::min(most_bytes, kMostChunkBytes) : kMostChunkBytes;
  if (static_cast<int64_t>(bytes) > limit) return false;
  return most_entries <= 0 || count < static_cast<uint64_t>(most_entries);
}

Status Stream::Append(StreamId id, std::span<const std::string_view> fields) {
  if (!state_.tail.IsZero()) {
    const RowKey row = rows_.Chunk(state_.tail);
    const RowRef tail = TRY(txn().Get(row));
    if (!tail) return Status::Corruption("stream: the last chunk is missing");
    std::string_view rest = tail.bytes();
    uint64_t count = 0;
    if (ReadVarint(rest, count) && HasRoom(tail.bytes().size(), count, fields)) {
      txn().Put(row, TRY(AppendToStreamChunk(state_.tail, tail.bytes(), id, fields)));
      CountAdded(id, id, 1);
      return Ok();
    }
  }
  StreamChunkBuilder chunk;
  chunk.Add(id, fields);
  AddChunk(chunk);
  return Ok();
}

void Stream::AddChunk(StreamChunkBuilder& chunk) {
  state_.tail = chunk.base();
  if (state_.head.IsZero()) state_.head = chunk.base();
  ++state_.chunks;
  CountAdded(chunk.base(), chunk.last(), chunk.count());
  txn().Put(rows_.Chunk(state_.tail), chunk.Take());
}

void Stream::CountAdded(StreamId first, StreamId last, uint64_t count) {
  if (state_.count == 0) state_.first_id = first;
  state_.last_id = last;
  state_.count += count;
  state_.entries_added += std::min(count, kMostAdded - std::min(state_.entries_added, kMostAdded));
}

Result<std::optional<StreamId>> Stream::ChunkOf(StreamId id) const {
  if (state_.head.IsZero() || id < state_.head) return std::optional<StreamId>();
  if (!state_.tail.IsZero() && id >= state_.tail) return std::optional(state_.tail);
  TRY(txn().command().Spend(1));
  Cursor cursor = txn().Scan(rows_.Chunk(state_.head), rows_.BehindChunk(id), Direction::kReverse);
  if (!cursor.Valid()) {
    TRY(cursor.TakeStatus());
    return Status::Corruption("stream: the first chunk is missing");
  }
  StreamId base;
  if (!ReadIdAtEnd(cursor.row(), base)) return Status::Corruption("stream chunk: the row key has no id");
  return std::optional(base);
}

Status Stream::ForEach(StreamId from, StreamId to, bool reverse, const StreamVisitor& visit) const {
  from = std::max(from, state_.first_id);
  to = std::min(to, state_.last_id);
  if (state_.count == 0 || from > to) return Ok();
  const StreamVisitor counted = [&](const StreamEntry& entry) -> Result<bool> {
    TRY(txn().command().SpendOnPacked(kElementsPerEntry + kElementsPerField * entry.fields.size()));
    return visit(entry);
  };
  return reverse ? VisitReverse(from, to, counted) : VisitForward(from, to, counted);
}

Status Stream::VisitForward(StreamId from, StreamId to, const StreamVisitor& visit) const {
  const StreamId start = from == state_.first_id ? state_.head : TRY(ChunkOf(from)).value_or(state_.head);
  const StreamId end = state_.tail.IsZero() ? to : std::min(to, state_.tail);
  StreamChunkWalk walk(txn(), rows_, start, end, Direction::kForward);
  for (; walk.Valid(); walk.Next()) {
    StreamChunkReader reader(walk.base(), walk.chunk());
    while (reader.Next()) {
      if (reader.entry().id < from) continue;
      if (reader.entry().id > to || !TRY(visit(reader.entry()))) return Ok();
    }
    TRY(reader.TakeStatus());
  }
  return walk.TakeStatus();
}

Status Stream::VisitReverse(StreamId from, StreamId to, const StreamVisitor& visit) const {
  const std::optional<StreamId> start = TRY(ChunkOf(to));
  if (!start) return Ok();
  StreamChunkWalk walk(txn(), rows_, *start, state_.head, Direction::kReverse);
  std::vector<StreamEntry> entries;
  for (; walk.Valid(); walk.Next()) {
    entries.clear();
    StreamChunkReader reader(walk.base(), walk.chunk());
    while (reader.Next()) {
      if (reader.entry().id >= from && reader.entry().id <= to) entries.push_back(reader.entry());
    }
    TRY(reader.TakeStatus());
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
      if (!TRY(visit(*entry))) return Ok();
    }
    if (walk.base() <= from) return Ok();
  }
  return walk.TakeStatus();
}

Result<bool> Stream::Has(StreamId id) const {
  bool found = false;
  TRY(ForEach(id, id, /*reverse=*/false, [&](const StreamEntry&) -> Result<bool> {
    found = true;
    return false;
  }));
  return found;
}

Result<StreamId> Stream::LastEntryId() const {
  StreamId last;
  TRY(ForEach({}, kLastStreamId, /*reverse=*/true, [&](const StreamEntry& entry) -> Result<bool> {
    last = entry.id;
    return false;
  }));
  return last;
}

void Stream::DropChunk(StreamId base) {
  txn().Delete(rows_.Chunk(base));
  if (base == state_.tail) state_.tail = {};
  --state_.chunks;
}

void Stream::SetEmpty() {
  state_.first_id = {};
  state_.head = {};
}

Result<bool> Stream::Delete(StreamId id) {
  if (state_.count == 0 || id < state_.first_id || id > state_.last_id) return false;
  const std::optional<StreamId> base = TRY(ChunkOf(id));
  if (!base) return false;
  const RowKey row = rows_.Chunk(*base);
  const RowRef chunk = TRY(txn().Get(row));
  if (!chunk) return Status::Corruption("stream: a chunk is missing");
  StreamChunkReader reader(*base, chunk.bytes());
  std::string kept;
  bool found = false;
  while (reader.Next()) {
    if (reader.entry().id == id) {
      found = true;
    } else {
      kept.append(reader.entry_bytes());
    }
  }
  TRY(reader.TakeStatus());
  if (!found) return false;
  if (kept.empty()) {
    DropChunk(*base);
  } else {
    txn().Put(row, JoinStreamChunk(reader.count() - 1, reader.head(), kept));
  }
  --state_.count;
  state_.max_deleted_id = std::max(state_.max_deleted_id, id);
  if (id == state_.first_id) TRY(FindFirst());
  return true;
}

Status Stream::FindFirst() {
  if (state_.count == 0) {
    SetEmpty();
    return Ok();
  }
  const RowRef head = TRY(txn().Get(rows_.Chunk(state_.head)));
  if (head) return SetFirst(state_.head, head.bytes());
  Cursor cursor = txn().Scan(rows_.Chunk(state_.head), MakeCollectionEnd(Space::kElements, rows_.id, rows_.stripe));
  if (!cursor.Valid()) {
    TRY(cursor.TakeStatus());
    return Status::Corruption("stream: the count does not match the entries");
  }
  StreamId base;
  if (!ReadIdAtEnd(cursor.row(), base)) return Status::Corruption("stream chunk: the row key has no id");
  return SetFirst(base, cursor.value());
}

Status Stream::SetFirst(StreamId base, std::string_view chunk) {
  StreamChunkReader reader(base, chunk);
  if (!reader.Next()) {
    TRY(reader.TakeStatus());
    return Status::Corruption("stream chunk: no entries");
  }
  state_.head = base;
  state_.first_id = reader.entry().id;
  return Ok();
}

namespace {

// The id of a chunk's last entry; 0-0 if it has none.
Result<StreamId> LastOf(StreamId base, std::string_view chunk) {
  StreamChunkReader reader(base, chunk);
  StreamId last;
  while (reader.Next()) last = reader.entry().id;
  TRY(reader.TakeStatus());
  return last;
}

}  // namespace

Result<Stream::ChunkTrim> Stream::JudgeChunk(const StreamTrim& trim, uint64_t left, uint64_t deleted, StreamId base,
                                             std::string_view chunk) {
  if (trim.max_length ? left <= *trim.max_length : base >= trim.min_id) return ChunkTrim::kStop;
  const uint64_t count = StreamChunkReader(base, chunk).count();
  if (count > left) return Status::Corruption("stream: the count is too low");
  if (trim.limit != 0 && deleted + count > trim.limit) return ChunkTrim::kStop;
  const bool all = trim.max_length ? left - count >= *trim.max_length : TRY(LastOf(base, chunk)) < trim.min_id;
  if (all) return ChunkTrim::kAll;
  return trim.whole_chunks ? ChunkTrim::kStop : ChunkTrim::kPart;
}

Result<std::vector<StreamId>> Stream::FindTrimmed(const StreamTrim& trim,
                                                  const std::function<Result<bool>(StreamId)>& may_go) const {
  std::vector<StreamId> ids;
  if (state_.count == 0) return ids;
  const StreamId end = state_.tail.IsZero() ? kLastStreamId : state_.tail;
  StreamChunkWalk walk(txn(), rows_, state_.head, end, Direction::kForward);
  for (; walk.Valid(); walk.Next()) {
    const uint64_t left = state_.count - ids.size();
    if (TRY(JudgeChunk(trim, left, ids.size(), walk.base(), walk.chunk())) == ChunkTrim::kStop) return ids;
    StreamChunkReader reader(walk.base(), walk.chunk());
    while (reader.Next()) {
      const StreamId id = reader.entry().id;
      if (trim.max_length ? state_.count - ids.size() <= *trim.max_length : id >= trim.min_id) return ids;
      if (TRY(may_go(id))) ids.push_back(id);
    }
    TRY(reader.TakeStatus());
  }
  TRY(walk.TakeStatus());
  return ids;
}

Result<uint64_t> Stream::Trim(const StreamTrim& trim) {
  if (state_.count == 0) return uint64_t{0};
  const StreamId end = state_.tail.IsZero() ? kLastStreamId : state_.tail;
  StreamChunkWalk walk(txn(), rows_, state_.head, end, Direction::kForward);
  uint64_t deleted = 0;
  for (; walk.Valid(); walk.Next()) {
    const ChunkTrim judged = TRY(JudgeChunk(trim, state_.count, deleted, walk.base(), walk.chunk()));
    if (judged == ChunkTrim::kPart) deleted += TRY(TrimWithin(trim, walk.base(), walk.chunk()));
    if (judged != ChunkTrim::kAll) break;
    const uint64_t count = StreamChunkReader(walk.base(), walk.chunk()).count();
    DropChunk(walk.base());
    state_.count -= count;
    deleted += count;
    if (state_.count == 0) break;
  }
  TRY(walk.TakeStatus());
  if (deleted == 0) return deleted;
  if (state_.count == 0) {
    SetEmpty();
    return deleted;
  }
  state_.head = walk.base();
  TRY(FindFirst());
  return deleted;
}

// Deletes the first entries of a chunk; at least one entry stays.
Result<uint64_t> Stream::TrimWithin(const StreamTrim& trim, StreamId base, std::string_view chunk) {
  StreamChunkReader reader(base, chunk);
  uint64_t deleted = 0;
  std::string_view kept = reader.rest();
  while (reader.Next()) {
    const bool goes = trim.max_length ? state_.count > *trim.max_length : reader.entry().id < trim.min_id;
    if (!goes) break;
    --state_.count;
    ++deleted;
    kept = reader.rest();
  }
  TRY(reader.TakeStatus());
  if (deleted == 0) return deleted;
  txn().Put(rows_.Chunk(base), JoinStreamChunk(reader.count() - deleted, reader.head(), kept));
  return deleted;
}

}  // namespace cairn
