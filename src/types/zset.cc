// SPDX-License-Identifier: BSD-3-Clause
//
// One element at a time, and the record. Walks over many elements are in zset_walk.cc.
#include "types/zset.h"

#include <algorithm>
#include <cmath>

namespace cairn {
namespace {

Status WriteZset(Keyspace& keys, const Key& key, const KeyEntry& entry, Encoding encoding, int64_t expire_ms,
                 std::string_view payload) {
  const RecordHeader header{.type = Type::kZset, .encoding = encoding, .expire_ms = expire_ms};
  return keys.Write(key, entry, header, payload);
}

// Decides what Add does to a member whose score is `current` (nullopt if it does not exist).
Added Decide(std::optional<double> current, double score, const AddRules& rules) {
  using Outcome = Added::Outcome;
  if (!current) {
    if (rules.only_existing) return Added{};
    return Added{Outcome::kAdded, score};
  }
  if (rules.only_new) return Added{};
  if (rules.increment) score += *current;
  if (std::isnan(score)) return Added{.outcome = Outcome::kNotANumber};
  if (rules.only_less && score >= *current) return Added{};
  if (rules.only_greater && score <= *current) return Added{};
  return Added{score == *current ? Outcome::kUnchanged : Outcome::kUpdated, score};
}

}  // namespace

Status Zset::Open() { return Open(TRY(keys_->FindTyped(*key_, Type::kZset))); }

Status Zset::Open(KeyEntry entry) {
  entry_ = std::move(entry);
  if (!entry_.exists()) return Ok();
  switch (entry_.encoding()) {
    case Encoding::kSpread:
      spread_ = TRY(SpreadZset::Open(keys_->txn(), key_->stripe(), entry_.payload()));
      return Ok();
    case Encoding::kPacked:
      packed_count_ = PackedReader(entry_.payload()).count();
      return packed_count_ == 0 ? Status::Corruption("packed zset: no elements") : Ok();
    default: return Status::Corruption("zset: an invalid encoding");
  }
}

Result<std::optional<double>> Zset::Score(std::string_view member) {
  if (spread_) return spread_->Score(member);
  if (packed_count_ == 0) return std::optional<double>();
  const auto found = TRY(PackedZset(packed()).Find(member));
  return found ? std::optional<double>(found->entry.score) : std::nullopt;
}

Result<std::optional<Zset::Ranked>> Zset::RankOf(std::string_view member, bool reverse) {
  Ranked ranked;
  if (spread_) {
    const std::optional<double> score = TRY(spread_->Score(member));
    if (!score) return std::optional<Ranked>();
    ranked = {TRY(spread_->RankOf(member, *score)), *score};
  } else {
    if (packed_count_ == 0) return std::optional<Ranked>();
    const auto found = TRY(PackedZset(packed()).Find(member));
    if (!found) return std::optional<Ranked>();
    ranked = {found->rank, found->entry.score};
  }
  if (reverse) ranked.rank = size() - 1 - ranked.rank;
  return std::optional<Ranked>(ranked);
}

Result<Added> Zset::Add(std::string_view member, double score, const AddRules& rules) {
  return spread_ ? AddSpread(member, score, rules) : AddPacked(member, score, rules);
}

Result<Added> Zset::AddSpread(std::string_view member, double score, const AddRules& rules) {
  const std::optional<double> current = TRY(spread_->Score(member));
  const Added added = Decide(current, score, rules);
  if (added.outcome == Added::Outcome::kAdded) spread_->Insert(member, added.score);
  if (added.outcome == Added::Outcome::kUpdated) spread_->Rescore(member, *current, added.score);
  return added;
}

Result<Added> Zset::AddPacked(std::string_view member, double score, const AddRules& rules) {
  std::optional<PackedZset::Found> found;
  if (packed_count_ > 0) found = TRY(PackedZset(packed()).Find(member));
  const auto current = found ? std::optional<double>(found->entry.score) : std::nullopt;
  const Added added = Decide(current, score, rules);
  if (added.outcome == Added::Outcome::kAdded) {
    if (!HasRoomFor(member)) {
      TRY(Spread());
      spread_->Insert(member, added.score);
    } else {
      const std::string_view old = packed_count_ > 0 ? packed() : std::string_view();
      SetPacked(TRY(PackedZset(old).With(member, added.score, nullptr)), packed_count_ + 1);
    }
  } else if (added.outcome == Added::Outcome::kUpdated) {
    SetPacked(TRY(PackedZset(packed()).With(member, added.score, &found->entry)), packed_count_);
  }
  const auto max_bytes = static_cast<size_t>(keys_->limits().packed_max_bytes.load());
  if (!spread_ && changed_ && changed_->size() > max_bytes) TRY(Spread());
  return added;
}

// Returns whether the limits of redis.conf allow one more member in a packed set.
bool Zset::HasRoomFor(std::string_view member) const {
  const Limits& limits = keys_->limits();
  return static_cast<int64_t>(packed_count_) < limits.zset_max_listpack_entries &&
         static_cast<int64_t>(member.size()) <= limits.zset_max_listpack_value;
}

Result<bool> Zset::Remove(std::string_view member) {
  if (spread_) {
    const std::optional<double> score = TRY(spread_->Score(member));
    if (score) spread_->Erase(member, *score);
    return score.has_value();
  }
  if (packed_count_ == 0) return false;
  const PackedZset zset(packed());
  const auto found = TRY(zset.Find(member));
  if (!found) return false;
  SetPacked(TRY(zset.Without(found->entry.begin, found->entry.end, 1)), packed_count_ - 1);
  return true;
}

void Zset::SetPacked(std::string payload, uint64_t count) {
  changed_ = std::move(payload);
  packed_count_ = count;
}

Status Zset::Spread() {
  SpreadZset spread(keys_->txn(), key_->stripe());
  if (packed_count_ > 0) {
    std::string scratch;
    const std::vector<PackedZset::Entry> entries = TRY(PackedZset(packed()).Read());
    for (const PackedZset::Entry& entry : entries) {
      spread.Insert(entry.member.Text(scratch), entry.score);
    }
  }
  spread_ = spread;
  changed_.reset();
  packed_count_ = 0;
  return Ok();
}

// Removes all elements. Rows of a spread set stay: compaction drops them once the key is deleted.
void Zset::Clear() {
  spread_.reset();
  SetPacked({}, 0);
}

Status Zset::Save() {
  if (size() == 0) return entry_.exists() ? keys_->Remove(*key_, entry_) : Ok();
  const int64_t expire_ms = entry_.expire_ms();
  if (!spread_) {
    if (!changed_) return Ok();
    return WriteZset(*keys_, *key_, entry_, Encoding::kPacked, expire_ms, *changed_);
  }
  const std::string payload = spread_->Payload();
  const bool is_written = entry_.exists() && entry_.encoding() == Encoding::kSpread && entry_.payload() == payload;
  if (is_written) return Ok();
  return WriteZset(*keys_, *key_, entry_, Encoding::kSpread, expire_ms, payload);
}

Status Zset::Replace(Keyspace& keys, const Key& key, const KeyEntry& entry, std::vector<ScoredMember> elements,
                     PackRule rule) {
  if (elements.empty()) return entry.exists() ? keys.Remove(key, entry) : Ok();
  if (!std::is_sorted(elements.begin(), elements.end())) std::sort(elements.begin(), elements.end());
  const Limits& limits = keys.limits();
  const auto max_value =
      rule == PackRule::kCountOnly ? SIZE_MAX : static_cast<size_t>(limits.zset_max_listpack_value.load());
  const auto max_bytes = static_cast<size_t>(limits.packed_max_bytes.load());
  bool fits = static_cast<int64_t>(elements.size()) <= limits.zset_max_listpack_entries;
  PackedZsetWriter writer;
  for (size_t i = 0; fits && i < elements.size(); ++i) {
    writer.Add(elements[i].member, elements[i].score);
    fits = elements[i].member.size() <= max_value && writer.bytes() <= max_bytes;
  }
  if (fits) return WriteZset(keys, key, entry, Encoding::kPacked, kNoExpiry, writer.Take());
  SpreadZset spread(keys.txn(), key.stripe());
  for (const ScoredMember& element : elements) spread.Insert(element.member, element.score);
  return WriteZset(keys, key, entry, Encoding::kSpread, kNoExpiry, spread.Payload());
}

}  // namespace cairn
