// SPDX-License-Identifier: BSD-3-Clause
#include "types/rdb_value.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "base/hash.h"
#include "types/value_memory.h"
#include "types/value_types.h"

namespace cairn {
namespace {

// The maximum reserved in advance, however many parts the payload announces.
constexpr uint64_t kMostReserved = 4096;
constexpr uint64_t kSampledRows = 16;  // of a collection whose payload is estimated

struct ItemHash {
  size_t operator()(const Item& item) const {
    return item.is_integer() ? absl::HashOf(item.integer()) : Hash64(item.bytes());
  }
};

// Returns whether every `step`th item is distinct.
bool AreDistinct(const RdbItems& items, size_t step) {
  absl::flat_hash_set<Item, ItemHash> seen;
  seen.reserve(items.size() / step);
  for (size_t i = 0; i < items.size(); i += step) {
    if (!seen.insert(items[i]).second) return false;
  }
  return true;
}

}  // namespace

// Keeps what describes the value as a whole: its type, its earliest time, its size, the header of a filter, and
// everything of a stream but the entries.
void RdbValue::DropParts() {
  items = RdbItems();
  scores.clear();
  deadlines.clear();
  if (stream != nullptr) stream->DropEntries();
}

Status ReadRdbText(RdbReader& reader, RdbValue& value) { return reader.Text(value.items); }

Status ReadRdbPair(RdbReader& reader, RdbValue& value) {
  TRY(reader.Text(value.items));
  return reader.Text(value.items);
}

bool RdbValueReader::HasParts(RdbType number) {
  const RdbForm* const form = FindRdbForm(number).form;
  return form != nullptr && form->least_part_bytes > 0;
}

Result<RdbValueReader> RdbValueReader::Make(RdbType number, RdbReader& reader) {
  const auto [type, form] = FindRdbForm(number);
  if (form == nullptr) return Status::Corruption("rdb: " + DescribeUnreadType(number));
  RdbValueReader made(*type, *form, reader);
  made.value_.type = type->type;
  return made;
}

Status RdbValueReader::ReadPiece(PieceLimits limits) {
  value_.DropParts();
  Status status = ReadParts(limits);
  if (status.ok() || form_->container.empty()) return status;
  return BrokenContainer(form_->container, std::move(status));
}

Status RdbValueReader::ReadParts(PieceLimits limits) {
  const bool is_first = !parts_left_;
  if (is_first) TRY(ReadHead());
  const uint64_t end = *parts_left_ - std::min(*parts_left_, limits.parts);
  while (*parts_left_ > end && value_.items.bytes() < limits.bytes) {
    const uint64_t kept = reader_->kept_bytes();
    const size_t before = value_.items.added();
    TRY(form_->read_part(*reader_, value_));
    // The items of a compressed list of small elements take many times its bytes.
    if (reader_->kept_bytes() != kept) TRY(reader_->Keep((value_.items.added() - before) * sizeof(Item)));
    --*parts_left_;
  }
  if (!at_end()) return Ok();
  if (form_->end != nullptr) TRY(form_->end(*reader_, value_));
  return is_first ? Check() : Ok();
}

Status RdbValueReader::ReadHead() {
  if (form_->begin != nullptr) TRY(form_->begin(*reader_, value_));
  parts_left_ = form_->least_part_bytes == 0 ? 1 : TRY(reader_->Count(form_->least_part_bytes));
  value_.items.Reserve(std::min(*parts_left_, kMostReserved));
  return Ok();
}

Status RdbValueReader::Check() const {
  const size_t step = type_->items_per_name;
  if (step == 0) return Ok();
  if (value_.items.size() % step != 0) return Status::Corruption("rdb: a field without a value");
  return AreDistinct(value_.items, step) ? Ok() : ElementTwice();
}

Status SaveRdbValue(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer) {
  if (writer.is_payload()) {
    const uint64_t bytes = TRY(MemoryOf(keys.txn(), key, entry, kSampledRows));
    keys.txn().command().memory().Use(bytes);
  }
  return ValueTypeOf(entry).save(keys, key, std::move(entry), writer);
}

Status LoadRdbValue(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  TRY(keys.txn().command().Spend(value.items.size()));
  return ValueTypeOf(value.type).load(keys, key, entry, value);
}

Result<RdbValue> ReadRdbValue(RdbReader& reader) {
  RdbValue value = TRY(ReadRdbValue(RdbTypeOf(TRY(reader.Byte()), reader.dialect()), reader));
  if (value.IsOfNothing()) return Status::Corruption("rdb: an empty collection");
  return value;
}

Result<RdbValue> ReadRdbValue(RdbType number, RdbReader& reader) {
  RdbValueReader value = TRY(RdbValueReader::Make(number, reader));
  TRY(value.ReadPiece({}));
  return value.Take();
}

}  // namespace cairn
