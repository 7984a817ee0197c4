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
#include "types/stream_producers.h"
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

Status SaveConsumers(RdbType type, const StreamGroup& group,
                     const std::map<std::string, std::vector<StreamId>, std::less<>>& owned, RdbWriter& writer) {
  writer.Length(group.consumers());
  return group.ForEachConsumer([&](const StreamConsumer& consumer) -> Result<bool> {
    writer.Text(consumer.name);
    writer.Fixed64(consumer.seen_ms);
    if (type != RdbType::kStreamListpacks2) writer.Fixed64(consumer.active_ms);
    const auto found = owned.find(consumer.name);
    writer.Length(found == owned.end() ? 0 : found->second.size());
    if (found == owned.end()) return true;
    for (const StreamId id : found->second) SaveRawId(id, writer);
    return true;
  });
}

Status SaveGroup(RdbType type, const StreamGroup& group, RdbWriter& writer) {
  writer.Text(group.name());
  SaveId(group.last_id(), writer);
  writer.Length(static_cast<uint64_t>(group.entries_read()));
  std::map<std::string, std::vector<StreamId>, std::less<>> owned;
  std::map<uint64_t, StreamId> nacked;
  writer.Length(group.pending());
  TRY(group.ForEachPending({}, kLastStreamId, [&](const PendingEntry& entry) -> Result<bool> {
    SaveRawId(entry.id, writer);
    writer.Fixed64(entry.delivered_ms);
    writer.Length(entry.deliveries);
    if (entry.nacked) {
      nacked[*entry.nacked] = entry.id;
    } else {
      owned[entry.consumer].push_back(entry.id);
    }
    return true;
  }));
  TRY(SaveConsumers(type, group, owned, writer));
  if (type != RdbType::kStreamListpacks5) return Ok();
  writer.Length(nacked.size());
  for (const auto& [place, id] : nacked) SaveRawId(id, writer);
  return Ok();
}

Status SaveIdempotence(Stream& stream, RdbWriter& writer) {
  StreamIdempotence& kept = stream.state().idempotence;
  std::map<std::string, std::vector<std::pair<std::string, StreamId>>, std::less<>> producers;
  const StreamProducers reader(stream.txn(), stream.rows(), kept);
  TRY(reader.ForEach(stream.txn().command().now_ms(), [&](auto producer, auto id, StreamId entry) -> Result<bool> {
    producers[std::string(producer)].emplace_back(id, entry);
    return true;
  }));
  writer.Length(kept.duration_s);
  writer.Length(kept.most_ids);
  writer.Length(producers.size());
  for (const auto& [name, ids] : producers) {
    writer.Text(name);
    writer.Length(ids.size());
    for (const auto& [id, entry] : ids) {
      writer.Text(id);
      SaveId(entry, writer);
    }
  }
  writer.Length(kept.added);
  writer.Length(kept.duplicates);
  return Ok();
}

// The oldest type that holds the stream: the last two are those of Redis 8.6 and 8.8.
Result<RdbType> TypeOf(const Stream& stream) {
  bool has_nacked = false;
  TRY(StreamGroup::ForEach(stream, [&](const StreamGroup& group) -> Result<bool> {
    has_nacked = group.nacked() > 0;
    return !has_nacked;
  }));
  if (has_nacked) return RdbType::kStreamListpacks5;
  const bool is_plain = stream.state().idempotence == StreamIdempotence();
  return is_plain ? RdbType::kStreamListpacks2 : RdbType::kStreamListpacks4;
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
  const RdbType type = TRY(TypeOf(stream));
  writer.Type(type);
  TRY(SaveNodes(stream, keys.limits(), writer));
  const StreamState& state = stream.state();
  writer.Length(state.count);
  SaveId(state.last_id, writer);
  SaveId(state.first_id, writer);
  SaveId(state.max_deleted_id, writer);
  writer.Length(state.entries_added);
  writer.Length(state.groups);
  TRY(StreamGroup::ForEach(stream, [&](const StreamGroup& group) -> Result<bool> {
    TRY(SaveGroup(type, group, writer));
    return true;
  }));
  return type == RdbType::kStreamListpacks2 ? Ok() : SaveIdempotence(stream, writer);
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
  for (const PendingEntry& entry : read.nacked) TRY(group.Nack(entry));
  group.Save();
  return Ok();
}

Status AddEntries(Stream& stream, const RdbStream& value) {
  StreamFiller filler(stream);
  std::vector<std::string> scratch;
  std::vector<std::string_view> texts;
  for (size_t i = 0; i < value.size(); ++i) {
    TRY(stream.txn().command().Spend(1));
    const std::span<const Item> fields = value.fields(i);
    scratch.resize(std::max(scratch.size(), fields.size()));
    texts.clear();
    for (size_t at = 0; at < fields.size(); ++at) texts.push_back(fields[at].Text(scratch[at]));
    filler.Add(value.id(i), texts);
  }
  filler.Finish();
  return Ok();
}

Status LoadIdempotence(Stream& stream, const RdbStream::Idempotence& read) {
  if (read.duration_s == 0) return Ok();
  StreamIdempotence& kept = stream.state().idempotence;
  kept.duration_s = read.duration_s;
  kept.most_ids = read.most_ids;
  StreamProducers producers(stream.txn(), stream.rows(), kept);
  for (const RdbStream::Producer& producer : read.producers) {
    for (const auto& [id, entry] : producer.ids) TRY(producers.Add(producer.name, id, entry, /*now_ms=*/0));
  }
  kept.added = read.added;
  kept.duplicates = read.duplicates;
  return Ok();
}

// Stores the stream's state after all of its entries have been read.
Status Finish(Stream& stream, const RdbStream& value) {
  stream.state().last_id = value.last_id();
  stream.state().max_deleted_id = value.max_deleted_id();
  stream.state().entries_added = value.entries_added();
  for (const RdbStream::Group& group : value.groups()) TRY(LoadGroup(stream, value, group));
  return LoadIdempotence(stream, value.idempotence());
}

// After each piece the stream is complete with the entries so far, including the owner row: compaction drops chunks
// without an owner.
Status AddPiece(Keyspace& keys, const Key& key, const RdbValue& value) {
  Stream stream(keys, key);
  TRY(stream.Open());
  if (!stream.exists()) stream.Create();
  TRY(AddEntries(stream, *value.stream));
  if (value.stream->at_end()) TRY(Finish(stream, *value.stream));
  return stream.Save();
}

Status Load(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  if (entry.exists()) TRY(keys.Remove(key, entry));
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
