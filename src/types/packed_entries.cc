// SPDX-License-Identifier: BSD-3-Clause
#include "types/packed_entries.h"

#include "base/assert.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

// The error of a walk that ended before it found an item that must exist.
Status WalkError(const PackedReader& reader, std::string_view otherwise) {
  return Status::Corruption(reader.status().ok() ? otherwise : reader.status().text());
}

}  // namespace

Status PackedEntries::Open(std::string_view payload) {
  const PackedReader reader(payload);
  if (!reader.status().ok()) return Status::Corruption(reader.status().text());
  is_owned_ = false;
  payload_ = payload;
  count_ = reader.count();
  return Ok();
}

Status PackedEntries::ReadValue(PackedReader& reader, Entry& entry) const {
  entry.value_begin = reader.offset();
  if (width_ == 2 && !reader.Next(entry.value)) {
    return WalkError(reader, "packed hash: a field without its value");
  }
  entry.end = reader.offset();
  return Ok();
}

Result<std::optional<PackedEntries::Entry>> PackedEntries::Find(const Item& name) const {
  PackedReader reader(payload());
  Entry entry;
  Item item;
  for (;;) {
    entry.begin = reader.offset();
    if (!reader.Next(item)) break;
    TRY(ReadValue(reader, entry));
    if (item == name) return std::optional<Entry>(entry);
  }
  if (!reader.status().ok()) return Status::Corruption(reader.status().text());
  return std::optional<Entry>();
}

Status PackedEntries::At(uint64_t rank, Entry& entry, Item& name) const {
  ASSERT(rank < count_, "rank beyond the packed entries");
  PackedReader reader(payload());
  for (uint64_t i = 0; i <= rank; ++i) {
    entry.begin = reader.offset();
    if (!reader.Next(name)) return WalkError(reader, "packed: fewer entries than its count");
    TRY(ReadValue(reader, entry));
  }
  return Ok();
}

void PackedEntries::Own() {
  if (is_owned_) return;
  owned_.clear();
  owned_.reserve(payload_.size() + 64);  // room for an append, which is likely
  owned_.append(payload_);
  is_owned_ = true;
}

void PackedEntries::SetCount(uint64_t count) {
  std::string_view rest = owned_;
  uint64_t old_count;
  ReadVarint(rest, old_count);
  std::string head;
  AppendVarint(head, count);
  owned_.replace(0, owned_.size() - rest.size(), head);
  count_ = count;
}

void PackedEntries::Append(const Item& name) {
  ASSERT(width_ == 1, "an entry without a value in a packed hash");
  Own();
  AppendItem(owned_, name);
  SetCount(count_ + 1);
}

void PackedEntries::Append(const Item& name, std::string_view value) {
  ASSERT(width_ == 2, "an entry with a value in a packed set");
  Own();
  AppendItem(owned_, name);
  AppendItem(owned_, value);
  SetCount(count_ + 1);
}

void PackedEntries::ReplaceValue(const Entry& entry, std::string_view value) {
  std::string item;
  AppendItem(item, value);
  Own();
  owned_.replace(entry.value_begin, entry.end - entry.value_begin, item);
}

void PackedEntries::Erase(const Entry& entry) {
  Own();
  owned_.erase(entry.begin, entry.end - entry.begin);
  SetCount(count_ - 1);
}

}  // namespace cairn
