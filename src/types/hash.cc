// SPDX-License-Identifier: BSD-3-Clause
#include "types/hash.h"

#include <functional>

#include "encoding/varint.h"

namespace cairn {
namespace {

Result<bool> VisitPacked(const PackedEntries& packed, ElementVisitor visit) {
  PackedReader reader(packed.payload());
  Item field;
  Item value;
  std::string field_scratch;
  std::string value_scratch;
  uint64_t seen = 0;
  while (reader.Next(field)) {
    if (!reader.Next(value)) break;
    ++seen;
    if (!TRY(visit(field.Text(field_scratch), value.Text(value_scratch)))) return false;
  }
  if (!reader.status().ok()) return Status::Corruption(reader.status().text());
  if (seen != packed.count())
    return Status::Corruption("packed hash: not as many fields as its count");
  return true;
}

// Appends the packed hash of these items to `payload`; false when the limits do not allow it.
bool PackInto(std::string& payload, std::span<const Item> fields_and_values, const Limits& limits,
              PackRule rule) {
  const uint64_t count = fields_and_values.size() / 2;
  if (count > ReadLimit(limits.hash_max_listpack_entries)) return false;
  const uint64_t longest =
      rule == PackRule::kCountOnly ? UINT64_MAX : ReadLimit(limits.hash_max_listpack_value);
  const uint64_t most_bytes = ReadLimit(limits.packed_max_bytes);
  std::string scratch;
  AppendVarint(payload, count);
  for (const Item& item : fields_and_values) {
    if (item.Text(scratch).size() > longest) return false;
    AppendItem(payload, item);
    if (payload.size() > most_bytes) return false;
  }
  return true;
}

}  // namespace

Status Hash::Replace(Keyspace& keyspace, const Key& key, const KeyEntry& entry,
                     std::span<const Item> fields_and_values, PackRule rule) {
  RecordHeader header{.type = Type::kHash, .encoding = Encoding::kPacked};
  std::string payload;
  if (PackInto(payload, fields_and_values, keyspace.limits(), rule)) {
    return keyspace.Write(key, entry, header, payload);
  }
  SpreadElements spread(keyspace.txn(), key.stripe());
  std::string field;
  std::string value;
  for (size_t i = 0; i + 1 < fields_and_values.size(); i += 2) {
    spread.PutNew(fields_and_values[i].Text(field), fields_and_values[i + 1].Text(value));
  }
  payload.clear();
  AppendSpreadPayload(payload, spread.id(), spread.count());
  header.encoding = Encoding::kSpread;
  return keyspace.Write(key, entry, header, payload);
}

Status Hash::Open() { return Open(TRY(keyspace_->FindTyped(*key_, Type::kHash))); }

Status Hash::Open(KeyEntry entry) {
  entry_ = std::move(entry);
  if (!entry_.exists()) return Ok();
  switch (entry_.encoding()) {
    case Encoding::kPacked:
      TRY(packed_.Open(entry_.payload()));
      break;
    case Encoding::kSpread: {
      const SpreadPayload spread = TRY(DecodeSpreadPayload(entry_.payload()));
      spread_ = SpreadElements(keyspace_->txn(), spread.id, spread.count, key_->stripe());
      is_spread_ = true;
      break;
    }
    default:
      return Status::Corruption("record: an encoding that hashes do not have");
  }
  return size() == 0 ? Status::Corruption("record: a hash without fields") : Ok();
}

Result<FieldValue> Hash::Get(std::string_view field) const {
  if (is_spread_) return FieldValue(TRY(spread_.Get(field)));
  const auto entry = TRY(packed_.Find(Item::FromText(field)));
  return entry ? FieldValue(entry->value) : FieldValue();
}

bool Hash::FitsPacked(std::string_view field, std::string_view value) const {
  const Limits& limits = keyspace_->limits();
  const uint64_t longest = ReadLimit(limits.hash_max_listpack_value);
  return field.size() <= longest && value.size() <= longest &&
         packed_.payload().size() + field.size() + value.size() <=
             ReadLimit(limits.packed_max_bytes);
}

Result<bool> Hash::Set(std::string_view field, std::string_view value) {
  if (!is_spread_ && !FitsPacked(field, value)) TRY(Spread());
  if (is_spread_) {
    const bool is_new = TRY(spread_.Put(field, value));
    record_changed_ |= is_new;
    return is_new;
  }
  record_changed_ = true;
  const Item name = Item::FromText(field);
  const auto entry = TRY(packed_.Find(name));
  if (entry) {
    packed_.ReplaceValue(*entry, value);
    return false;
  }
  packed_.Append(name, value);
  if (packed_.count() > ReadLimit(keyspace_->limits().hash_max_listpack_entries)) TRY(Spread());
  return true;
}

Result<bool> Hash::Remove(std::string_view field) {
  bool was_there;
  if (is_spread_) {
    was_there = TRY(spread_.Remove(field));
  } else {
    const auto entry = TRY(packed_.Find(Item::FromText(field)));
    if (entry) packed_.Erase(*entry);
    was_there = entry.has_value();
  }
  record_changed_ |= was_there;
  return was_there;
}

Status Hash::Spread() {
  spread_ = SpreadElements(keyspace_->txn(), key_->stripe());
  is_spread_ = true;
  record_changed_ = true;
  TRY(VisitPacked(packed_, [this](std::string_view field, std::string_view value) -> Result<bool> {
    spread_.PutNew(field, value);
    return true;
  }));
  return Ok();
}

RecordHeader Hash::NewHeader() const {
  RecordHeader header;
  if (entry_.exists()) header = entry_.header();
  header.type = Type::kHash;
  header.encoding = is_spread_ ? Encoding::kSpread : Encoding::kPacked;
  return header;
}

Status Hash::Save() {
  if (!record_changed_) return Ok();
  record_changed_ = false;
  if (size() == 0) return exists() ? keyspace_->Remove(*key_, entry_) : Ok();
  if (!is_spread_) return keyspace_->Write(*key_, entry_, NewHeader(), packed_.payload());
  std::string payload;
  AppendSpreadPayload(payload, spread_.id(), spread_.count());
  return keyspace_->Write(*key_, entry_, NewHeader(), payload);
}

Status Hash::ForEach(ElementVisitor visit) const {
  if (is_spread_) return spread_.ForEach(visit);
  TRY(VisitPacked(packed_, visit));
  return Ok();
}

Result<FieldPair> Hash::At(uint64_t rank, bool with_value) const {
  FieldPair pair;
  if (is_spread_) {
    const std::string suffix = TRY(spread_.SuffixAt(rank));
    pair.field = SpreadElements::MemberOf(suffix);
    if (with_value) pair.value = TRY(spread_.GetBySuffix(suffix)).bytes();
    return pair;
  }
  PackedEntries::Entry entry;
  Item field;
  TRY(packed_.At(rank, entry, field));
  pair.field = field.ToString();
  if (with_value) pair.value = entry.value.ToString();
  return pair;
}

Status Hash::ForEachRank(std::span<const uint64_t> ranks, bool with_values,
                         ElementVisitor visit) const {
  if (is_spread_) return spread_.ForEachRank(ranks, with_values, visit);
  RankPicker picker(ranks, visit);
  TRY(VisitPacked(packed_, std::ref(picker)));
  return Ok();
}

Result<uint64_t> Hash::Scan(uint64_t position, uint64_t count, ElementVisitor visit) const {
  if (is_spread_) return spread_.Scan(position, count, visit);
  TRY(VisitPacked(packed_, visit));
  return uint64_t{0};
}

}  // namespace cairn
