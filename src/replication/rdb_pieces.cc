// SPDX-License-Identifier: BSD-3-Clause
#include "replication/rdb_pieces.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "replication/listpack.h"
#include "replication/rdb_format.h"
#include "replication/rdb_value.h"
#include "replication/ziplist.h"
#include "types/hash.h"
#include "types/list.h"
#include "types/set.h"
#include "types/zset.h"

namespace cairn {
namespace {

constexpr uint64_t kElementsPerPiece = 512;
constexpr uint64_t kNodesPerPiece = 16;

Status Twice() { return Status::Corruption("rdb: an element is there twice"); }

// ---- one piece each: `count` elements are read and stored

Status PushItems(const RdbItems& items, Keyspace& keys, const Key& key) {
  List list(keys, key);
  TRY(list.Open());
  std::string scratch;
  for (const Item& item : items.all()) {
    const std::string_view texts[] = {item.Text(scratch)};
    TRY(list.Push(ListEnd::kTail, texts));
  }
  return list.Save();
}

Status ListPiece(uint64_t count, RdbReader& reader, Keyspace& keys, const Key& key) {
  RdbItems items;
  for (uint64_t i = 0; i < count; ++i) TRY(reader.Text(items));
  return PushItems(items, keys, key);
}

Status ZiplistsPiece(uint64_t count, RdbReader& reader, Keyspace& keys, const Key& key) {
  RdbItems items;
  for (uint64_t i = 0; i < count; ++i) TRY(ReadZiplist(TRY(reader.Blob(items)), items));
  return PushItems(items, keys, key);
}

Status QuicklistPiece(uint64_t count, RdbReader& reader, Keyspace& keys, const Key& key) {
  RdbItems items;
  for (uint64_t i = 0; i < count; ++i) TRY(ReadQuicklistNode(reader, items));
  return PushItems(items, keys, key);
}

Status SetPiece(uint64_t count, RdbReader& reader, Keyspace& keys, const Key& key) {
  Set set(keys, key);
  TRY(set.Open());
  std::string scratch;
  for (uint64_t i = 0; i < count; ++i) {
    RdbItems member;
    TRY(reader.Text(member));
    if (!TRY(set.Add(member[0].Text(scratch)))) return Twice();
  }
  return set.Save();
}

Status HashPiece(uint64_t count, RdbReader& reader, Keyspace& keys, const Key& key) {
  Hash hash(keys, key);
  TRY(hash.Open());
  std::string field;
  std::string value;
  for (uint64_t i = 0; i < count; ++i) {
    RdbItems pair;
    TRY(reader.Text(pair));
    TRY(reader.Text(pair));
    if (!TRY(hash.Set(pair[0].Text(field), pair[1].Text(value)))) return Twice();
  }
  return hash.Save();
}

template <Result<double> (RdbReader::*kScore)()>
Status ZsetPiece(uint64_t count, RdbReader& reader, Keyspace& keys, const Key& key) {
  Zset zset = TRY(Zset::Find(keys, key));
  std::string scratch;
  for (uint64_t i = 0; i < count; ++i) {
    RdbItems member;
    TRY(reader.Text(member));
    const double score = TRY((reader.*kScore)());
    const Added added = TRY(zset.Add(member[0].Text(scratch), score, {}));
    if (added.outcome != Added::Outcome::kAdded) return Twice();
  }
  return zset.Save();
}

struct PieceRow {
  RdbType type;
  uint64_t elements;  // per piece
  Status (*load)(uint64_t count, RdbReader& reader, Keyspace& keys, const Key& key);
};

constexpr PieceRow kRows[] = {
    {RdbType::kList, kElementsPerPiece, ListPiece},
    {RdbType::kSet, kElementsPerPiece, SetPiece},
    {RdbType::kZset, kElementsPerPiece, ZsetPiece<&RdbReader::DigitsScore>},
    {RdbType::kZset2, kElementsPerPiece, ZsetPiece<&RdbReader::BinaryScore>},
    {RdbType::kHash, kElementsPerPiece, HashPiece},
    {RdbType::kListQuicklist, kNodesPerPiece, ZiplistsPiece},
    {RdbType::kListQuicklist2, kNodesPerPiece, QuicklistPiece},
};

const PieceRow* FindRow(uint8_t type) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows), [type](const PieceRow& each) {
    return static_cast<uint8_t>(each.type) == type;
  });
  return row == std::end(kRows) ? nullptr : row;
}

}  // namespace

Result<bool> ComesInPieces(uint8_t type, RdbReader& reader) {
  const PieceRow* row = FindRow(type);
  return row != nullptr && TRY(reader.PeekLength()) > 2 * row->elements;
}

Status LoadPieces(uint8_t type, RdbReader& reader, Keyspace& keys, const Key& key,
                  const PieceSteps& steps) {
  const PieceRow& row = *FindRow(type);
  for (uint64_t count = TRY(reader.Length()); count > 0;) {
    const uint64_t now = std::min(count, row.elements);
    TRY(steps.begin());
    TRY(row.load(now, reader, keys, key));
    TRY(steps.end());
    reader.Release();
    count -= now;
  }
  return Ok();
}

}  // namespace cairn
