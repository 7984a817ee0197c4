// SPDX-License-Identifier: BSD-3-Clause
#include "types/stream_group.h"

#include <algorithm>

#include "base/assert.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr size_t kGroupNameAt = 9;            // behind the stream's id and 'g'
constexpr uint64_t kNackedMark = 1ull << 63;  // added to the place of an entry without a consumer
constexpr size_t kConsumerNameAt = 13;        // behind the id, 'c' and the group's number

// The common prefix of a group's rows of one kind.
RowKey Prefix(const StreamRows& rows, char kind, uint32_t group) {
  RowKey row = MakeCollectionStart(Space::kScores, rows.id, rows.stripe);
  row.push_back(kind);
  AppendU32(row, group);
  return row;
}

Result<StreamConsumer> DecodeConsumer(std::string_view name, std::string_view value) {
  StreamConsumer consumer{.name = std::string(name)};
  uint64_t number;
  uint64_t seen;
  uint64_t active;
  if (!ReadVarint(value, number) || !ReadVarint(value, seen) || !ReadVarint(value, active) ||
      !ReadVarint(value, consumer.pending) || number > UINT32_MAX) {
    return Status::Corruption("stream consumer: cut short");
  }
  consumer.number = static_cast<uint32_t>(number);
  consumer.seen_ms = static_cast<int64_t>(seen);
  consumer.active_ms = static_cast<int64_t>(active) - 1;
  return consumer;
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

Status StreamGroup::Decode(std::string_view value) {
  uint64_t number;
  uint64_t entries_read;
  uint64_t next_consumer;
  if (!ReadVarint(value, number) || !ReadStreamId(value, last_id_) || !ReadVarint(value, entries_read) ||
      !ReadVarint(value, pending_) || !ReadVarint(value, consumer_count_) || !ReadVarint(value, next_consumer) ||
      number > UINT32_MAX || next_consumer > UINT32_MAX) {
    return Status::Corruption("stream group: cut short");
  }
  number_ = static_cast<uint32_t>(number);
  entries_read_ = static_cast<int64_t>(entries_read) - 1;
  next_consumer_ = static_cast<uint32_t>(next_consumer);
  if (value.empty()) return Ok();
  uint64_t timed;
  if (!ReadVarint(value, timed) || !ReadVarint(value, nacked_) || !ReadVarint(value, next_nacked_) || timed > 1 ||
      nacked_ > pending_) {
    return Status::Corruption("stream group: the state of pending entries");
  }
  is_timed_ = timed == 1;
  return Ok();
}

Result<std::optional<StreamGroup>> StreamGroup::Find(const Stream& stream, std::string_view name) {
  if (stream.state().groups == 0) return std::optional<StreamGroup>();
  const RowRef row = TRY(stream.txn().Get(stream.rows().Group(name)));
  if (!row) return std::optional<StreamGroup>();
  StreamGroup group(stream.txn(), stream.rows(), name);
  TRY(group.Decode(row.bytes()));
  return std::optional(std::move(group));
}

StreamGroup StreamGroup::Create(Stream& stream, std::string_view name, StreamId last_id, int64_t entries_read) {
  StreamGroup group(stream.txn(), stream.rows(), name);
  group.number_ = stream.state().next_group++;
  ++stream.state().groups;
  group.last_id_ = last_id;
  group.entries_read_ = entries_read;
  return group;
}

Status StreamGroup::ForEach(const Stream& stream, const std::function<Result<bool>(StreamGroup& group)>& visit) {
  if (stream.state().groups == 0) return Ok();
  const RowKey prefix = stream.rows().Group({});
  Cursor cursor = stream.txn().Scan(prefix, EndOfRows(prefix));
  for (; cursor.Valid(); cursor.Next()) {
    StreamGroup group(stream.txn(), stream.rows(), cursor.row().substr(kGroupNameAt));
    TRY(group.Decode(cursor.value()));
    if (!TRY(visit(group))) return Ok();
  }
  return cursor.TakeStatus();
}

void StreamGroup::SetPosition(StreamId last_id, int64_t entries_read) {
  last_id_ = last_id;
  entries_read_ = entries_read;
}

void StreamGroup::Advance(const StreamState& stream, StreamId id) {
  if (id <= last_id_) return;
  if (entries_read_ != kUnknownEntriesRead && last_id_ >= stream.first_id && !HasGapBehind(stream, last_id_)) {
    ++entries_read_;
  } else if (stream.entries_added != 0) {
    entries_read_ = EntriesAddedUpTo(stream, id);
  }
  last_id_ = id;
}

std::optional<int64_t> StreamGroup::Lag(const StreamState& stream) const {
  const auto added = static_cast<int64_t>(stream.entries_added);
  if (added == 0 || stream.count == 0) return 0;
  // Trimmed entries count as added, but the group will never read them.
  if (last_id_ < stream.first_id && stream.max_deleted_id < stream.first_id) return static_cast<int64_t>(stream.count);
  const bool counted = entries_read_ != kUnknownEntriesRead && !HasGapBehind(stream, last_id_);
  const int64_t read = counted ? entries_read_ : EntriesAddedUpTo(stream, last_id_);
  return read == kUnknownEntriesRead ? std::nullopt : std::optional(added - read);
}

Result<StreamConsumer*> StreamGroup::Consumer(std::string_view name) {
  const auto known = loaded_.find(name);
  if (known != loaded_.end()) return &known->second;
  const RowRef row = TRY(txn_->Get(rows_.Consumer(number_, name)));
  if (!row) return static_cast<StreamConsumer*>(nullptr);
  StreamConsumer consumer = TRY(DecodeConsumer(name, row.bytes()));
  return &loaded_.emplace(consumer.name, std::move(consumer)).first->second;
}

Result<StreamConsumer*> StreamGroup::ConsumerOrNew(std::string_view name, int64_t now_ms, bool* created) {
  StreamConsumer* const known = TRY(Consumer(name));
  if (created != nullptr) *created = known == nullptr;
  if (known != nullptr) return known;
  StreamConsumer consumer{.name = std::string(name), .number = next_consumer_++, .seen_ms = now_ms};
  ++consumer_count_;
  return &loaded_.emplace(consumer.name, std::move(consumer)).first->second;
}

Status StreamGroup::DeleteConsumer(StreamConsumer& consumer) {
  TRY(ForEachPendingOf(consumer, {}, kLastStreamId, [&](const PendingEntry& entry) -> Result<bool> {
    txn_->Delete(rows_.Pending(number_, entry.id));
    txn_->Delete(rows_.Owned(number_, consumer.number, entry.id));
    if (is_timed_) txn_->Delete(TimedRow(entry));
    return true;
  }));
  pending_ -= consumer.pending;
  --consumer_count_;
  txn_->Delete(rows_.Consumer(number_, consumer.name));
  loaded_.erase(loaded_.find(consumer.name));
  return Ok();
}

Status StreamGroup::ForEachConsumer(const ConsumerVisitor& visit) const {
  const RowKey prefix = Prefix(rows_, 'c', number_);
  Cursor cursor = txn_->Scan(prefix, EndOfRows(prefix));
  for (; cursor.Valid(); cursor.Next()) {
    const std::string_view name = cursor.row().substr(kConsumerNameAt);
    if (!TRY(visit(TRY(DecodeConsumer(name, cursor.value()))))) return Ok();
  }
  return cursor.TakeStatus();
}

Result<PendingEntry> StreamGroup::ReadPending(StreamId id, std::string_view value) const {
  PendingEntry entry{.id = id};
  uint64_t delivered_ms;
  if (!ReadVarint(value, delivered_ms) || !ReadVarint(value, entry.deliveries)) {
    return Status::Corruption("stream pending entry: cut short");
  }
  if (delivered_ms >= kNackedMark) {
    entry.nacked = delivered_ms - kNackedMark;
    if (!value.empty()) return Status::Corruption("stream pending entry: a consumer, although it has none");
    return entry;
  }
  entry.delivered_ms = static_cast<int64_t>(delivered_ms);
  entry.consumer = value;
  return entry;
}

Result<std::optional<PendingEntry>> StreamGroup::Pending(StreamId id) const {
  const RowRef row = TRY(txn_->Get(rows_.Pending(number_, id)));
  if (!row) return std::optional<PendingEntry>();
  return std::optional(TRY(ReadPending(id, row.bytes())));
}

Status StreamGroup::ForEachPending(StreamId from, StreamId to, const PendingVisitor& visit) const {
  if (pending_ == 0 || from > to) return Ok();
  RowKey end = rows_.Pending(number_, to);
  end.push_back('\0');
  Cursor cursor = txn_->Scan(rows_.Pending(number_, from), end);
  for (; cursor.Valid(); cursor.Next()) {
    StreamId id;
    ReadIdAtEnd(cursor.row(), id);
    if (!TRY(visit(TRY(ReadPending(id, cursor.value()))))) return Ok();
  }
  return cursor.TakeStatus();
}

Status StreamGroup::ForEachPendingOf(const StreamConsumer& consumer, StreamId from, StreamId to,
                                     const PendingVisitor& visit) const {
  if (consumer.pending == 0 || from > to) return Ok();
  RowKey end = rows_.Owned(number_, consumer.number, to);
  end.push_back('\0');
  Cursor cursor = txn_->Scan(rows_.Owned(number_, consumer.number, from), end);
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
  const int64_t time = entry.nacked ? INT64_MIN + static_cast<int64_t>(*entry.nacked) : entry.delivered_ms;
  return rows_.Timed(number_, time, entry.id);
}

Status StreamGroup::ForEachPendingByTime(const PendingVisitor& visit) const {
  ASSERT(is_timed_, "a group has no rows by delivery time");
  if (pending_ == 0) return Ok();
  const RowKey prefix = Prefix(rows_, 't', number_);
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
  if (is_timed_) return false;
  TRY(ForEachPending({}, kLastStreamId, [&](const PendingEntry& entry) -> Result<bool> {
    txn_->Put(TimedRow(entry), {});
    return true;
  }));
  is_timed_ = true;
  return true;
}

Result<StreamId> StreamGroup::LastPending() const {
  StreamId last;
  if (pending_ == 0) return last;
  const RowKey prefix = Prefix(rows_, 'p', number_);
  Cursor cursor = txn_->Scan(prefix, EndOfRows(prefix), Direction::kReverse);
  if (cursor.Valid()) ReadIdAtEnd(cursor.row(), last);
  TRY(cursor.TakeStatus());
  return last;
}

Status StreamGroup::TakeFrom(const PendingEntry& entry) {
  if (is_timed_) txn_->Delete(TimedRow(entry));
  if (entry.nacked) {
    if (nacked_ == 0) return Status::Corruption("stream group: the number of entries without a consumer");
    --nacked_;
    return Ok();
  }
  StreamConsumer* const owner = TRY(Consumer(entry.consumer));
  if (owner == nullptr) return Status::Corruption("stream pending entry: no such consumer");
  txn_->Delete(rows_.Owned(number_, owner->number, entry.id));
  --owner->pending;
  return Ok();
}

void StreamGroup::WritePending(const PendingEntry& entry) {
  std::string value;
  AppendVarint(value, entry.nacked ? kNackedMark + *entry.nacked : static_cast<uint64_t>(entry.delivered_ms));
  AppendVarint(value, entry.deliveries);
  value.append(entry.consumer);
  txn_->Put(rows_.Pending(number_, entry.id), value);
  if (is_timed_) txn_->Put(TimedRow(entry), {});
}

Status StreamGroup::Assign(StreamConsumer& consumer, const PendingEntry& entry) {
  const std::optional<PendingEntry> before = TRY(Pending(entry.id));
  const bool changes_hands = !before || before->nacked || before->consumer != consumer.name;
  if (before && changes_hands) TRY(TakeFrom(*before));
  if (before && !changes_hands && is_timed_) txn_->Delete(TimedRow(*before));
  if (!before) ++pending_;
  if (changes_hands) {
    txn_->Put(rows_.Owned(number_, consumer.number, entry.id), {});
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
  if (!before) ++pending_;
  ++nacked_;
  WritePending({.id = entry.id, .nacked = next_nacked_++, .deliveries = entry.deliveries});
  return Ok();
}

Result<bool> StreamGroup::Release(StreamId id) {
  const std::optional<PendingEntry> entry = TRY(Pending(id));
  if (!entry) return false;
  TRY(TakeFrom(*entry));
  txn_->Delete(rows_.Pending(number_, id));
  --pending_;
  return true;
}

void StreamGroup::WriteConsumer(const StreamConsumer& consumer) {
  std::string value;
  AppendVarint(value, consumer.number);
  AppendVarint(value, static_cast<uint64_t>(consumer.seen_ms));
  AppendVarint(value, static_cast<uint64_t>(consumer.active_ms) + 1);
  AppendVarint(value, consumer.pending);
  txn_->Put(rows_.Consumer(number_, consumer.name), value);
}

void StreamGroup::Save() {
  std::string value;
  AppendVarint(value, number_);
  AppendStreamId(value, last_id_);
  AppendVarint(value, static_cast<uint64_t>(entries_read_) + 1);
  AppendVarint(value, pending_);
  AppendVarint(value, consumer_count_);
  AppendVarint(value, next_consumer_);
  if (is_timed_ || next_nacked_ > 0) {
    AppendVarint(value, is_timed_ ? 1 : 0);
    AppendVarint(value, nacked_);
    AppendVarint(value, next_nacked_);
  }
  txn_->Put(rows_.Group(name_), value);
  for (const auto& [name, consumer] : loaded_) WriteConsumer(consumer);
}

Status StreamGroup::Destroy(Stream& stream) {
  for (const char kind : {'c', 'p', 'q', 't'}) TRY(DeleteRows(*txn_, Prefix(rows_, kind, number_)));
  txn_->Delete(rows_.Group(name_));
  --stream.state().groups;
  return Ok();
}

}  // namespace cairn
