// SPDX-License-Identifier: BSD-3-Clause
//
// The type row of lists (types/list.h). In RDB a list is a quicklist whose nodes are cut where Redis cuts a list that
// was pushed item by item.
#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "encoding/varint.h"
#include "rdb/listpack.h"
#include "rdb/quicklist.h"
#include "rdb/ziplist.h"
#include "types/list.h"
#include "types/value_types.h"

namespace cairn {
namespace {

// Items pushed at once.
constexpr size_t kPushed = 256;

std::string_view EncodingName(const KeyEntry&) { return "quicklist"; }

// The number of items in a chunk row (types/list_chunks.h).
uint64_t ItemsIn(std::string_view chunk) {
  if (chunk.empty()) return 1;
  chunk.remove_prefix(1);
  uint64_t count = 0;
  return ReadVarint(chunk, count) && count > 0 ? count : 1;
}

Result<uint64_t> RowBytes(Transaction& txn, const Key& key, const KeyEntry& entry, uint64_t samples) {
  return EstimateRows(txn, key, entry, Space::kElements, samples, ItemsIn);
}

Status AddToDigest(Digest& digest, Keyspace& keys, const Key& key, KeyEntry entry) {
  List list(keys, key);
  TRY(list.Open(std::move(entry)));
  std::string scratch;
  return list.ForEach(0, list.size(), [&](const Item& item) { digest.Mix(item.Text(scratch)); });
}

// Saves the items in sequence, the form before quicklists, which needs only the number of items in advance.
Status SaveLong(List& list, RdbWriter& writer) {
  writer.Type(RdbType::kList);
  writer.Length(list.size());
  std::string scratch;
  return list.ForEach(0, list.size(), [&](const Item& item) { writer.Text(item.Text(scratch)); });
}

Status Save(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer) {
  List list(keys, key);
  TRY(list.Open(std::move(entry)));
  if (list.size() > writer.most_elements_held()) return SaveLong(list, writer);
  QuicklistWriter nodes(keys.limits().list_max_listpack_size.load(std::memory_order_relaxed));
  const size_t most_bytes = writer.most_bytes_held();
  TRY(list.ForEach(0, list.size(), [&](const Item& item) {
    if (nodes.size_bytes() <= most_bytes) nodes.Add(item);
  }));
  if (nodes.size_bytes() > most_bytes) return SaveLong(list, writer);
  writer.Type(RdbType::kListQuicklist2);
  nodes.Finish(writer);
  return Ok();
}

Status AddPiece(Keyspace& keys, const Key& key, const RdbValue& value) {
  List list(keys, key);
  TRY(list.Open());
  std::array<std::string, kPushed> scratch;
  std::array<std::string_view, kPushed> texts;
  for (size_t done = 0; done < value.items.size();) {
    TRY(keys.txn().command().Spend(1));
    const size_t count = std::min(kPushed, value.items.size() - done);
    for (size_t i = 0; i < count; ++i) texts[i] = value.items[done + i].Text(scratch[i]);
    TRY(list.Push(ListEnd::kTail, std::span(texts).first(count)));
    done += count;
  }
  return list.Save();
}

Status Load(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  if (entry.exists()) TRY(keys.Remove(key, entry));
  return AddPiece(keys, key, value);
}

Status ReadZiplistNode(RdbReader& reader, RdbValue& value) {
  return ReadZiplist(TRY(reader.Blob(value.items)), value.items);
}

// Reads a node of one item that is too large for a listpack. It is never empty.
Status ReadPlainNode(RdbReader& reader, RdbItems& items) {
  TRY(reader.Text(items));
  const Item& item = items.all().back();
  if (!item.is_integer() && item.bytes().empty()) return Status::Corruption("rdb: an empty quicklist node");
  return Ok();
}

Status ReadQuicklistNode(RdbReader& reader, RdbValue& value) {
  const uint64_t container = TRY(reader.Length());
  if (container == kQuicklistPlain) return ReadPlainNode(reader, value.items);
  if (container == kQuicklistPacked) return ReadListpack(TRY(reader.Blob(value.items)), value.items);
  return Status::Corruption("rdb: a quicklist node of unknown kind");
}

constexpr RdbForm kForms[] = {
    {RdbType::kList, ReadRdbText, 1},
    {RdbType::kListZiplist, ReadPacked<ReadZiplist>, 0, "List ziplist"},
    {RdbType::kListQuicklist, ReadZiplistNode, 1, "Quicklist ziplist"},
    {RdbType::kListQuicklist2, ReadQuicklistNode, 2, "Quicklist listpack"},
};

}  // namespace

const ValueType kListType = {
    .type = Type::kList,
    .name = "list",
    .redis_number = 1,
    .encoding_name = EncodingName,
    .sizes_name = "lists_items",
    .row_bytes = RowBytes,
    .add_to_digest = AddToDigest,
    .save = Save,
    .load = Load,
    .add_piece = AddPiece,
    .rdb_forms = kForms,
};

}  // namespace cairn
