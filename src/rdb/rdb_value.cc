// SPDX-License-Identifier: BSD-3-Clause
#include "rdb/rdb_value.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "base/hash.h"
#include "base/number.h"
#include "rdb/intset.h"
#include "rdb/listpack.h"
#include "rdb/rdb_format.h"
#include "rdb/ziplist.h"

namespace cairn {
namespace {

// Room that is made in advance, however many parts are announced.
constexpr uint64_t kMostReserved = 4096;

Status ReadText(RdbReader& reader, RdbValue& value) { return reader.Text(value.items); }

Status ReadPair(RdbReader& reader, RdbValue& value) {
  TRY(ReadText(reader, value));
  return ReadText(reader, value);
}

template <Result<double> (RdbReader::*kScore)()>
Status ReadScored(RdbReader& reader, RdbValue& value) {
  TRY(ReadText(reader, value));
  value.scores.push_back(TRY((reader.*kScore)()));
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

Status ReadZiplistNode(RdbReader& reader, RdbValue& value) {
  return ReadZiplist(TRY(reader.Blob(value.items)), value.items);
}

// A list item in a node of its own: one that is too large for a listpack, so never nothing.
Status ReadPlainNode(RdbReader& reader, RdbItems& items) {
  TRY(reader.Text(items));
  const Item& item = items.all().back();
  if (!item.is_integer() && item.bytes().empty())
    return Status::Corruption("rdb: a quicklist node of nothing");
  return Ok();
}

Status ReadQuicklistNode(RdbReader& reader, RdbValue& value) {
  const uint64_t container = TRY(reader.Length());
  if (container == kQuicklistPlain) return ReadPlainNode(reader, value.items);
  if (container == kQuicklistPacked) return ReadListpack(TRY(reader.Blob(value.items)), value.items);
  return Status::Corruption("rdb: a quicklist node of unknown kind");
}

// A time that a field may have.
Result<int64_t> CheckedTime(uint64_t when_ms) {
  constexpr uint64_t kMostMs = uint64_t{1} << 48;  // what Redis can tell
  if (when_ms > kMostMs) return Status::Corruption("rdb: a time after all times");
  return static_cast<int64_t>(when_ms);
}

Status ReadEarliest(RdbReader& reader, RdbValue& value) {
  value.earliest_ms = TRY(CheckedTime(static_cast<uint64_t>(TRY(reader.Fixed64()))));
  return Ok();
}

Status ReadTimedPair(RdbReader& reader, RdbValue& value) {
  const int64_t ttl = TRY(CheckedTime(TRY(reader.Length())));
  TRY(ReadPair(reader, value));
  value.deadlines.push_back(ttl == 0 ? kNoExpiry : value.earliest_ms + ttl - 1);
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

Status BeginStream(RdbReader&, RdbValue& value) {
  value.stream = std::make_unique<RdbStream>();
  return Ok();
}

Status ReadStreamNode(RdbReader& reader, RdbValue& value) { return value.stream->ReadNode(reader, value.items); }

template <RdbType kType>
Status EndStream(RdbReader& reader, RdbValue& value) {
  return value.stream->ReadEnd(kType, reader, value.items);
}

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

using ReadStep = Status (*)(RdbReader& reader, RdbValue& value);

// How a type is read: what stands before the number of its parts, each part, and what stands behind them. A value of
// one part has no number of them.
struct RdbTypeRow {
  RdbType number;
  Type type;
  ReadStep read_part;
  uint64_t least_part_bytes = 0;  // 0: of one part
  std::string_view container = {};  // what Redis calls what it comes in
  ReadStep begin = nullptr;
  ReadStep end = nullptr;
};

namespace {

constexpr RdbTypeRow kTypes[] = {
    {RdbType::kString, Type::kString, ReadText},
    {RdbType::kList, Type::kList, ReadText, 1},
    {RdbType::kSet, Type::kSet, ReadText, 1},
    {RdbType::kZset, Type::kZset, ReadScored<&RdbReader::DigitsScore>, 2},
    {RdbType::kHash, Type::kHash, ReadPair, 2},
    {RdbType::kZset2, Type::kZset, ReadScored<&RdbReader::BinaryScore>, 9},
    {RdbType::kHashZipmap, Type::kHash, ReadPacked<ReadZipmap>, 0, "Zipmap"},
    {RdbType::kListZiplist, Type::kList, ReadPacked<ReadZiplist>, 0, "List ziplist"},
    {RdbType::kSetIntset, Type::kSet, ReadPacked<ReadIntset>, 0, "Intset"},
    {RdbType::kZsetZiplist, Type::kZset, ReadPackedZset<ReadZiplist>, 0, "Zset ziplist"},
    {RdbType::kHashZiplist, Type::kHash, ReadPacked<ReadZiplist>, 0, "Hash ziplist"},
    {RdbType::kListQuicklist, Type::kList, ReadZiplistNode, 1, "Quicklist ziplist"},
    {RdbType::kStreamListpacks, Type::kStream, ReadStreamNode, RdbStream::kLeastNodeBytes, {}, BeginStream,
     EndStream<RdbType::kStreamListpacks>},
    {RdbType::kStreamListpacks2, Type::kStream, ReadStreamNode, RdbStream::kLeastNodeBytes, {}, BeginStream,
     EndStream<RdbType::kStreamListpacks2>},
    {RdbType::kStreamListpacks3, Type::kStream, ReadStreamNode, RdbStream::kLeastNodeBytes, {}, BeginStream,
     EndStream<RdbType::kStreamListpacks3>},
    {RdbType::kHashListpack, Type::kHash, ReadPacked<ReadListpack>, 0, "Hash listpack"},
    {RdbType::kZsetListpack, Type::kZset, ReadPackedZset<ReadListpack>, 0, "Zset listpack"},
    {RdbType::kListQuicklist2, Type::kList, ReadQuicklistNode, 2, "Quicklist listpack"},
    {RdbType::kSetListpack, Type::kSet, ReadPacked<ReadListpack>, 0, "Set listpack"},
    {RdbType::kHashWithTimes, Type::kHash, ReadTimedPair, 3, {}, ReadEarliest},
    {RdbType::kHashListpackEx, Type::kHash, ReadHashListpackEx, 0, "Hash listpack"},
};

const RdbTypeRow* FindRow(uint8_t number) {
  const auto row = std::find_if(std::begin(kTypes), std::end(kTypes), [number](const RdbTypeRow& candidate) {
    return static_cast<uint8_t>(candidate.number) == number;
  });
  return row == std::end(kTypes) ? nullptr : row;
}

}  // namespace

// What was read of the value as a whole stays: its type, its earliest time, and of a stream all but the entries.
void RdbValue::DropParts() {
  items = RdbItems();
  scores.clear();
  deadlines.clear();
  if (stream != nullptr) stream->DropEntries();
}

bool RdbValueReader::HasParts(uint8_t number) {
  const RdbTypeRow* row = FindRow(number);
  return row != nullptr && row->least_part_bytes > 0;
}

Result<RdbValueReader> RdbValueReader::Make(uint8_t number, RdbReader& reader) {
  const RdbTypeRow* row = FindRow(number);
  if (row == nullptr) return Status::Corruption("rdb: unknown type");
  RdbValueReader made(*row, reader);
  made.value_.type = row->type;
  return made;
}

Status RdbValueReader::ReadPiece(PieceLimits limits) {
  value_.DropParts();
  Status status = ReadParts(limits);
  if (status.ok() || row_->container.empty()) return status;
  return BrokenContainer(row_->container, std::move(status));
}

Status RdbValueReader::ReadParts(PieceLimits limits) {
  const bool is_first = !parts_left_;
  if (is_first) TRY(ReadHead());
  const uint64_t end = *parts_left_ - std::min(*parts_left_, limits.parts);
  while (*parts_left_ > end && value_.items.bytes() < limits.bytes) {
    TRY(row_->read_part(*reader_, value_));
    --*parts_left_;
  }
  if (!at_end()) return Ok();
  if (row_->end != nullptr) TRY(row_->end(*reader_, value_));
  return is_first ? Check(value_) : Ok();
}

Status RdbValueReader::ReadHead() {
  if (row_->begin != nullptr) TRY(row_->begin(*reader_, value_));
  parts_left_ = row_->least_part_bytes == 0 ? 1 : TRY(reader_->Count(row_->least_part_bytes));
  value_.items.Reserve(std::min(*parts_left_, kMostReserved));
  return Ok();
}

Result<RdbValue> ReadRdbValue(RdbReader& reader) {
  RdbValue value = TRY(ReadRdbValue(TRY(reader.Byte()), reader));
  if (value.IsOfNothing()) return Status::Corruption("rdb: a collection of nothing");
  return value;
}

Result<RdbValue> ReadRdbValue(uint8_t number, RdbReader& reader) {
  RdbValueReader value = TRY(RdbValueReader::Make(number, reader));
  TRY(value.ReadPiece({}));
  return value.Take();
}

}  // namespace cairn
