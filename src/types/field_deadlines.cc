// SPDX-License-Identifier: BSD-3-Clause
#include "types/field_deadlines.h"

#include <algorithm>

#include "base/hash.h"
#include "base/number.h"
#include "encoding/record.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr char kByField = 'f';
constexpr char kByTime = 't';
constexpr size_t kTimeRowHead = 8 + 1 + 8;  // id, kind, time

Result<int64_t> ReadTime(std::string_view bytes) {
  uint64_t when;
  if (!ReadU64(bytes, when) || when >> 63) return Status::Corruption("field deadline: no time");
  return static_cast<int64_t>(when);
}

}  // namespace

Result<FieldDeadlines> FieldDeadlines::TakeFrom(std::string_view& payload) {
  uint64_t size;
  if (!ReadVarint(payload, size) || size > payload.size()) {
    return Status::Corruption("field deadlines: they exceed the record");
  }
  FieldDeadlines deadlines;
  TRY(deadlines.packed_.Open(payload.substr(0, size)));
  payload.remove_prefix(size);
  return deadlines;
}

void FieldDeadlines::AppendPacked(std::string& payload) const {
  AppendVarint(payload, packed_.payload().size());
  payload.append(packed_.payload());
}

RowKey FieldDeadlines::ByField(std::string_view field) const {
  RowKey row = MakeCollectionStart(Space::kScores, id_, stripe_);
  row.push_back(kByField);
  row.append(field);
  return row;
}

RowKey FieldDeadlines::ByTime(int64_t when_ms, std::string_view field) const {
  RowKey row = MakeCollectionStart(Space::kScores, id_, stripe_);
  row.push_back(kByTime);
  AppendU64(row, static_cast<uint64_t>(when_ms));
  row.append(field);
  return row;
}

Result<int64_t> FieldDeadlines::Of(std::string_view field) const {
  if (count() == 0) return kNoExpiry;
  if (txn_ != nullptr) {
    TRY(txn_->command().Spend(1));
    const RowRef row = TRY(txn_->Get(ByField(field)));
    return row ? ReadTime(row.bytes()) : Result<int64_t>(kNoExpiry);
  }
  const auto entry = TRY(packed_.Find(Item::FromText(field)));
  if (!entry) return kNoExpiry;
  if (!entry->value.is_integer() || entry->value.integer() < 0) {
    return Status::Corruption("field deadlines: an invalid time");
  }
  return entry->value.integer();
}

Status FieldDeadlines::Put(std::string_view field, int64_t when_ms) {
  if (txn_ != nullptr) {
    TRY(Erase(field));
    std::string when;
    AppendU64(when, static_cast<uint64_t>(when_ms));
    txn_->Put(ByField(field), when);
    txn_->Put(ByTime(when_ms, field), {});
    ++spread_count_;
    return Ok();
  }
  std::string when;
  AppendInt64(when, when_ms);
  const Item name = Item::FromText(field);
  const auto entry = TRY(packed_.Find(name));
  if (entry) {
    packed_.ReplaceValue(*entry, when);
  } else {
    packed_.Append(name, when);
  }
  return Ok();
}

Status FieldDeadlines::Erase(std::string_view field) {
  if (txn_ != nullptr) {
    const int64_t when_ms = TRY(Of(field));
    if (when_ms == kNoExpiry) return Ok();
    txn_->Delete(ByField(field));
    txn_->Delete(ByTime(when_ms, field));
    --spread_count_;
    return Ok();
  }
  const auto entry = TRY(packed_.Find(Item::FromText(field)));
  if (entry) packed_.Erase(*entry);
  return Ok();
}

Status FieldDeadlines::ForEachPacked(absl::FunctionRef<void(std::string_view, int64_t)> visit) const {
  PackedReader reader(packed_.payload());
  Item field;
  Item when;
  std::string scratch;
  while (reader.Next(field)) {
    const bool is_time = reader.Next(when) && when.is_integer() && when.integer() >= 0;
    if (!is_time) return Status::Corruption("field deadlines: an invalid time");
    visit(field.Text(scratch), when.integer());
  }
  return reader.status().ok() ? Ok() : Status::Corruption(reader.status().text());
}

Result<int64_t> FieldDeadlines::Earliest(int64_t from_ms) const {
  int64_t earliest = kNoExpiry;
  if (txn_ == nullptr) {
    TRY(ForEachPacked([&earliest](std::string_view, int64_t when_ms) {
      earliest = earliest == kNoExpiry ? when_ms : std::min(earliest, when_ms);
    }));
    return earliest;
  }
  if (spread_count_ == 0) return kNoExpiry;
  Cursor cursor = txn_->Scan(ByTime(from_ms, {}), ByTime(INT64_MAX, {}));
  if (cursor.Valid()) earliest = TRY(ReadTime(cursor.row().substr(kTimeRowHead - 8)));
  TRY(cursor.TakeStatus());
  return earliest;
}

Result<std::vector<std::string>> FieldDeadlines::Due(FieldPlace& place, int64_t now_ms, uint64_t most) const {
  std::vector<std::string> due;
  if (txn_ == nullptr) {
    TRY(ForEachPacked([&](std::string_view field, int64_t when_ms) {
      if (when_ms <= now_ms && due.size() < most) due.emplace_back(field);
    }));
    return due;
  }
  Cursor cursor = txn_->Scan(ByTime(place.when_ms, place.field), ByTime(now_ms + 1, {}));
  for (; cursor.Valid() && due.size() < most; cursor.Next()) {
    if (cursor.row().size() < kTimeRowHead) return Status::Corruption("field deadline row: cut short");
    due.emplace_back(cursor.row().substr(kTimeRowHead));
    place.when_ms = TRY(ReadTime(cursor.row().substr(kTimeRowHead - 8)));
  }
  if (!due.empty()) place.field = due.back();
  TRY(cursor.TakeStatus());
  return due;
}

Status FieldDeadlines::Spread(Transaction& txn, CollectionId id, uint32_t stripe) {
  FieldDeadlines rows(txn, id, 0, stripe);
  Status status;
  TRY(ForEachPacked([&](std::string_view field, int64_t when_ms) {
    if (status.ok()) status = rows.Put(field, when_ms);
  }));
  TRY(std::move(status));
  *this = std::move(rows);
  return Ok();
}

}  // namespace cairn
