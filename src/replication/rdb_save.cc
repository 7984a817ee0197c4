// SPDX-License-Identifier: BSD-3-Clause
#include "replication/rdb_save.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/number.h"
#include "replication/intset.h"
#include "replication/listpack.h"
#include "replication/quicklist.h"
#include "types/hash.h"
#include "types/list.h"
#include "types/set.h"
#include "types/string.h"
#include "types/zset.h"

namespace cairn {
namespace {

// Whether Redis would call the value by the name of its small encoding.
bool IsSmall(const KeyEntry& entry) {
  return entry.encoding() != Encoding::kSpread && !entry.grown();
}

Status SaveString(Keyspace&, const Key&, KeyEntry entry, RdbWriter& writer) {
  const StringText text = TRY(ReadText(entry));
  writer.Type(RdbType::kString);
  writer.Text(text.view());
  return Ok();
}

Status SaveList(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer) {
  List list(keys, key);
  TRY(list.Open(std::move(entry)));
  QuicklistWriter nodes(keys.limits().list_max_listpack_size.load(std::memory_order_relaxed));
  TRY(list.Visit(0, list.size(), [&nodes](const Item& item) { nodes.Add(item); }));
  writer.Type(RdbType::kListQuicklist2);
  nodes.Finish(writer);
  return Ok();
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

Status SaveSet(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer) {
  const bool of_integers = entry.encoding() == Encoding::kIntegers;
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

Status SaveHash(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer) {
  const bool is_small = IsSmall(entry);
  Hash hash(keys, key);
  TRY(hash.Open(std::move(entry)));
  if (is_small) {
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
  writer.Type(RdbType::kHash);
  writer.Length(hash.size());
  return hash.ForEach([&writer](std::string_view field, std::string_view value) -> Result<bool> {
    writer.Text(field);
    writer.Text(value);
    return true;
  });
}

Status SaveZset(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer) {
  const bool is_small = IsSmall(entry);
  Zset zset = TRY(Zset::Open(keys, key, std::move(entry)));
  if (is_small) {
    ListpackWriter listpack;
    TRY(zset.ForEach([&listpack](std::string_view member, double score) -> Result<bool> {
      listpack.AddText(member);
      listpack.AddText(FormatDouble(score));
      return true;
    }));
    writer.Type(RdbType::kZsetListpack);
    writer.Text(listpack.Take());
    return Ok();
  }
  writer.Type(RdbType::kZset2);
  writer.Length(zset.size());
  uint64_t seen = 0;
  // The highest first, as Redis does: who reads them into a skip list then always inserts at its
  // head.
  TRY(zset.ForEach(
      [&writer, &seen](std::string_view member, double score) -> Result<bool> {
        writer.Text(member);
        writer.BinaryScore(score);
        ++seen;
        return true;
      },
      true));
  return seen == zset.size() ? Ok()
                             : Status::Corruption("spread zset: not as many members as its count");
}

struct SaveRow {
  Type type;
  Status (*save)(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer);
};

constexpr SaveRow kTypes[] = {
    {Type::kString, SaveString}, {Type::kList, SaveList}, {Type::kSet, SaveSet},
    {Type::kZset, SaveZset},     {Type::kHash, SaveHash},
};

}  // namespace

Status SaveRdbValue(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer) {
  ASSERT(entry.exists(), "a missing key has no value to save");
  const auto row =
      std::find_if(std::begin(kTypes), std::end(kTypes),
                   [&entry](const SaveRow& candidate) { return candidate.type == entry.type(); });
  if (row == std::end(kTypes))
    return Status::Corruption("record: a type that has no serialisation");
  return row->save(keys, key, std::move(entry), writer);
}

}  // namespace cairn
