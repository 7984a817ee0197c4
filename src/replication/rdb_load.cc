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
  return Hash::Replace(keys, key, entry, value.items.all(), RuleFor(value));
}

struct LoadRow {
  Type type;
  Status (*load)(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value);
};

constexpr LoadRow kTypes[] = {
    {Type::kString, LoadString}, {Type::kList, LoadList}, {Type::kSet, LoadSet},
    {Type::kZset, LoadZset},     {Type::kHash, LoadHash},
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
