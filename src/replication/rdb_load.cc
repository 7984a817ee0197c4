// SPDX-License-Identifier: BSD-3-Clause
#include "replication/rdb_load.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "base/assert.h"
#include "types/hash.h"
#include "types/list.h"
#include "types/set_builder.h"
#include "types/stream.h"
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

Status LoadList(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  if (entry.exists()) TRY(keys.Remove(key, entry));
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

Status LoadSet(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  SetBuilder builder(keys.limits());
  std::string scratch;
  for (const Item& member : value.items.all()) builder.Add(member.Text(scratch));
  return builder.StoreTo(keys, key, entry, kNoExpiry);
}

Status LoadZset(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  std::vector<ScoredMember> elements;
  elements.reserve(value.scores.size());
  for (size_t i = 0; i < value.scores.size(); ++i) {
    elements.push_back({value.items[i].ToString(), value.scores[i]});
  }
  return Zset::Replace(keys, key, entry, std::move(elements), RuleFor(value));
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

Status LoadEntries(Stream& stream, const RdbStream& value) {
  std::vector<std::string> scratch;
  std::vector<std::string_view> texts;
  for (size_t i = 0; i < value.size(); ++i) {
    const std::span<const Item> fields = value.fields(i);
    scratch.resize(std::max(scratch.size(), fields.size()));
    texts.clear();
    for (size_t at = 0; at < fields.size(); ++at) texts.push_back(fields[at].Text(scratch[at]));
    TRY(stream.Append(value.id(i), texts));
  }
  return Ok();
}

Status LoadStream(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  if (entry.exists()) TRY(keys.Remove(key, entry));
  TRY(keys.txn().Spend(value.stream->size()));
  Stream stream = TRY(Stream::Find(keys, key));
  stream.Create();
  TRY(LoadEntries(stream, *value.stream));
  stream.state().last_id = value.stream->last_id();
  stream.state().max_deleted_id = value.stream->max_deleted_id();
  stream.state().entries_added = value.stream->entries_added();
  for (const RdbStream::Group& group : value.stream->groups()) {
    TRY(LoadGroup(stream, *value.stream, group));
  }
  return stream.Save();
}

struct LoadRow {
  Type type;
  Status (*load)(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value);
};

constexpr LoadRow kTypes[] = {
    {Type::kString, LoadString}, {Type::kList, LoadList}, {Type::kSet, LoadSet},
    {Type::kZset, LoadZset},     {Type::kHash, LoadHash}, {Type::kStream, LoadStream},
};

}  // namespace

Status LoadRdbValue(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  const auto row =
      std::find_if(std::begin(kTypes), std::end(kTypes),
                   [&value](const LoadRow& candidate) { return candidate.type == value.type; });
  ASSERT(row != std::end(kTypes), "what can be read can be stored");
  TRY(keys.txn().Spend(value.items.size()));
  return row->load(keys, key, entry, value);
}

}  // namespace cairn
