// SPDX-License-Identifier: BSD-3-Clause
//
// The type row of sorted sets (types/zset.h). In RDB a packed one is a listpack, others are members and scores in turn.
#include <cstdio>
#include <string>
#include <vector>

#include "base/number.h"
#include "rdb/listpack.h"
#include "rdb/ziplist.h"
#include "types/value_types.h"
#include "types/zset.h"

namespace cairn {
namespace {

std::string_view EncodingName(const KeyEntry& entry) { return IsSmall(entry) ? "listpack" : "skiplist"; }

Result<uint64_t> RowBytes(Transaction& txn, const Key& key, const KeyEntry& entry, uint64_t samples) {
  return TRY(EstimateRows(txn, key, entry, Space::kElements, samples)) +
         TRY(EstimateRows(txn, key, entry, Space::kScores, samples));
}

Status AddToDigest(Digest& digest, Keyspace& keys, const Key& key, KeyEntry entry) {
  Zset zset(keys, key);
  TRY(zset.Open(std::move(entry)));
  return zset.ForEach([&](std::string_view member, double score) -> Result<bool> {
    char text[64];
    const int size = std::snprintf(text, sizeof text, "%.17g", score);
    Digest pair;
    pair.Mix(member);
    pair.Mix(std::string_view(text, static_cast<size_t>(size)));
    digest.XorOf(pair);
    return true;
  });
}

Status SaveSmall(Zset& zset, RdbWriter& writer) {
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

Status Save(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer) {
  const bool is_small = IsSmall(entry);
  Zset zset(keys, key);
  TRY(zset.Open(std::move(entry)));
  if (is_small) return SaveSmall(zset, writer);
  writer.Type(RdbType::kZset2);
  writer.Length(zset.size());
  uint64_t seen = 0;
  // From the highest to the lowest, as Redis does: a loader that fills a skip list then always inserts at its head.
  TRY(zset.ForEach(
      [&writer, &seen](std::string_view member, double score) -> Result<bool> {
        writer.Text(member);
        writer.BinaryScore(score);
        ++seen;
        return true;
      },
      true));
  return seen == zset.size() ? Ok() : Status::Corruption("spread zset: the count does not match the members");
}

Status AddPiece(Keyspace& keys, const Key& key, const RdbValue& value) {
  Zset zset(keys, key);
  TRY(zset.Open());
  std::string scratch;
  for (size_t i = 0; i < value.scores.size(); ++i) {
    const Added added = TRY(zset.Add(value.items[i].Text(scratch), value.scores[i], {}));
    if (added.outcome != Added::Outcome::kAdded) return ElementTwice();
  }
  return zset.Save();
}

Status Load(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  std::vector<ScoredMember> elements;
  elements.reserve(value.scores.size());
  for (size_t i = 0; i < value.scores.size(); ++i) {
    elements.push_back({value.items[i].ToString(), value.scores[i]});
  }
  return Zset::Replace(keys, key, entry, std::move(elements), value.pack_rule());
}

template <Result<double> (RdbReader::*kScore)()>
Status ReadScored(RdbReader& reader, RdbValue& value) {
  TRY(ReadRdbText(reader, value));
  value.scores.push_back(TRY((reader.*kScore)()));
  return Ok();
}

Result<double> ScoreOf(const Item& item) {
  if (item.is_integer()) return static_cast<double>(item.integer());
  const auto score = ParseDouble(item.bytes());
  if (!score) return Status::Corruption("rdb: a score that is not a number");
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

constexpr RdbForm kForms[] = {
    {RdbType::kZset, ReadScored<&RdbReader::DigitsScore>, 2},
    {RdbType::kZset2, ReadScored<&RdbReader::BinaryScore>, 9},
    {RdbType::kZsetZiplist, ReadPackedZset<ReadZiplist>, 0, "Zset ziplist"},
    {RdbType::kZsetListpack, ReadPackedZset<ReadListpack>, 0, "Zset listpack"},
};

}  // namespace

const ValueType kZsetType = {
    .type = Type::kZset,
    .name = "zset",
    .redis_number = 3,
    .encoding_name = EncodingName,
    .sizes_name = "zsets_items",
    .row_bytes = RowBytes,
    .has_scores = true,
    .add_to_digest = AddToDigest,
    .save = Save,
    .load = Load,
    .add_piece = AddPiece,
    .rdb_forms = kForms,
    .items_per_name = 1,
};

}  // namespace cairn
