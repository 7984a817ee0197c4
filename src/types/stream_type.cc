// SPDX-License-Identifier: BSD-3-Clause
//
// The type row of streams (types/stream.h). In RDB a stream is its nodes, its state, and its groups (rdb/rdb_stream.h).
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "encoding/varint.h"
#include "rdb/stream_node.h"
#include "types/stream.h"
#include "types/stream_filler.h"
#include "types/stream_group.h"
#include "types/value_types.h"

namespace cairn {
namespace {

std::string_view EncodingName(const KeyEntry&) { return "stream"; }

Status AddToDigest(Digest& digest, Keyspace& keys, const Key& key, KeyEntry entry) {
  Stream stream(keys, key);
  TRY(stream.Open(std::move(entry)));
  std::string scratch;
  return stream.ForEach({}, kLastStreamId, /*reverse=*/false, [&](const StreamEntry& item) -> Result<bool> {
    digest.Mix(std::to_string(item.id.ms) + "." + std::to_string(item.id.seq));
    for (const auto& [field, value] : item.fields) {
      digest.Mix(field.Text(scratch));
      digest.Mix(value.Text(scratch));
    }
    return true;
  });
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

// Adds the stream's entries to `nodes` until they hold `most_bytes`.
Status VisitInto(const Stream& stream, StreamNodesWriter& nodes, size_t most_bytes = SIZE_MAX) {
  return stream.ForEach({}, kLastStreamId, false, [&](const StreamEntry& each) -> Result<bool> {
    nodes.Add(each);
    return nodes.size_bytes() <= most_bytes;
  });
}

// The number of nodes comes first, so a long stream is read twice instead of being held in memory.
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
  if (stream.state().count > writer.most_elements_held()) return SaveLongNodes(stream, entries, bytes, writer);
  const size_t most_held = writer.most_bytes_held();
  StreamNodesWriter nodes(entries, bytes);
  TRY(VisitInto(stream, nodes, most_held));
  if (nodes.size_bytes() > most_held) return SaveLongNodes(stream, entries, bytes, writer);
  nodes.Finish(writer);
  return Ok();
}

Status Save(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer) {
  Stream stream(keys, key);
  TRY(stream.Open(std::move(entry)));
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

Status LoadGroup(Stream& stream, const RdbStream& value, const RdbStream::Group& read) {
  const int64_t entries_read =
      value.counts_reads() ? read.entries_read : EntriesAddedUpTo(stream.state(), read.last_id);
  StreamGroup group = StreamGroup::Create(stream, read.name, read.last_id, entries_read);
  for (const RdbStream::Consumer& each : read.consumers) {
    StreamConsumer* const consumer = TRY(group.ConsumerOrNew(each.name, each.seen_ms));
    consumer->active_ms = each.active_ms;
    for (const PendingEntry& entry : each.pending) TRY(group.Assign(*consumer, entry));
  }
  group.Save();
  return Ok();
}

void AddEntries(Stream& stream, const RdbStream& value) {
  StreamFiller filler(stream);
  std::vector<std::string> scratch;
  std::vector<std::string_view> texts;
  for (size_t i = 0; i < value.size(); ++i) {
    const std::span<const Item> fields = value.fields(i);
    scratch.resize(std::max(scratch.size(), fields.size()));
    texts.clear();
    for (size_t at = 0; at < fields.size(); ++at) texts.push_back(fields[at].Text(scratch[at]));
    filler.Add(value.id(i), texts);
  }
  filler.Finish();
}

// Stores the stream's state after all of its entries have been read.
Status Finish(Stream& stream, const RdbStream& value) {
  stream.state().last_id = value.last_id();
  stream.state().max_deleted_id = value.max_deleted_id();
  stream.state().entries_added = value.entries_added();
  for (const RdbStream::Group& group : value.groups()) TRY(LoadGroup(stream, value, group));
  return Ok();
}

// After each piece the stream is complete with the entries so far, including the owner row: compaction drops chunks
// without an owner.
Status AddPiece(Keyspace& keys, const Key& key, const RdbValue& value) {
  Stream stream(keys, key);
  TRY(stream.Open());
  if (!stream.exists()) stream.Create();
  AddEntries(stream, *value.stream);
  if (value.stream->at_end()) TRY(Finish(stream, *value.stream));
  return stream.Save();
}

Status Load(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  if (entry.exists()) TRY(keys.Remove(key, entry));
  TRY(keys.txn().command().Spend(value.stream->size()));
  return AddPiece(keys, key, value);
}

Status BeginRead(RdbReader&, RdbValue& value) {
  value.stream = std::make_unique<RdbStream>();
  return Ok();
}

Status ReadNode(RdbReader& reader, RdbValue& value) { return value.stream->ReadNode(reader, value.items); }

template <RdbType kType>
Status EndRead(RdbReader& reader, RdbValue& value) {
  return value.stream->ReadEnd(kType, reader, value.items);
}

template <RdbType kType>
constexpr RdbForm kForm = {kType, ReadNode, RdbStream::kLeastNodeBytes, {}, BeginRead, EndRead<kType>};

constexpr RdbForm kForms[] = {kForm<RdbType::kStreamListpacks>, kForm<RdbType::kStreamListpacks2>,
                              kForm<RdbType::kStreamListpacks3>, kForm<RdbType::kStreamListpacks4>,
                              kForm<RdbType::kStreamListpacks5>};

}  // namespace

const ValueType kStreamType = {
    .type = Type::kStream,
    .name = "stream",
    .redis_number = 6,
    .encoding_name = EncodingName,
    .has_scores = true,
    .add_to_digest = AddToDigest,
    .save = Save,
    .load = Load,
    .add_piece = AddPiece,
    .rdb_forms = kForms,
};

}  // namespace cairn
