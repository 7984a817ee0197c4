// SPDX-License-Identifier: BSD-3-Clause
#include "types/rdb_load.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "base/assert.h"
#include "types/hash.h"
#include "types/list.h"
#include "types/set.h"
#include "types/set_builder.h"
#include "types/stream.h"
#include "types/stream_filler.h"
#include "types/stream_group.h"
#include "types/string.h"
#include "types/zset.h"

namespace cairn {
namespace {

// List items are pushed so many at a time.
constexpr size_t kPushed = 256;

PackRule RuleFor(const RdbValue& value) {
  return value.was_packed ? PackRule::kCountOnly : PackRule::kAllLimits;
}

Status LoadString(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  std::string scratch;
  return WriteText(keys, key, entry, value.items[0].Text(scratch), kNoExpiry);
}

Status Twice() { return Status::Corruption("rdb: an element is there twice"); }

Status AddItems(Keyspace& keys, const Key& key, const RdbValue& value) {
  List list(keys, key);
  TRY(list.Open());
  std::array<std::string, kPushed> scratch;
  std::array<std::string_view, kPushed> texts;
  for (size_t done = 0; done < value.items.size();) {
    const size_t count = std::min(kPushed, value.items.size() - done);
    for (size_t i = 0; i < count; ++i) texts[i] = value.items[done + i].Text(scratch[i]);
    TRY(list.Push(ListEnd::kTail, std::span(texts).first(count)));
    done += count;
  }
  return list.Save();
}

Status LoadList(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  if (entry.exists()) TRY(keys.Remove(key, entry));
  return AddItems(keys, key, value);
}

Status AddMembers(Keyspace& keys, const Key& key, const RdbValue& value) {
  Set set(keys, key);
  TRY(set.Open());
  std::string scratch;
  for (const Item& member : value.items.all()) {
    if (!TRY(set.Add(member.Text(scratch)))) return Twice();
  }
  return set.Save();
}

Status LoadSet(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  SetBuilder builder(keys.limits());
  std::string scratch;
  for (const Item& member : value.items.all()) builder.Add(member.Text(scratch));
  return builder.StoreTo(keys, key, entry, kNoExpiry);
}

Status AddScored(Keyspace& keys, const Key& key, const RdbValue& value) {
  Zset zset = TRY(Zset::Find(keys, key));
  std::string scratch;
  for (size_t i = 0; i < value.scores.size(); ++i) {
    const Added added = TRY(zset.Add(value.items[i].Text(scratch), value.scores[i], {}));
    if (added.outcome != Added::Outcome::kAdded) return Twice();
  }
  return zset.Save();
}

Status LoadZset(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  std::vector<ScoredMember> elements;
  elements.reserve(value.scores.size());
  for (size_t i = 0; i < value.scores.size(); ++i) {
    elements.push_back({value.items[i].ToString(), value.scores[i]});
  }
  return Zset::Replace(keys, key, entry, std::move(elements), RuleFor(value));
}

// A field whose time has passed is still there, though Set calls the next one of its name new.
Status AddFields(Keyspace& keys, const Key& key, const RdbValue& value) {
  Hash hash(keys, key);
  TRY(hash.Open());
  std::string field;
  std::string text;
  for (size_t i = 0; i + 1 < value.items.size(); i += 2) {
    const uint64_t before = hash.size();
    TRY(hash.Set(value.items[i].Text(field), value.items[i + 1].Text(text), Hash::Deadline::kKeep));
    if (hash.size() == before) return Twice();
    const int64_t when_ms = value.deadlines.empty() ? kNoExpiry : value.deadlines[i / 2];
    if (when_ms != kNoExpiry) TRY(hash.SetDeadline(value.items[i].Text(field), when_ms));
  }
  return hash.Save();
}

Status LoadHash(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  TRY(Hash::Replace(keys, key, entry, value.items.all(), RuleFor(value)));
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

// What is known of a stream when all of its entries have been read.
Status FinishStream(Stream& stream, const RdbStream& value) {
  stream.state().last_id = value.last_id();
  stream.state().max_deleted_id = value.max_deleted_id();
  stream.state().entries_added = value.entries_added();
  for (const RdbStream::Group& group : value.groups()) TRY(LoadGroup(stream, value, group));
  return Ok();
}

// After each piece the stream is one of the entries so far, owner row and all: compaction would drop chunks that
// nobody owns.
Status AddNodes(Keyspace& keys, const Key& key, const RdbValue& value) {
  Stream stream = TRY(Stream::Find(keys, key));
  if (!stream.exists()) stream.Create();
  AddEntries(stream, *value.stream);
  if (value.stream->at_end()) TRY(FinishStream(stream, *value.stream));
  return stream.Save();
}

Status LoadStream(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  if (entry.exists()) TRY(keys.Remove(key, entry));
  TRY(keys.txn().command().Spend(value.stream->size()));
  return AddNodes(keys, key, value);
}

struct LoadRow {
  Type type;
  Status (*load)(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value);
  Status (*add)(Keyspace& keys, const Key& key, const RdbValue& piece);
};

constexpr LoadRow kTypes[] = {
    {Type::kString, LoadString, nullptr}, {Type::kList, LoadList, AddItems}, {Type::kSet, LoadSet, AddMembers},
    {Type::kZset, LoadZset, AddScored},   {Type::kHash, LoadHash, AddFields}, {Type::kStream, LoadStream, AddNodes},
};

const LoadRow& RowOf(Type type) {
  const auto row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                [type](const LoadRow& candidate) { return candidate.type == type; });
  ASSERT(row != std::end(kTypes), "what can be read can be stored");
  return *row;
}

}  // namespace

Status LoadRdbValue(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  TRY(keys.txn().command().Spend(value.items.size()));
  return RowOf(value.type).load(keys, key, entry, value);
}

Status AddRdbPiece(Keyspace& keys, const Key& key, const RdbValue& piece) {
  const LoadRow& row = RowOf(piece.type);
  ASSERT(row.add != nullptr, "only what has parts comes in pieces");
  return row.add(keys, key, piece);
}

}  // namespace cairn
