// SPDX-License-Identifier: BSD-3-Clause
//
// The type row of sets (types/set.h). In RDB a set of integers is an intset, any other set its members in sequence.
#include <string>
#include <vector>

#include "base/number.h"
#include "rdb/intset.h"
#include "rdb/listpack.h"
#include "types/set.h"
#include "types/set_builder.h"
#include "types/value_types.h"

namespace cairn {
namespace {

std::string_view EncodingName(const KeyEntry& entry) {
  return IsSmall(entry) && entry.encoding() == Encoding::kIntegers ? "intset" : "hashtable";
}

Status AddToDigest(Digest& digest, Keyspace& keys, const Key& key, KeyEntry entry) {
  Set set(keys, key);
  TRY(set.Open(std::move(entry)));
  return set.ForEach([&](std::string_view member) -> Result<bool> {
    digest.Xor(member);
    return true;
  });
}

Status SaveIntset(const Set& set, RdbWriter& writer) {
  std::vector<int64_t> integers;
  TRY(set.ForEach([&integers](std::string_view member) -> Result<bool> {
    integers.push_back(ParseInt64(member).value_or(0));
    return true;
  }));
  writer.Type(RdbType::kSetIntset);
  writer.Text(WriteIntset(integers));
  return Ok();
}

Status Save(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer) {
  const bool of_integers = IsSmall(entry) && entry.encoding() == Encoding::kIntegers;
  Set set(keys, key);
  TRY(set.Open(std::move(entry)));
  if (of_integers) return SaveIntset(set, writer);
  writer.Type(RdbType::kSet);
  writer.Length(set.size());
  return set.ForEach([&writer](std::string_view member) -> Result<bool> {
    writer.Text(member);
    return true;
  });
}

Status AddPiece(Keyspace& keys, const Key& key, const RdbValue& value) {
  Set set(keys, key);
  TRY(set.Open());
  std::string scratch;
  for (const Item& member : value.items.all()) {
    if (!TRY(set.Add(member.Text(scratch)))) return ElementTwice();
  }
  return set.Save();
}

Status Load(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  SetBuilder builder(keys);
  std::string scratch;
  for (const Item& member : value.items.all()) builder.Add(member.Text(scratch));
  return builder.StoreTo(key, entry, kNoExpiry);
}

constexpr RdbForm kForms[] = {
    {RdbType::kSet, ReadRdbText, 1},
    {RdbType::kSetIntset, ReadPacked<ReadIntset>, 0, "Intset"},
    {RdbType::kSetListpack, ReadPacked<ReadListpack>, 0, "Set listpack"},
};

}  // namespace

const ValueType kSetType = {
    .type = Type::kSet,
    .name = "set",
    .redis_number = 2,
    .encoding_name = EncodingName,
    .sizes_name = "sets_items",
    .add_to_digest = AddToDigest,
    .save = Save,
    .load = Load,
    .add_piece = AddPiece,
    .rdb_forms = kForms,
    .items_per_name = 1,
};

}  // namespace cairn
