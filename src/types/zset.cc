// SPDX-License-Identifier: BSD-3-Clause
//
// One element at a time, and the record. Walks over many elements are in zset_walk.cc.
#include "types/zset.h"

#include <algorithm>
#include <cmath>

namespace cairn {
namespace {

Status WritePacked(Keyspace& keys, const Key& key, const KeyEntry& entry, bool is_large, int64_t expire_ms,
                   std::string_view payload) {
  const RecordHeader header{
      .type = Type::kZset, .encoding = Encoding::kPacked, .grown = is_large, .expire_ms = expire_ms};
  return keys.Write(key, entry, header, payload);
}

Status WriteSpread(Keyspace& keys, const Key& key, const KeyEntry& entry, int64_t expire_ms, const SpreadZset& spread) {
  const RecordHeader header{.type = Type::kZset, .encoding = Encoding::kSpread, .expire_ms = expire_ms};
  return keys.Write(key, entry, header, spread.Payload());
}

// The large encoding keeps the sign of -0.0, as in Redis, and a packed set does not.
bool IsNegativeZero(double score) { return score == 0 && std::signbit(score); }

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

struct Packed {
  std::string payload;
  bool is_large = false;  // see MostPackedBytes
};

// Packs sorted elements; nullopt if the limits do not allow it.
std::optional<Packed> Pack(const std::vector<ScoredMember>& elements, const Limits& limits, PackRule rule) {
  const uint64_t longest = rule == PackRule::kCountOnly ? UINT64_MAX : ReadLimit(limits.zset_max_listpack_value);
  Packed packed{.is_large = elements.size() > ReadLimit(limits.zset_max_listpack_entries)};
  bool has_negative_zero = false;
  PackedZsetWriter writer;
  for (const ScoredMember& element : elements) {
    packed.is_large = packed.is_large || element.member.size() > longest;
    has_negative_zero = has_negative_zero || IsNegativeZero(element.score);
    writer.Add(element.member, element.score);
    if (writer.bytes() > MostPackedBytes(limits, packed.is_large, elements.size())) return std::nullopt;
  }
  if (packed.is_large && has_negative_zero) return std::nullopt;
  packed.payload = writer.Take();
  return packed;
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
      is_large_ = entry_.grown();
      return packed_count_ == 0 ? Status::Corruption("packed zset: no elements") : Ok();
    default: return Status::Corruption("zset: an invalid encoding");
  }
}

// Finds a member of the packed set, and charges the walk.
Result<std::optional<PackedZset::Found>> Zset::FindPacked(std::string_view member) const {
  if (packed_count_ == 0) return std::optional<PackedZset::Found>();
  TRY(keys_->txn().command().SpendOnPacked(packed_count_));
  return PackedZset(packed()).Find(member);
}

Result<std::optional<double>> Zset::Score(std::string_view member) {
  if (spread_) return spread_->Score(member);
  const auto found = TRY(FindPacked(member));
  return found ? std::optional<double>(found->entry.score) : std::nullopt;
}

Result<std::optional<Zset::Ranked>> Zset::RankOf(std::string_view member, bool reverse) {
  Ranked ranked;
  if (spread_) {
    const std::optional<double> score = TRY(spread_->Score(member));
    if (!score) return std::optional<Ranked>();
    ranked = {TRY(spread_->RankOf(member, *score)), *score};
  } else {
    const auto found = TRY(FindPacked(member));
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
  const std::optional<PackedZset::Found> found = TRY(FindPacked(member));
  const auto current = found ? std::optional<double>(found->entry.score) : std::nullopt;
  const Added added = Decide(current, score, rules);
  const bool is_new = added.outcome == Added::Outcome::kAdded;
  if (!is_new && added.outcome != Added::Outcome::kUpdated) return added;
  if (!StaysPacked(member, is_new, added.score)) {
    TRY(Spread());
    if (is_new) {
      spread_->Insert(member, added.score);
    } else {
      spread_->Rescore(member, *current, added.score);
    }
    return added;
  }
  TRY(keys_->txn().command().SpendOnPacked(packed_count_));  // the bytes are copied
  const std::string_view old = packed_count_ > 0 ? packed() : std::string_view();
  SetPacked(TRY(PackedZset(old).With(member, added.score, is_new ? nullptr : &found->entry)),
            packed_count_ + (is_new ? 1 : 0));
  if (changed_->size() > MostPackedBytes(keys_->limits(), is_large_, packed_count_)) TRY(Spread());
  return added;
}

// Decides whether the packed set can hold this element.
bool Zset::StaysPacked(std::string_view member, bool is_new, double score) {
  const Limits& limits = keys_->limits();
  is_large_ = is_large_ || (is_new && (packed_count_ >= ReadLimit(limits.zset_max_listpack_entries) ||
                                       member.size() > ReadLimit(limits.zset_max_listpack_value)));
  if (!is_large_) return true;
  const size_t bytes = (packed_count_ > 0 ? packed().size() : 0) + (is_new ? member.size() : 0);
  return !IsNegativeZero(score) && bytes <= MostPackedBytes(limits, true, packed_count_ + 1);
}

Result<bool> Zset::Remove(std::string_view member) {
  if (spread_) {
    const std::optional<double> score = TRY(spread_->Score(member));
    if (score) spread_->Erase(member, *score);
    return score.has_value();
  }
  const auto found = TRY(FindPacked(member));
  if (!found) return false;
  SetPacked(TRY(PackedZset(packed()).Without(found->entry.begin, found->entry.end, 1)), packed_count_ - 1);
  return true;
}

void Zset::SetPacked(std::string payload, uint64_t count) {
  changed_ = std::move(payload);
  packed_count_ = count;
}

Status Zset::Spread() {
  SpreadZset spread(keys_->txn(), keys_->id(), key_->stripe());
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
  is_large_ = false;
  SetPacked({}, 0);
}

Status Zset::Save() {
  if (size() == 0) return entry_.exists() ? keys_->Remove(*key_, entry_) : Ok();
  const int64_t expire_ms = entry_.expire_ms();
  if (!spread_) {
    if (!changed_) return Ok();
    return WritePacked(*keys_, *key_, entry_, is_large_, expire_ms, *changed_);
  }
  const bool is_written =
      entry_.exists() && entry_.encoding() == Encoding::kSpread && entry_.payload() == spread_->Payload();
  return is_written ? Ok() : WriteSpread(*keys_, *key_, entry_, expire_ms, *spread_);
}

Status Zset::Replace(Keyspace& keys, const Key& key, const KeyEntry& entry, std::vector<ScoredMember> elements,
                     PackRule rule) {
  if (elements.empty()) return entry.exists() ? keys.Remove(key, entry) : Ok();
  if (!std::is_sorted(elements.begin(), elements.end())) std::sort(elements.begin(), elements.end());
  if (const auto packed = Pack(elements, keys.limits(), rule)) {
    return WritePacked(keys, key, entry, packed->is_large, kNoExpiry, packed->payload);
  }
  SpreadZset spread(keys.txn(), keys.id(), key.stripe());
  for (const ScoredMember& element : elements) {
    TRY(keys.txn().command().Spend(1));
    spread.Insert(element.member, element.score);
  }
  return WriteSpread(keys, key, entry, kNoExpiry, spread);
}

}  // namespace cairn
