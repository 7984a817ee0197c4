// SPDX-License-Identifier: BSD-3-Clause
#include "types/rdb_save.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/number.h"
#include "encoding/varint.h"
#include "rdb/intset.h"
#include "rdb/listpack.h"
#include "rdb/quicklist.h"
#include "rdb/stream_node.h"
#include "types/hash.h"
#include "types/list.h"
#include "types/set.h"
#include "types/stream.h"
#include "types/stream_group.h"
#include "types/string.h"
#include "types/zset.h"

namespace cairn {
namespace {

// A collection in a file that has more elements, or takes more bytes, is written as it is read.
constexpr uint64_t kMostAtOnce = 4096;
constexpr size_t kMostBytesAtOnce = 1 << 20;

size_t MostBytesHeld(const RdbWriter& writer) { return writer.spills() ? kMostBytesAtOnce : SIZE_MAX; }

// Whether Redis would call the value by the name of its small encoding.
bool IsSmall(const KeyEntry& entry) {
  return entry.encoding() != Encoding::kSpread && !entry.grown();
}

Status SaveString(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer) {
  const StringText text = TRY(ReadText(keys, key, entry));
  writer.Type(RdbType::kString);
  writer.Text(text.view());
  return Ok();
}

// As items in a row, the form before quicklists, for which nothing but their number must be known first.
Status SaveLongList(List& list, RdbWriter& writer) {
  writer.Type(RdbType::kList);
  writer.Length(list.size());
  std::string scratch;
  return list.Visit(0, list.size(),
                    [&](const Item& item) { writer.Text(item.Text(scratch)); });
}

Status SaveList(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer) {
  List list(keys, key);
  TRY(list.Open(std::move(entry)));
  if (writer.spills() && list.size() > kMostAtOnce) return SaveLongList(list, writer);
  QuicklistWriter nodes(keys.limits().list_max_listpack_size.load(std::memory_order_relaxed));
  const size_t most_bytes = MostBytesHeld(writer);
  TRY(list.Visit(0, list.size(), [&](const Item& item) {
    if (nodes.size_bytes() <= most_bytes) nodes.Add(item);
  }));
  if (nodes.size_bytes() > most_bytes) return SaveLongList(list, writer);
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

// Fields whose time has passed go along, as in Redis: who reads them drops them.
Status SaveHashWithTimes(const Hash& hash, RdbWriter& writer) {
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

Status SaveHash(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer) {
  const bool is_small = IsSmall(entry);
  Hash hash(keys, key);
  TRY(hash.Open(std::move(entry)));
  if (hash.has_deadlines()) return SaveHashWithTimes(hash, writer);
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

void SaveId(StreamId id, RdbWriter& writer) {
  writer.Length(id.ms);
  writer.Length(id.seq);
}

void SaveRawId(StreamId id, RdbWriter& writer) {
  std::string bytes;
  AppendU64(bytes, id.ms);
  AppendU64(bytes, id.seq);
  writer.Raw(bytes);
}

Status SaveGroup(const StreamGroup& group, RdbWriter& writer) {
  writer.Text(group.name());
  SaveId(group.last_id(), writer);
  writer.Length(static_cast<uint64_t>(group.entries_read()));
  std::map<std::string, std::vector<StreamId>, std::less<>> owned;
  writer.Length(group.pending());
  TRY(group.ForEachPending({}, kLastStreamId, [&](const PendingEntry& entry) -> Result<bool> {
    SaveRawId(entry.id, writer);
    writer.Fixed64(entry.delivered_ms);
    writer.Length(entry.deliveries);
    owned[entry.consumer].push_back(entry.id);
    return true;
  }));
  writer.Length(group.consumers());
  return group.ForEachConsumer([&](const StreamConsumer& consumer) -> Result<bool> {
    writer.Text(consumer.name);
    writer.Fixed64(consumer.seen_ms);
    const std::vector<StreamId>& ids = owned[consumer.name];
    writer.Length(ids.size());
    for (const StreamId id : ids) SaveRawId(id, writer);
    return true;
  });
}

// Until so many bytes are held.
Status VisitInto(const Stream& stream, StreamNodesWriter& nodes, size_t most_bytes = SIZE_MAX) {
  return stream.Visit({}, kLastStreamId, false, [&](const StreamEntry& each) -> Result<bool> {
    nodes.Add(each);
    return nodes.size_bytes() <= most_bytes;
  });
}

// The number of nodes comes first; a long stream is read twice rather than held.
Status SaveLongNodes(const Stream& stream, int64_t entries, int64_t bytes, RdbWriter& writer) {
  std::string nowhere;
  const RdbFilePart counting{.folds = false, .spill = [](std::string& out) { out.clear(); }};
  RdbWriter counter(nowhere, &counting);
  StreamNodesWriter counted(entries, bytes, &counter);
  TRY(VisitInto(stream, counted));
  writer.Length(counted.FinishDirect());
  StreamNodesWriter nodes(entries, bytes, &writer);
  TRY(VisitInto(stream, nodes));
  nodes.FinishDirect();
  return Ok();
}

Status SaveNodes(const Stream& stream, const Limits& limits, RdbWriter& writer) {
  const int64_t entries = limits.stream_node_max_entries;
  const int64_t bytes = limits.stream_node_max_bytes;
  if (writer.spills() && stream.state().count > kMostAtOnce) return SaveLongNodes(stream, entries, bytes, writer);
  const size_t most_held = MostBytesHeld(writer);
  StreamNodesWriter nodes(entries, bytes);
  TRY(VisitInto(stream, nodes, most_held));
  if (nodes.size_bytes() > most_held) return SaveLongNodes(stream, entries, bytes, writer);
  nodes.Finish(writer);
  return Ok();
}

Status SaveStream(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer) {
  const Stream stream = TRY(Stream::Open(keys, key, std::move(entry)));
  writer.Type(RdbType::kStreamListpacks2);
  TRY(SaveNodes(stream, keys.limits(), writer));
  const StreamState& state = stream.state();
  writer.Length(state.count);
  SaveId(state.last_id, writer);
  SaveId(state.first_id, writer);
  SaveId(state.max_deleted_id, writer);
  writer.Length(state.entries_added);
  writer.Length(state.groups);
  return StreamGroup::ForEach(stream, [&writer](const StreamGroup& group) -> Result<bool> {
    TRY(SaveGroup(group, writer));
    return true;
  });
}

struct SaveRow {
  Type type;
  Status (*save)(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer);
};

constexpr SaveRow kTypes[] = {
    {Type::kString, SaveString}, {Type::kList, SaveList}, {Type::kSet, SaveSet},
    {Type::kZset, SaveZset},     {Type::kHash, SaveHash}, {Type::kStream, SaveStream},
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
