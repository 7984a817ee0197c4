// SPDX-License-Identifier: BSD-3-Clause
#include "types/stream_producers.h"

#include <algorithm>
#include <string>

#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr size_t kProducerNameAt = 9;  // behind the stream's id and 'r'
constexpr uint64_t kFewProducers = 16;
// So one command deletes only few rows; the next one deletes more.
constexpr int kMostExpiredPerAdd = 64;

}  // namespace

bool StreamProducers::HasExpired(StreamId entry, int64_t now_ms) const {
  const uint64_t now = now_ms < 0 ? 0 : static_cast<uint64_t>(now_ms);
  const uint64_t kept_ms = state_.duration_s * 1000;
  return now >= kept_ms && entry.ms <= now - kept_ms;
}

Result<StreamProducers::Producer> StreamProducers::Decode(std::string_view value) {
  Producer producer;
  uint64_t number;
  if (!ReadVarint(value, number) || !ReadVarint(value, producer.count) || !ReadStreamId(value, producer.last) ||
      number > UINT32_MAX) {
    return Status::Corruption("stream producer: cut short");
  }
  producer.number = static_cast<uint32_t>(number);
  return producer;
}

Result<std::optional<StreamId>> StreamProducers::Find(std::string_view producer, std::string_view id,
                                                      int64_t now_ms) const {
  if (state_.producers == 0) return std::optional<StreamId>();
  const RowRef row = TRY(txn_.Get(rows_.Producer(producer)));
  if (!row) return std::optional<StreamId>();
  const Producer found = TRY(Decode(row.bytes()));
  const RowRef id_row = TRY(txn_.Get(rows_.Produced(found.number, id)));
  if (!id_row) return std::optional<StreamId>();
  std::string_view value = id_row.bytes();
  StreamId entry;
  if (!ReadStreamId(value, entry)) return Status::Corruption("stream producer: an id without its entry");
  return HasExpired(entry, now_ms) ? std::nullopt : std::optional(entry);
}

Result<StreamProducers::Producer> StreamProducers::FindOrMake(std::string_view name, int64_t now_ms) {
  const RowRef row = TRY(txn_.Get(rows_.Producer(name)));
  if (row) return Decode(row.bytes());
  if (state_.producers >= std::max(state_.sweep_at, kFewProducers)) TRY(Sweep(now_ms));
  ++state_.producers;
  return Producer{.number = state_.next_producer++, .count = 0, .last = {}};
}

Status StreamProducers::Add(std::string_view producer, std::string_view id, StreamId entry, int64_t now_ms) {
  Producer found = TRY(FindOrMake(producer, now_ms));
  const RowKey id_key = rows_.Produced(found.number, id);
  if (const RowRef before = TRY(txn_.Get(id_key))) {
    std::string_view value = before.bytes();
    StreamId old;
    if (!ReadStreamId(value, old)) return Status::Corruption("stream producer: an id without its entry");
    txn_.Delete(rows_.ProducedAt(found.number, old));
    --found.count;
  }
  std::string value;
  AppendStreamId(value, entry);
  txn_.Put(id_key, value);
  txn_.Put(rows_.ProducedAt(found.number, entry), id);
  ++found.count;
  ++state_.added;
  found.last = std::max(found.last, entry);
  TRY(Shorten(found, now_ms));
  value.clear();
  AppendVarint(value, found.number);
  AppendVarint(value, found.count);
  AppendStreamId(value, found.last);
  txn_.Put(rows_.Producer(producer), value);
  return Ok();
}

Status StreamProducers::Shorten(Producer& producer, int64_t now_ms) {
  const RowKey prefix = rows_.ProducedAtStart(producer.number);
  Cursor cursor = txn_.Scan(prefix, EndOfRows(prefix));
  for (int left = kMostExpiredPerAdd; cursor.Valid(); cursor.Next(), --left) {
    StreamId entry;
    ReadIdAtEnd(cursor.row(), entry);
    const bool is_surplus = producer.count > state_.most_ids;
    if (!is_surplus && (left <= 0 || !HasExpired(entry, now_ms))) break;
    txn_.Delete(rows_.Produced(producer.number, cursor.value()));
    txn_.Delete(rows_.ProducedAt(producer.number, entry));
    --producer.count;
  }
  return cursor.TakeStatus();
}

Status StreamProducers::Sweep(int64_t now_ms) {
  const RowKey prefix = rows_.Producer({});
  Cursor cursor = txn_.Scan(prefix, EndOfRows(prefix));
  for (; cursor.Valid(); cursor.Next()) {
    const Producer producer = TRY(Decode(cursor.value()));
    if (!HasExpired(producer.last, now_ms)) continue;
    TRY(DeleteRows(txn_, rows_.Produced(producer.number, {})));
    TRY(DeleteRows(txn_, rows_.ProducedAtStart(producer.number)));
    txn_.Delete(rows_.Producer(cursor.row().substr(kProducerNameAt)));
    --state_.producers;
  }
  state_.sweep_at = 2 * state_.producers;
  return cursor.TakeStatus();
}

Status StreamProducers::Clear() {
  if (state_.producers == 0) return Ok();
  for (const RowKey& prefix : {rows_.Producer({}), rows_.AllProduced(), rows_.AllProducedAt()}) {
    TRY(DeleteRows(txn_, prefix));
  }
  state_.producers = 0;
  state_.sweep_at = 0;
  return Ok();
}

Status StreamProducers::ForEach(int64_t now_ms, const Visitor& visit) const {
  if (state_.producers == 0) return Ok();
  const RowKey prefix = rows_.Producer({});
  Cursor producers = txn_.Scan(prefix, EndOfRows(prefix));
  for (; producers.Valid(); producers.Next()) {
    const Producer producer = TRY(Decode(producers.value()));
    const RowKey ids_prefix = rows_.ProducedAtStart(producer.number);
    Cursor ids = txn_.Scan(ids_prefix, EndOfRows(ids_prefix));
    for (; ids.Valid(); ids.Next()) {
      StreamId entry;
      ReadIdAtEnd(ids.row(), entry);
      if (HasExpired(entry, now_ms)) continue;
      if (!TRY(visit(producers.row().substr(kProducerNameAt), ids.value(), entry))) return Ok();
    }
    TRY(ids.TakeStatus());
  }
  return producers.TakeStatus();
}

}  // namespace cairn
