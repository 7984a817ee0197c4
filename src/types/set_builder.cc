// SPDX-License-Identifier: BSD-3-Clause
#include "types/set_builder.h"

#include <algorithm>

#include "base/number.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr uint64_t kBytesOfText = 64;  // of a text in both containers, besides its characters

}  // namespace

bool SetBuilder::Add(std::string_view member) {
  if (only_integers_) {
    const auto value = ParseInt64(member);
    if (value) {
      const bool is_new = integers_.insert(*value).second;
      is_large_ = is_large_ || integers_.size() > ReadLimit(limits_.set_max_intset_entries);
      if (integers_.size() > MostPackedBytes(limits_, is_large_, integers_.size())) TurnToTexts();
      return is_new;
    }
    TurnToTexts();
  }
  return AddText(member);
}

bool SetBuilder::AddText(std::string_view member) {
  if (index_.contains(member)) return false;
  keyspace_.txn().command().memory().Use(kBytesOfText + member.size());
  index_.insert(texts_.emplace_back(member));
  return true;
}

void SetBuilder::TurnToTexts() {
  only_integers_ = false;
  is_large_ = false;  // the limits of texts apply from now on
  std::string text;
  for (const int64_t value : Ascending()) {
    text.clear();
    AppendInt64(text, value);
    AddText(text);
  }
  integers_.clear();
}

std::vector<int64_t> SetBuilder::Ascending() const {
  std::vector<int64_t> values(integers_.begin(), integers_.end());
  std::sort(values.begin(), values.end());
  return values;
}

Status SetBuilder::ForEach(MemberVisitor visit) const {
  std::string text;
  for (const int64_t value : Ascending()) {
    text.clear();
    AppendInt64(text, value);
    if (!TRY(visit(text))) return Ok();
  }
  for (const std::string& member : texts_) {
    if (!TRY(visit(member))) return Ok();
  }
  return Ok();
}

bool SetBuilder::PacksInto(std::string& payload, bool& is_large) const {
  is_large = is_large || size() > ReadLimit(limits_.set_max_listpack_entries);
  const uint64_t longest = ReadLimit(limits_.set_max_listpack_value);
  AppendVarint(payload, texts_.size());
  for (const std::string& member : texts_) {
    is_large = is_large || member.size() > longest;
    AppendItem(payload, member);
    if (payload.size() > MostPackedBytes(limits_, is_large, size())) return false;
  }
  return true;
}

Status SetBuilder::StoreTo(const Key& key, const KeyEntry& entry, int64_t expire_ms) const {
  if (size() == 0) return entry.exists() ? keyspace_.Remove(key, entry) : Ok();
  RecordHeader header{.type = Type::kSet, .grown = is_large_, .expire_ms = expire_ms};
  std::string payload;
  if (only_integers_) {
    payload = EncodeIntegers(Ascending());
    if (payload.size() <= MostPackedBytes(limits_, is_large_, size())) {
      header.encoding = Encoding::kIntegers;
      return keyspace_.Write(key, entry, header, payload);
    }
  } else if (PacksInto(payload, header.grown)) {
    header.encoding = Encoding::kPacked;
    return keyspace_.Write(key, entry, header, payload);
  }
  SpreadElements spread(keyspace_.txn(), keyspace_.id(), key.stripe());
  TRY(ForEach([&](std::string_view member) -> Result<bool> {
    TRY(keyspace_.txn().command().Spend(1));
    spread.PutNew(member, {});
    return true;
  }));
  payload.clear();
  AppendSpreadPayload(payload, spread.id(), spread.count());
  header.encoding = Encoding::kSpread;
  header.grown = false;
  return keyspace_.Write(key, entry, header, payload);
}

}  // namespace cairn
