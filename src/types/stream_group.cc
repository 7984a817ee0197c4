// SPDX-License-Identifier: BSD-3-Clause
#include "types/stream_group.h"

#include <algorithm>

#include "base/assert.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr size_t kGroupNameAt = 9;      // behind the stream's id and 'g'
constexpr size_t kConsumerNameAt = 13;  // behind the id, 'c' and the group's number

// The common prefix of a group's rows of one kind.
RowKey Prefix(const StreamRows& rows, char kind, uint32_t group) {
  RowKey row = MakeCollectionStart(Space::kScores, rows.id, rows.stripe);
  row.push_back(kind);
  AppendU32(row, group);
  return row;
}

// Returns whether an entry at or behind `from` was deleted, which makes a count from there on wrong.
bool HasGapBehind(const StreamState& stream, StreamId from) {
  return stream.count != 0 && !stream.max_deleted_id.IsZero() && from <= stream.max_deleted_id;
}

}  // namespace

int64_t EntriesAddedUpTo(const StreamState& stream, StreamId id) {
  const auto added = static_cast<int64_t>(stream.entries_added);
  const auto count = static_cast<int64_t>(stream.count);
  if (added == 0) return 0;
  if (count == 0 && id <= stream.last_id) return added;
  if (!id.IsZero() && id < stream.max_deleted_id) return kUnknownEntriesRead;
  if (id == stream.last_id) return added;
  if (id > stream.last_id) return kUnknownEntriesRead;
  const bool unbroken = stream.max_deleted_id.IsZero() || stream.max_deleted_id < stream.first_id;
  if (unbroken && id < stream.first_id) return added - count;
  if (unbroken && id == stream.first_id) return added - count + 1;
  return kUnknownEntriesRead;
}

Result<std::optional<StreamGroup>> StreamGroup::Find(const Stream& stream, std::string_view name) {
  if (stream.state().groups == 0) return std::optional<StreamGroup>();
  const RowRef row = TRY(stream.txn().Get(stream.rows().Group(name)));
  if (!row) return std::optional<StreamGroup>();
  StreamGroup group(stream.txn(), stream.rows(), name);
  group.state_ = TRY(DecodeStreamGroup(row.bytes()));
  return std::optional(std::move(group));
}

StreamGroup StreamGroup::Create(Stream& stream, std::string_view name, StreamId last_id, int64_t entries_read) {
  StreamGroup group(stream.txn(), stream.rows(), name);
  group.state_.number = stream.state().next_group++;
  ++stream.state().groups;
  group.state_.last_id = last_id;
  group.state_.entries_read = entries_read;
  return group;
}

Status StreamGroup::ForEach(const Stream& stream, const std::function<Result<bool>(StreamGroup& group)>& visit) {
  if (stream.state().groups == 0) return Ok();
  const RowKey prefix = stream.rows().Group({});
  Cursor cursor = stream.txn().Scan(prefix, EndOfRows(prefix));
  for (; cursor.Valid(); cursor.Next()) {
    StreamGroup group(stream.txn(), stream.rows(), cursor.row().substr(kGroupNameAt));
    group.state_ = TRY(DecodeStreamGroup(cursor.value()));
    if (!TRY(visit(group))) return Ok();
  }
  return cursor.TakeStatus();
}

void StreamGroup::SetPosition(StreamId last_id, int64_t entries_read) {
  state_.last_id = last_id;
  state_.entries_read = entries_read;
}

void StreamGroup::Advance(const StreamState& stream, StreamId id) {
  if (id <= state_.last_id) return;
  if (state_.entries_read != kUnknownEntriesRead && state_.last_id >= stream.first_id &&
      !HasGapBehind(stream, state_.last_id)) {
    ++state_.entries_read;
  } else if (stream.entries_added != 0) {
    state_.entries_read = EntriesAddedUpTo(stream, id);
  }
  state_.last_id = id;
}

std::optional<int64_t> StreamGroup::Lag(const StreamState& stream) const {
  const auto added = static_cast<int64_t>(stream.entries_added);
  if (added == 0 || stream.count == 0) return 0;
  // Trimmed entries count as added, but the group will never read them.
  if (state_.last_id < stream.first_id && stream.max_deleted_id < stream.first_id)
    return static_cast<int64_t>(stream.count);
  const bool counted = state_.entries_read != kUnknownEntriesRead && !HasGapBehind(stream, state_.last_id);
  const int64_t read = counted ? state_.entries_read : EntriesAddedUpTo(stream, state_.last_id);
  return read == kUnknownEntriesRead ? std::nullopt : std::optional(added - read);
}

Result<StreamConsumer*> StreamGroup::Consumer(std::string_view name) {
  const auto known = loaded_.find(name);
  if (known != loaded_.end()) return &known->second;
  const RowRef row = TRY(txn_->Get(rows_.Consumer(state_.number, name)));
  if (!row) return static_cast<StreamConsumer*>(nullptr);
  StreamConsumer consumer = TRY(DecodeStreamConsumer(name, row.bytes()));
  return &loaded_.emplace(consumer.name, std::move(consumer)).first->second;
}

Result<StreamConsumer*> StreamGroup::ConsumerOrNew(std::string_view name, int64_t now_ms, bool* created) {
  StreamConsumer* const known = TRY(Consumer(name));
  if (created != nullptr) *created = known == nullptr;
  if (known != nullptr) return known;
  StreamConsumer consumer{.name = std::string(name), .number = state_.next_consumer++, .seen_ms = now_ms};
  ++state_.consumers;
  return &loaded_.emplace(consumer.name, std::move(consumer)).first->second;
}

Status StreamGroup::DeleteConsumer(StreamConsumer& consumer) {
  TRY(ForEachPendingOf(consumer, {}, kLastStreamId, [&](const PendingEntry& entry) -> Result<bool> {
    txn_->Delete(rows_.Pending(state_.number, entry.id));
    txn_->Delete(rows_.Owned(state_.number, consumer.number, entry.id));
    if (state_.is_timed) txn_->Delete(TimedRow(entry));
    return true;
  }));
  state_.pending -= consumer.pending;
  --state_.consumers;
  txn_->Delete(rows_.Consumer(state_.number, consumer.name));
  loaded_.erase(loaded_.find(consumer.name));
  return Ok();
}

Status StreamGroup::ForEachConsumer(const ConsumerVisitor& visit) const {
  const RowKey prefix = Prefix(rows_, 'c', state_.number);
  Cursor cursor = txn_->Scan(prefix, EndOfRows(prefix));
  for (; cursor.Valid(); cursor.Next()) {
    const std::string_view name = cursor.row().substr(kConsumerNameAt);
    if (!TRY(visit(TRY(DecodeStreamConsumer(name, cursor.value()))))) return Ok();
  }
  return cursor.TakeStatus();
}

Result<std::optional<PendingEntry>> StreamGroup::Pending(StreamId id) const {
  const RowRef row = TRY(txn_->Get(rows_.Pending(state_.number, id)));
  if (!row) return std::optional<PendingEntry>();
  return std::optional(TRY(DecodePendingEntry(id, row.bytes())));
}

Status StreamGroup::ForEachPending(StreamId from, StreamId to, const PendingVisitor& visit) const {
  if (state_.pending == 0 || from > to) return Ok();
  RowKey end = rows_.Pending(state_.number, to);
  end.push_back('\0');
  Cursor cursor = txn_->Scan(rows_.Pending(state_.number, from), end);
  for (; cursor.Valid(); cursor.Next()) {
    StreamId id;
    ReadIdAtEnd(cursor.row(), id);
    if (!TRY(visit(TRY(DecodePendingEntry(id, cursor.value()))))) return Ok();
  }
  return cursor.TakeStatus();
}

Status StreamGroup::ForEachPendingOf(const StreamConsumer& consumer, StreamId from, StreamId to,
                                     const PendingVisitor& visit) const {
  if (consumer.pending == 0 || from > to) return Ok();
  RowKey end = rows_.Owned(state_.number, consumer.number, to);
  end.push_back('\0');
  Cursor cursor = txn_->Scan(rows_.Owned(state_.number, consumer.number, from), end);
  for (; cursor.Valid(); cursor.Next()) {
    StreamId id;
    ReadIdAtEnd(cursor.row(), id);
    const std::optional<PendingEntry> entry = TRY(Pending(id));
    if (!entry) return Status::Corruption("stream consumer: one of its pending entries is missing");
    if (!TRY(visit(*entry))) return Ok();
  }
  return cursor.TakeStatus();
}

RowKey StreamGroup::TimedRow(const PendingEntry& entry) const {
  return rows_.Timed(state_.number, TimeInRow(entry), entry.id);
}

Status StreamGroup::ForEachPendingByTime(const PendingVisitor& visit) const {
  ASSERT(state_.is_timed, "a group has no rows by delivery time");
  if (state_.pending == 0) return Ok();
  const RowKey prefix = Prefix(rows_, 't', state_.number);
  Cursor cursor = txn_->Scan(prefix, EndOfRows(prefix));
  for (; cursor.Valid(); cursor.Next()) {
    StreamId id;
    ReadIdAtEnd(cursor.row(), id);
    const std::optional<PendingEntry> entry = TRY(Pending(id));
    if (!entry) return Status::Corruption("stream group: an entry with a delivery time is not pending");
    if (!TRY(visit(*entry))) return Ok();
  }
  return cursor.TakeStatus();
}

Result<bool> StreamGroup::KeepTimes() {
  if (state_.is_timed) return false;
  TRY(ForEachPending({}, kLastStreamId, [&](const PendingEntry& entry) -> Result<bool> {
    txn_->Put(TimedRow(entry), {});
    return true;
  }));
  state_.is_timed = true;
  return true;
}

Result<StreamId> StreamGroup::LastPending() const {
  StreamId last;
  if (state_.pending == 0) return last;
  const RowKey prefix = Prefix(rows_, 'p', state_.number);
  Cursor cursor = txn_->Scan(prefix, EndOfRows(prefix), Direction::kReverse);
  if (cursor.Valid()) ReadIdAtEnd(cursor.row(), last);
  TRY(cursor.TakeStatus());
  return last;
}

Status StreamGroup::TakeFrom(const PendingEntry& entry) {
  if (state_.is_timed) txn_->Delete(TimedRow(entry));
  if (entry.nacked) {
    if (state_.nacked == 0) return Status::Corruption("stream group: the number of entries without a consumer");
    --state_.nacked;
    return Ok();
  }
  StreamConsumer* const owner = TRY(Consumer(entry.consumer));
  if (owner == nullptr) return Status::Corruption("stream pending entry: no such consumer");
  txn_->Delete(rows_.Owned(state_.number, owner->number, entry.id));
  --owner->pending;
  return Ok();
}

void StreamGroup::WritePending(const PendingEntry& entry) {
  txn_->Put(rows_.Pending(state_.number, entry.id), EncodePendingEntry(entry));
  if (state_.is_timed) txn_->Put(TimedRow(entry), {});
}

Status StreamGroup::Assign(StreamConsumer& consumer, const PendingEntry& entry) {
  const std::optional<PendingEntry> before = TRY(Pending(entry.id));
  const bool changes_hands = !before || before->nacked || before->consumer != consumer.name;
  if (before && changes_hands) TRY(TakeFrom(*before));
  if (before && !changes_hands && state_.is_timed) txn_->Delete(TimedRow(*before));
  if (!before) ++state_.pending;
  if (changes_hands) {
    txn_->Put(rows_.Owned(state_.number, consumer.number, entry.id), {});
    ++consumer.pending;
  }
  PendingEntry after = entry;
  after.consumer = consumer.name;
  after.nacked.reset();
  WritePending(after);
  return Ok();
}

Status StreamGroup::Nack(const PendingEntry& entry) {
  const std::optional<PendingEntry> before = TRY(Pending(entry.id));
  if (before) TRY(TakeFrom(*before));
  if (!before) ++state_.pending;
  ++state_.nacked;
  WritePending({.id = entry.id, .nacked = state_.next_nacked++, .deliveries = entry.deliveries});
  return Ok();
}

Result<bool> StreamGroup::Release(StreamId id) {
  const std::optional<PendingEntry> entry = TRY(Pending(id));
  if (!entry) return false;
  TRY(TakeFrom(*entry));
  txn_->Delete(rows_.Pending(state_.number, id));
  --state_.pending;
  return true;
}

void StreamGroup::Save() {
  txn_->Put(rows_.Group(name_), EncodeStreamGroup(state_));
  for (const auto& [name, consumer] : loaded_) {
    txn_->Put(rows_.Consumer(state_.number, name), EncodeStreamConsumer(consumer));
  }
}

Status StreamGroup::Destroy(Stream& stream) {
  for (const char kind : {'c', 'p', 'q', 't'}) TRY(DeleteRows(*txn_, Prefix(rows_, kind, state_.number)));
  txn_->Delete(rows_.Group(name_));
  --stream.state().groups;
  return Ok();
}

}  // namespace cairn
