// SPDX-License-Identifier: BSD-3-Clause
#include "replication/rdb_value.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "base/hash.h"
#include "base/number.h"
#include "replication/intset.h"
#include "replication/listpack.h"
#include "replication/rdb_format.h"
#include "replication/ziplist.h"

namespace cairn {
namespace {

// Room that is made in advance, however many elements are announced.
constexpr uint64_t kMostReserved = 4096;

Status ReadTexts(RdbReader& reader, uint64_t count, RdbItems& items) {
  items.Reserve(std::min(count, kMostReserved));
  for (uint64_t i = 0; i < count; ++i) TRY(reader.Text(items));
  return Ok();
}

Status ReadString(RdbReader& reader, RdbValue& value) { return reader.Text(value.items); }

Status ReadList(RdbReader& reader, RdbValue& value) {
  return ReadTexts(reader, TRY(reader.Count(1)), value.items);
}

Status ReadSet(RdbReader& reader, RdbValue& value) {
  return ReadTexts(reader, TRY(reader.Count(1)), value.items);
}

Status ReadHash(RdbReader& reader, RdbValue& value) {
  return ReadTexts(reader, 2 * TRY(reader.Count(2)), value.items);
}

Status ReadZset(RdbReader& reader, RdbValue& value) {
  for (uint64_t left = TRY(reader.Count(2)); left > 0; --left) {
    TRY(reader.Text(value.items));
    value.scores.push_back(TRY(reader.DigitsScore()));
  }
  return Ok();
}

Status ReadZset2(RdbReader& reader, RdbValue& value) {
  for (uint64_t left = TRY(reader.Count(9)); left > 0; --left) {
    TRY(reader.Text(value.items));
    value.scores.push_back(TRY(reader.BinaryScore()));
  }
  return Ok();
}

// A collection packed into one text, by one of the functions that read such.
template <Status (*kRead)(std::string_view bytes, RdbItems& items)>
Status ReadPacked(RdbReader& reader, RdbValue& value) {
  value.was_packed = true;
  return kRead(TRY(reader.Blob(value.items)), value.items);
}

Result<double> ScoreOf(const Item& item) {
  if (item.is_integer()) return static_cast<double>(item.integer());
  const auto score = ParseDouble(item.bytes());
  if (!score) return Status::Corruption("rdb: a score that is no number");
  return *score;
}

template <Status (*kRead)(std::string_view bytes, RdbItems& items)>
Status ReadPackedZset(RdbReader& reader, RdbValue& value) {
  RdbItems& items = value.items;
  TRY(ReadPacked<kRead>(reader, value));
  if (items.size() % 2 != 0) return Status::Corruption("rdb: a member without a score");
  std::vector<Item> pairs = items.TakeAll();
  for (size_t i = 0; i < pairs.size(); i += 2) {
    items.Add(pairs[i]);
    value.scores.push_back(TRY(ScoreOf(pairs[i + 1])));
  }
  return Ok();
}

Status ReadQuicklist(RdbReader& reader, RdbValue& value) {
  for (uint64_t left = TRY(reader.Count(1)); left > 0; --left) {
    TRY(ReadZiplist(TRY(reader.Blob(value.items)), value.items));
  }
  return Ok();
}

// A list item in a node of its own: one that is too large for a listpack, so never nothing.
Status ReadPlainNode(RdbReader& reader, RdbItems& items) {
  TRY(reader.Text(items));
  const Item& item = items.all().back();
  if (!item.is_integer() && item.bytes().empty())
    return Status::Corruption("rdb: a quicklist node of nothing");
  return Ok();
}

Status ReadQuicklist2(RdbReader& reader, RdbValue& value) {
  for (uint64_t left = TRY(reader.Count(2)); left > 0; --left) TRY(ReadQuicklistNode(reader, value.items));
  return Ok();
}

// A time that a field may have.
Result<int64_t> CheckedTime(uint64_t when_ms) {
  constexpr uint64_t kMostMs = uint64_t{1} << 48;  // what Redis can tell
  if (when_ms > kMostMs) return Status::Corruption("rdb: a time after all times");
  return static_cast<int64_t>(when_ms);
}

Status ReadHashWithTimes(RdbReader& reader, RdbValue& value) {
  const int64_t earliest_ms = TRY(CheckedTime(static_cast<uint64_t>(TRY(reader.Fixed64()))));
  for (uint64_t left = TRY(reader.Count(3)); left > 0; --left) {
    const int64_t ttl = TRY(CheckedTime(TRY(reader.Length())));
    TRY(ReadTexts(reader, 2, value.items));
    value.deadlines.push_back(ttl == 0 ? kNoExpiry : earliest_ms + ttl - 1);
  }
  return Ok();
}

Status ReadHashListpackEx(RdbReader& reader, RdbValue& value) {
  TRY(reader.Fixed64());  // the earliest time
  TRY(ReadPacked<ReadListpack>(reader, value));
  RdbItems& items = value.items;
  if (items.size() % 3 != 0) return Status::Corruption("rdb: a field without a time");
  const std::vector<Item> triples = items.TakeAll();
  for (size_t i = 0; i < triples.size(); i += 3) {
    const Item& when = triples[i + 2];
    if (!when.is_integer()) return Status::Corruption("rdb: a time that is no number");
    items.Add(triples[i]);
    items.Add(triples[i + 1]);
    const int64_t when_ms = TRY(CheckedTime(static_cast<uint64_t>(when.integer())));
    value.deadlines.push_back(when_ms == 0 ? kNoExpiry : when_ms);
  }
  return Ok();
}

template <RdbType kType>
Status ReadStream(RdbReader& reader, RdbValue& value) {
  value.stream =
      std::make_unique<RdbStream>(TRY(RdbStream::Read(kType, reader, value.items)));
  return Ok();
}

struct TypeRow {
  RdbType number;
  Type type;
  Status (*read)(RdbReader& reader, RdbValue& value);
  std::string_view packed = {};  // what Redis calls the container that it comes in
};

constexpr TypeRow kTypes[] = {
    {RdbType::kString, Type::kString, ReadString},
    {RdbType::kList, Type::kList, ReadList},
    {RdbType::kSet, Type::kSet, ReadSet},
    {RdbType::kZset, Type::kZset, ReadZset},
    {RdbType::kHash, Type::kHash, ReadHash},
    {RdbType::kZset2, Type::kZset, ReadZset2},
    {RdbType::kHashZipmap, Type::kHash, ReadPacked<ReadZipmap>, "Zipmap"},
    {RdbType::kListZiplist, Type::kList, ReadPacked<ReadZiplist>, "List ziplist"},
    {RdbType::kSetIntset, Type::kSet, ReadPacked<ReadIntset>, "Intset"},
    {RdbType::kZsetZiplist, Type::kZset, ReadPackedZset<ReadZiplist>, "Zset ziplist"},
    {RdbType::kHashZiplist, Type::kHash, ReadPacked<ReadZiplist>, "Hash ziplist"},
    {RdbType::kListQuicklist, Type::kList, ReadQuicklist, "Quicklist ziplist"},
    {RdbType::kStreamListpacks, Type::kStream, ReadStream<RdbType::kStreamListpacks>},
    {RdbType::kStreamListpacks2, Type::kStream, ReadStream<RdbType::kStreamListpacks2>},
    {RdbType::kStreamListpacks3, Type::kStream, ReadStream<RdbType::kStreamListpacks3>},
    {RdbType::kHashListpack, Type::kHash, ReadPacked<ReadListpack>, "Hash listpack"},
    {RdbType::kZsetListpack, Type::kZset, ReadPackedZset<ReadListpack>, "Zset listpack"},
    {RdbType::kListQuicklist2, Type::kList, ReadQuicklist2, "Quicklist listpack"},
    {RdbType::kSetListpack, Type::kSet, ReadPacked<ReadListpack>, "Set listpack"},
    {RdbType::kHashWithTimes, Type::kHash, ReadHashWithTimes},
    {RdbType::kHashListpackEx, Type::kHash, ReadHashListpackEx, "Hash listpack"},
};

struct ItemHash {
  size_t operator()(const Item& item) const {
    return item.is_integer() ? absl::HashOf(item.integer()) : Hash64(item.bytes());
  }
};

// Whether every `step`th item is there once.
bool AreDistinct(const RdbItems& items, size_t step) {
  absl::flat_hash_set<Item, ItemHash> seen;
  seen.reserve(items.size() / step);
  for (size_t i = 0; i < items.size(); i += step) {
    if (!seen.insert(items[i]).second) return false;
  }
  return true;
}

Status Check(const RdbValue& value) {
  const RdbItems& items = value.items;
  if (value.type == Type::kStream) return Ok();
  if (value.type == Type::kString || value.type == Type::kList) return Ok();
  const size_t step = value.type == Type::kHash ? 2 : 1;
  if (items.size() % step != 0) return Status::Corruption("rdb: a field without a value");
  if (!AreDistinct(items, step)) return Status::Corruption("rdb: an element is there twice");
  return Ok();
}

}  // namespace

Status ReadQuicklistNode(RdbReader& reader, RdbItems& items) {
  const uint64_t container = TRY(reader.Length());
  if (container == kQuicklistPlain) return ReadPlainNode(reader, items);
  if (container == kQuicklistPacked) return ReadListpack(TRY(reader.Blob(items)), items);
  return Status::Corruption("rdb: a quicklist node of unknown kind");
}

Result<RdbValue> ReadRdbValue(RdbReader& reader) {
  RdbValue value = TRY(ReadRdbValue(TRY(reader.Byte()), reader));
  if (value.IsOfNothing()) return Status::Corruption("rdb: a collection of nothing");
  return value;
}

Result<RdbValue> ReadRdbValue(uint8_t number, RdbReader& reader) {
  const auto row =
      std::find_if(std::begin(kTypes), std::end(kTypes), [number](const TypeRow& candidate) {
        return static_cast<uint8_t>(candidate.number) == number;
      });
  if (row == std::end(kTypes)) return Status::Corruption("rdb: unknown type");
  RdbValue value;
  value.type = row->type;
  Status status = row->read(reader, value);
  if (status.ok()) status = Check(value);
  if (status.ok()) return value;
  if (row->packed.empty()) return status;
  return BrokenContainer(row->packed, std::move(status));
}

}  // namespace cairn
