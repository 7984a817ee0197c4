// SPDX-License-Identifier: BSD-3-Clause
#include "types/set.h"

#include <algorithm>

#include "base/number.h"

namespace cairn {
namespace {

constexpr uint64_t kBytesOfPopped = 128;  // of a member and its tombstone, besides the characters of both

Status VisitPacked(const PackedEntries& packed, MemberVisitor visit) {
  PackedReader reader(packed.payload());
  Item item;
  std::string scratch;
  uint64_t seen = 0;
  while (reader.Next(item)) {
    ++seen;
    if (!TRY(visit(item.Text(scratch)))) return Ok();
  }
  if (!reader.status().ok()) return Status::Corruption(reader.status().text());
  if (seen != packed.count()) return Status::Corruption("packed set: the count does not match the members");
  return Ok();
}

// Visits integers as their texts.
class IntegerTexts {
 public:
  explicit IntegerTexts(MemberVisitor visit) : visit_(visit) {}
  Result<bool> operator()(int64_t value) {
    scratch_.clear();
    AppendInt64(scratch_, value);
    return visit_(scratch_);
  }

 private:
  MemberVisitor visit_;
  std::string scratch_;
};

Status EndOfIntegers(const PackedIntegersReader& reader) {
  return reader.status().ok() ? Ok() : Status::Corruption(reader.status().text());
}

}  // namespace

std::string EncodeIntegers(std::span<const int64_t> ascending) {
  PackedIntegersWriter writer(ascending.size());
  for (const int64_t value : ascending) writer.Add(value);
  return writer.Take();
}

Status Set::Open() { return Open(TRY(keyspace_->FindTyped(*key_, Type::kSet))); }

Status Set::Open(KeyEntry entry) {
  entry_ = std::move(entry);
  if (!entry_.exists()) return Ok();
  switch (entry_.encoding()) {
    case Encoding::kIntegers: {
      const PackedIntegersReader reader(entry_.payload());
      TRY(EndOfIntegers(reader));
      integer_count_ = reader.count();
      is_large_ = entry_.grown();
      is_decoded_ = false;
      break;
    }
    case Encoding::kPacked:
      form_ = Form::kPacked;
      is_large_ = entry_.grown();
      TRY(packed_.Open(entry_.payload()));
      break;
    case Encoding::kSpread: {
      form_ = Form::kSpread;
      const SpreadPayload spread = TRY(DecodeSpreadPayload(entry_.payload()));
      spread_ = SpreadElements(keyspace_->txn(), spread.id, spread.count, key_->stripe());
      break;
    }
    default: return Status::Corruption("record: an invalid encoding for a set");
  }
  return size() == 0 ? Status::Corruption("record: a set without members") : Ok();
}

uint64_t Set::size() const {
  switch (form_) {
    case Form::kIntegers: return is_decoded_ ? integers_.size() : integer_count_;
    case Form::kPacked: return packed_.count();
    case Form::kSpread: return spread_.count();
  }
  return 0;
}

Result<bool> Set::Contains(std::string_view member, Access access) const {
  switch (form_) {
    case Form::kIntegers: {
      const auto value = ParseInt64(member);
      return value ? ContainsInteger(*value) : Result<bool>(false);
    }
    case Form::kPacked: return TRY(FindPacked(Item::FromText(member))).has_value();
    case Form::kSpread: break;
  }
  const RowRef row = TRY(spread_.Get(member, access));
  return static_cast<bool>(row);
}

// Finds a member of the packed set, and charges the walk.
Result<std::optional<PackedEntries::Entry>> Set::FindPacked(const Item& member) const {
  TRY(keyspace_->txn().command().SpendOnPacked(packed_.count()));
  return packed_.Find(member);
}

Result<bool> Set::ContainsInteger(int64_t value) const {
  if (is_decoded_) return std::binary_search(integers_.begin(), integers_.end(), value);
  TRY(keyspace_->txn().command().SpendOnPacked(integer_count_));
  PackedIntegersReader reader(entry_.payload());
  int64_t at;
  while (reader.Next(at)) {
    if (at >= value) return at == value;
  }
  TRY(EndOfIntegers(reader));
  return false;
}

Result<bool> Set::Add(std::string_view member) {
  if (form_ == Form::kIntegers) {
    const auto value = ParseInt64(member);
    if (value) return AddInteger(*value);
    TRY(Pack());
  }
  if (form_ == Form::kPacked) return AddPacked(member);
  const bool is_new = TRY(spread_.Add(member));
  record_changed_ |= is_new;
  return is_new;
}

Result<bool> Set::AddInteger(int64_t value) {
  TRY(Decode());
  const auto at = std::lower_bound(integers_.begin(), integers_.end(), value);
  if (at != integers_.end() && *at == value) return false;
  integers_.insert(at, value);
  record_changed_ = true;
  const Limits& limits = keyspace_->limits();
  is_large_ = is_large_ || integers_.size() > ReadLimit(limits.set_max_intset_entries);
  // Save checks the exact size, once; each integer takes at least a byte.
  if (integers_.size() > MostPackedBytes(limits, is_large_, integers_.size())) TRY(Pack());
  return true;
}

Result<bool> Set::AddPacked(std::string_view member) {
  const Item item = Item::FromText(member);
  if (TRY(FindPacked(item))) return false;
  record_changed_ = true;
  const Limits& limits = keyspace_->limits();
  is_large_ = is_large_ || member.size() > ReadLimit(limits.set_max_listpack_value);
  const bool is_too_long =
      is_large_ && packed_.payload().size() + member.size() > MostPackedBytes(limits, is_large_, packed_.count() + 1);
  if (!is_too_long) packed_.Append(item);
  if (is_too_long || !PackedFits()) TRY(Spread());
  return is_too_long ? spread_.Add(member) : Result<bool>(true);
}

bool Set::PackedFits() {
  const Limits& limits = keyspace_->limits();
  is_large_ = is_large_ || packed_.count() > ReadLimit(limits.set_max_listpack_entries);
  return packed_.payload().size() <= MostPackedBytes(limits, is_large_, packed_.count());
}

Status Set::Decode() {
  if (is_decoded_) return Ok();
  PackedIntegersReader reader(entry_.payload());
  integers_.reserve(std::min<uint64_t>(integer_count_, entry_.payload().size()) + 1);
  int64_t value;
  while (reader.Next(value)) integers_.push_back(value);
  is_decoded_ = true;
  return EndOfIntegers(reader);
}

Status Set::Pack() {
  TRY(Decode());
  std::string text;
  for (const int64_t value : integers_) {
    text.clear();
    AppendInt64(text, value);
    packed_.Append(Item::FromText(text));
  }
  integers_.clear();
  is_large_ = false;  // the limits of texts apply from now on
  form_ = Form::kPacked;
  return PackedFits() ? Ok() : Spread();
}

Status Set::Spread() {
  spread_ = SpreadElements(keyspace_->txn(), keyspace_->id(), key_->stripe());
  form_ = Form::kSpread;
  return VisitPacked(packed_, [this](std::string_view member) -> Result<bool> {
    spread_.PutNew(member, {});
    return true;
  });
}

Result<bool> Set::Remove(std::string_view member) {
  bool was_there = false;
  switch (form_) {
    case Form::kIntegers: was_there = TRY(RemoveInteger(member)); break;
    case Form::kPacked: was_there = TRY(RemovePacked(member)); break;
    case Form::kSpread: was_there = TRY(spread_.Remove(member)); break;
  }
  record_changed_ |= was_there;
  return was_there;
}

Result<bool> Set::RemoveInteger(std::string_view member) {
  const auto value = ParseInt64(member);
  if (!value) return false;
  TRY(Decode());
  const auto at = std::lower_bound(integers_.begin(), integers_.end(), *value);
  if (at == integers_.end() || *at != *value) return false;
  integers_.erase(at);
  return true;
}

Result<bool> Set::RemovePacked(std::string_view member) {
  const auto entry = TRY(FindPacked(Item::FromText(member)));
  if (entry) packed_.Erase(*entry);
  return entry.has_value();
}

Result<std::string> Set::Pop(uint64_t rank) {
  record_changed_ = true;
  if (form_ == Form::kSpread) {
    std::string suffix = TRY(spread_.SuffixAt(rank));
    spread_.RemoveBySuffix(suffix);
    return SpreadElements::MemberOf(std::move(suffix));
  }
  std::string member = TRY(At(rank));
  TRY(Remove(member));
  return member;
}

Result<std::vector<std::string>> Set::PopRanks(std::span<const uint64_t> ranks) {
  std::vector<std::string> members;
  members.reserve(ranks.size());
  TRY(ForEachRank(ranks, [&](std::string_view member) -> Result<bool> {
    keyspace_->txn().command().memory().Use(kBytesOfPopped + 2 * member.size());
    members.emplace_back(member);
    return true;
  }));
  record_changed_ = true;
  for (const std::string& member : members) {
    if (form_ == Form::kSpread) {
      spread_.RemoveKnown(member);
    } else {
      TRY(Remove(member));
    }
  }
  return members;
}

Status Set::Save() {
  if (!record_changed_) return Ok();
  record_changed_ = false;
  if (size() == 0) return exists() ? keyspace_->Remove(*key_, entry_) : Ok();
  switch (form_) {
    case Form::kIntegers: return SaveIntegers();
    case Form::kPacked: return keyspace_->Write(*key_, entry_, NewHeader(), packed_.payload());
    case Form::kSpread: break;
  }
  return SaveSpread();
}

Status Set::SaveIntegers() {
  const std::string payload = EncodeIntegers(integers_);
  if (payload.size() <= MostPackedBytes(keyspace_->limits(), is_large_, integers_.size())) {
    return keyspace_->Write(*key_, entry_, NewHeader(), payload);
  }
  TRY(Pack());
  if (form_ == Form::kPacked) return keyspace_->Write(*key_, entry_, NewHeader(), packed_.payload());
  return SaveSpread();
}

Status Set::SaveSpread() {
  std::string payload;
  AppendSpreadPayload(payload, spread_.id(), spread_.count());
  return keyspace_->Write(*key_, entry_, NewHeader(), payload);
}

RecordHeader Set::NewHeader() const {
  RecordHeader header;
  if (entry_.exists()) header = entry_.header();
  header.type = Type::kSet;
  switch (form_) {
    case Form::kIntegers: header.encoding = Encoding::kIntegers; break;
    case Form::kPacked: header.encoding = Encoding::kPacked; break;
    case Form::kSpread: header.encoding = Encoding::kSpread; break;
  }
  header.grown = is_large_ && form_ != Form::kSpread;
  return header;
}

Status Set::ForEach(MemberVisitor visit) const {
  if (form_ == Form::kSpread) {
    return spread_.ForEach([visit](std::string_view member, std::string_view) { return visit(member); });
  }
  return VisitSmall(visit);
}

Status Set::VisitSmall(MemberVisitor visit) const {
  if (form_ == Form::kPacked) return VisitPacked(packed_, visit);
  IntegerTexts texts(visit);
  if (is_decoded_) {
    for (const int64_t value : integers_) {
      if (!TRY(texts(value))) break;
    }
    return Ok();
  }
  PackedIntegersReader reader(entry_.payload());
  int64_t value;
  while (reader.Next(value)) {
    if (!TRY(texts(value))) return Ok();
  }
  return EndOfIntegers(reader);
}

Result<std::string> Set::At(uint64_t rank) const {
  if (form_ == Form::kSpread) {
    return SpreadElements::MemberOf(TRY(spread_.SuffixAt(rank)));
  }
  std::string found;
  TRY(ForEachRank({&rank, 1}, [&found](std::string_view member) -> Result<bool> {
    found = member;
    return false;
  }));
  return found;
}

Status Set::ForEachRank(std::span<const uint64_t> ranks, MemberVisitor visit) const {
  const auto visit_member = [visit](std::string_view member, std::string_view) { return visit(member); };
  if (form_ == Form::kSpread) return spread_.ForEachRank(ranks, false, visit_member);
  RankPicker picker(ranks, visit_member);
  return VisitSmall([&picker](std::string_view member) { return picker(member, {}); });
}

Result<uint64_t> Set::Scan(uint64_t position, uint64_t count, MemberVisitor visit) const {
  if (form_ == Form::kSpread) {
    return spread_.Scan(position, count, [visit](std::string_view member, std::string_view) { return visit(member); });
  }
  TRY(VisitSmall(visit));
  return uint64_t{0};
}

}  // namespace cairn
