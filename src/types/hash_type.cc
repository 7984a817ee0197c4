// SPDX-License-Identifier: BSD-3-Clause
//
// The type row of hashes (types/hash.h). In RDB a packed hash is a listpack, any other one its fields and values in
// sequence; one with expiring fields uses an encoding that Redis has since 7.4. A hash template of Redis 8.10 is read
// as a hash like any other.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "rdb/listpack.h"
#include "rdb/ziplist.h"
#include "types/hash.h"
#include "types/value_types.h"

namespace cairn {
namespace {

constexpr int64_t kNoTimeOfValkey = -1;

std::string_view EncodingName(const KeyEntry& entry) {
  if (!IsSmall(entry)) return "hashtable";
  return entry.fields_expire_ms() == kNoExpiry ? "listpack" : "listpackex";
}

Status AddToDigest(Digest& digest, Keyspace& keys, const Key& key, KeyEntry entry) {
  Hash hash(keys, key);
  TRY(hash.Open(std::move(entry)));
  return hash.ForEach([&](std::string_view field, std::string_view value) -> Result<bool> {
    Digest pair;
    pair.Mix(field);
    pair.Mix(value);
    digest.XorOf(pair);
    return true;
  });
}

// Expired fields are saved too, as in Redis: the loader drops them.
Status SaveWithTimes(const Hash& hash, RdbWriter& writer) {
  const int64_t earliest_ms = hash.next_deadline_ms();
  writer.Type(RdbType::kHashWithTimes);
  writer.Fixed64(earliest_ms);
  writer.Length(hash.size());
  return hash.ForEachStored([&](std::string_view field, std::string_view value) -> Result<bool> {
    const int64_t when_ms = TRY(hash.DeadlineOf(field));
    writer.Length(when_ms == kNoExpiry ? 0 : static_cast<uint64_t>(when_ms - earliest_ms + 1));
    writer.Text(field);
    writer.Text(value);
    return true;
  });
}

Status SaveWithTimesOfValkey(const Hash& hash, RdbWriter& writer) {
  writer.Type(RdbType::kValkeyHashWithTimes);
  writer.Length(hash.size());
  return hash.ForEachStored([&](std::string_view field, std::string_view value) -> Result<bool> {
    const int64_t when_ms = TRY(hash.DeadlineOf(field));
    writer.Text(field);
    writer.Text(value);
    writer.Fixed64(when_ms == kNoExpiry ? kNoTimeOfValkey : when_ms);
    return true;
  });
}

Status SaveSmall(const Hash& hash, RdbWriter& writer) {
  ListpackWriter listpack;
  TRY(hash.ForEach([&listpack](std::string_view field, std::string_view value) -> Result<bool> {
    listpack.AddText(field);
    listpack.AddText(value);
    return true;
  }));
  writer.Type(RdbType::kHashListpack);
  writer.Text(listpack.Take());
  return Ok();
}

Status Save(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer) {
  const bool is_small = IsSmall(entry);
  Hash hash(keys, key);
  TRY(hash.Open(std::move(entry)));
  if (hash.has_deadlines()) {
    const bool is_for_valkey = writer.dialect() == RdbDialect::kValkey;
    return is_for_valkey ? SaveWithTimesOfValkey(hash, writer) : SaveWithTimes(hash, writer);
  }
  if (is_small) return SaveSmall(hash, writer);
  writer.Type(RdbType::kHash);
  writer.Length(hash.size());
  return hash.ForEach([&writer](std::string_view field, std::string_view value) -> Result<bool> {
    writer.Text(field);
    writer.Text(value);
    return true;
  });
}

// An expired field still exists in the hash, although Set reports the next one of its name as new.
Status AddPiece(Keyspace& keys, const Key& key, const RdbValue& value) {
  Hash hash(keys, key);
  TRY(hash.Open());
  std::string field;
  std::string text;
  for (size_t i = 0; i + 1 < value.items.size(); i += 2) {
    const uint64_t before = hash.size();
    TRY(hash.Set(value.items[i].Text(field), value.items[i + 1].Text(text), Hash::Deadline::kKeep));
    if (hash.size() == before) return ElementTwice();
    const int64_t when_ms = value.deadlines.empty() ? kNoExpiry : value.deadlines[i / 2];
    if (when_ms != kNoExpiry) TRY(hash.SetDeadline(value.items[i].Text(field), when_ms));
  }
  return hash.Save();
}

Status Load(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  TRY(Hash::Replace(keys, key, entry, value.items.all(), value.pack_rule()));
  if (value.deadlines.empty()) return Ok();
  Hash hash(keys, key);
  TRY(hash.Open());
  std::string field;
  for (size_t i = 0; i < value.deadlines.size(); ++i) {
    if (value.deadlines[i] == kNoExpiry) continue;
    TRY(hash.SetDeadline(value.items[2 * i].Text(field), value.deadlines[i]));
  }
  return hash.Save();
}

// Checks that `when_ms` is a valid expiry time of a field.
Result<int64_t> CheckedTime(uint64_t when_ms) {
  constexpr uint64_t kMostMs = uint64_t{1} << 48;  // Redis's maximum
  if (when_ms > kMostMs) return Status::Corruption("rdb: a time out of range");
  return static_cast<int64_t>(when_ms);
}

Status ReadEarliest(RdbReader& reader, RdbValue& value) {
  value.earliest_ms = TRY(CheckedTime(static_cast<uint64_t>(TRY(reader.Fixed64()))));
  return Ok();
}

Status ReadTimedPair(RdbReader& reader, RdbValue& value) {
  const int64_t ttl = TRY(CheckedTime(TRY(reader.Length())));
  TRY(ReadRdbPair(reader, value));
  const auto when_ms = static_cast<uint64_t>(value.earliest_ms + ttl - 1);
  value.deadlines.push_back(ttl == 0 ? kNoExpiry : TRY(CheckedTime(when_ms)));
  return Ok();
}

Status ReadTimedListpack(RdbReader& reader, RdbValue& value) {
  TRY(reader.Fixed64());  // the earliest time
  TRY(ReadPacked<ReadListpack>(reader, value));
  RdbItems& items = value.items;
  if (items.size() % 3 != 0) return Status::Corruption("rdb: a field without a time");
  const std::vector<Item> triples = items.TakeAll();
  for (size_t i = 0; i < triples.size(); i += 3) {
    const Item& when = triples[i + 2];
    if (!when.is_integer()) return Status::Corruption("rdb: a time that is not a number");
    items.Add(triples[i]);
    items.Add(triples[i + 1]);
    const int64_t when_ms = TRY(CheckedTime(static_cast<uint64_t>(when.integer())));
    value.deadlines.push_back(when_ms == 0 ? kNoExpiry : when_ms);
  }
  return Ok();
}

// A field and its value, with the time as Valkey 9 stores it: absolute, and possibly later than Redis permits.
Status ReadValkeyPair(RdbReader& reader, RdbValue& value) {
  TRY(ReadRdbPair(reader, value));
  const int64_t when_ms = TRY(reader.Fixed64());
  if (when_ms < kNoTimeOfValkey) return Status::Corruption("rdb: a time out of range");
  value.deadlines.push_back(when_ms == kNoTimeOfValkey ? kNoExpiry : std::min(when_ms, kLastFieldMs));
  return Ok();
}

// Replaces the items, the values, by pairs of `names` and values. `first` is the position of the first value.
Status PairWithNames(const std::vector<Item>& values, size_t first, std::span<const Item> names, RdbItems& items) {
  if (values.size() != first + names.size()) return Status::Corruption("rdb: a template with fields without values");
  for (size_t i = 0; i < names.size(); ++i) {
    items.Add(names[i]);
    items.Add(values[first + i]);
  }
  return Ok();
}

// Reads the names of fields that stand before the values of one hash.
Result<std::vector<Item>> ReadNames(RdbReader& reader, RdbValue& value) {
  const uint64_t form = TRY(reader.Length());
  if (form == 0) {
    TRY(ReadListpack(TRY(reader.Blob(value.items)), value.items));
  } else if (form == 1) {
    for (uint64_t left = TRY(reader.Count(1)); left > 0; --left) TRY(reader.Text(value.items));
  } else {
    return Status::Corruption("rdb: the names of a hash template are of an unknown form");
  }
  return value.items.TakeAll();
}

Result<std::vector<Item>> FindNames(const RdbReader& reader, uint64_t number) {
  const RdbReader::FieldNames* const names = reader.FindFieldNames(number);
  if (names == nullptr) return Status::Corruption("rdb: unknown hash template " + std::to_string(number));
  std::vector<Item> items;
  for (const std::string& name : *names) items.push_back(Item::FromText(name));
  return items;
}

// The values of a template are a listpack, which begins with the number of the template.
template <bool kNamed>
Status ReadTemplateListpack(RdbReader& reader, RdbValue& value) {
  std::vector<Item> names;
  if (!kNamed) names = TRY(ReadNames(reader, value));
  TRY(ReadPacked<ReadListpack>(reader, value));
  const std::vector<Item> values = value.items.TakeAll();
  if (values.empty() || !values[0].is_integer()) return Status::Corruption("rdb: a hash template without a number");
  if (kNamed) names = TRY(FindNames(reader, static_cast<uint64_t>(values[0].integer())));
  return PairWithNames(values, 1, names, value.items);
}

template <bool kNamed>
Status ReadTemplateArray(RdbReader& reader, RdbValue& value) {
  const std::vector<Item> names = kNamed ? TRY(FindNames(reader, TRY(reader.Length()))) : TRY(ReadNames(reader, value));
  for (size_t left = names.size(); left > 0; --left) TRY(reader.Text(value.items));
  return PairWithNames(value.items.TakeAll(), 0, names, value.items);
}

constexpr RdbForm kForms[] = {
    {RdbType::kHash, ReadRdbPair, 2},
    {RdbType::kHashZipmap, ReadPacked<ReadZipmap>, 0, "Zipmap"},
    {RdbType::kHashZiplist, ReadPacked<ReadZiplist>, 0, "Hash ziplist"},
    {RdbType::kHashListpack, ReadPacked<ReadListpack>, 0, "Hash listpack"},
    {RdbType::kHashWithTimes, ReadTimedPair, 3, {}, ReadEarliest},
    {RdbType::kHashListpackEx, ReadTimedListpack, 0, "Hash listpack"},
    {RdbType::kValkeyHashWithTimes, ReadValkeyPair, 10},
    {RdbType::kHashTemplateListpack, ReadTemplateListpack<false>, 0, "Hash listpack"},
    {RdbType::kHashTemplateListpackRef, ReadTemplateListpack<true>, 0, "Hash listpack"},
    {RdbType::kHashTemplateArray, ReadTemplateArray<false>},
    {RdbType::kHashTemplateArrayRef, ReadTemplateArray<true>},
};

}  // namespace

const ValueType kHashType = {
    .type = Type::kHash,
    .name = "hash",
    .redis_number = 4,
    .encoding_name = EncodingName,
    .sizes_name = "hashes_items",
    .add_to_digest = AddToDigest,
    .save = Save,
    .load = Load,
    .add_piece = AddPiece,
    .rdb_forms = kForms,
    .items_per_name = 2,
};

}  // namespace cairn
