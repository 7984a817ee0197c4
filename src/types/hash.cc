// SPDX-License-Identifier: BSD-3-Clause
#include "types/hash.h"

#include <algorithm>
#include <functional>

#include "encoding/varint.h"
#include "types/events.h"

namespace cairn {
namespace {

Result<bool> VisitPacked(const PackedEntries& packed, ElementVisitor visit) {
  PackedReader reader(packed.payload());
  Item field;
  Item value;
  std::string field_scratch;
  std::string value_scratch;
  uint64_t seen = 0;
  while (reader.Next(field)) {
    if (!reader.Next(value)) break;
    ++seen;
    if (!TRY(visit(field.Text(field_scratch), value.Text(value_scratch)))) return false;
  }
  if (!reader.status().ok()) return Status::Corruption(reader.status().text());
  if (seen != packed.count()) return Status::Corruption("packed hash: the count does not match the fields");
  return true;
}

// Appends these items as a packed hash to `payload`. Returns false if the limits do not allow it. `is_large`: see
// MostPackedBytes.
bool PackInto(std::string& payload, std::span<const Item> fields_and_values, const Limits& limits, PackRule rule,
              bool& is_large) {
  const uint64_t count = fields_and_values.size() / 2;
  is_large = count > ReadLimit(limits.hash_max_listpack_entries);
  const uint64_t longest = rule == PackRule::kCountOnly ? UINT64_MAX : ReadLimit(limits.hash_max_listpack_value);
  std::string scratch;
  AppendVarint(payload, count);
  for (const Item& item : fields_and_values) {
    is_large = is_large || item.Text(scratch).size() > longest;
    AppendItem(payload, item);
    if (payload.size() > MostPackedBytes(limits, is_large, count)) return false;
  }
  return true;
}

}  // namespace

Status Hash::Replace(Keyspace& keyspace, const Key& key, const KeyEntry& entry, std::span<const Item> fields_and_values,
                     PackRule rule) {
  RecordHeader header{.type = Type::kHash, .encoding = Encoding::kPacked};
  std::string payload;
  if (PackInto(payload, fields_and_values, keyspace.limits(), rule, header.grown)) {
    return keyspace.Write(key, entry, header, payload);
  }
  SpreadElements spread(keyspace.txn(), keyspace.id(), key.stripe());
  std::string field;
  std::string value;
  for (size_t i = 0; i + 1 < fields_and_values.size(); i += 2) {
    TRY(keyspace.txn().command().Spend(1));
    spread.PutNew(fields_and_values[i].Text(field), fields_and_values[i + 1].Text(value));
  }
  payload.clear();
  AppendSpreadPayload(payload, spread.id(), spread.count());
  header.encoding = Encoding::kSpread;
  header.grown = false;
  return keyspace.Write(key, entry, header, payload);
}

Status Hash::Open() { return Open(TRY(keyspace_->FindTyped(*key_, Type::kHash))); }

Status Hash::Open(KeyEntry entry) {
  entry_ = std::move(entry);
  if (!entry_.exists()) return Ok();
  std::string_view payload = entry_.payload();
  next_ms_ = entry_.fields_expire_ms();
  has_deadlines_ = next_ms_ != kNoExpiry;
  is_large_ = entry_.grown();
  switch (entry_.encoding()) {
    case Encoding::kPacked:
      if (has_deadlines_) deadlines_ = TRY(FieldDeadlines::TakeFrom(payload));
      TRY(packed_.Open(payload));
      break;
    case Encoding::kSpread: {
      const SpreadPayload spread = TRY(DecodeSpreadPayload(payload));
      spread_ = SpreadElements(keyspace_->txn(), spread.id, spread.count, key_->stripe());
      is_spread_ = true;
      if (has_deadlines_) TRY(OpenSpreadDeadlines(spread.rest));
      break;
    }
    default: return Status::Corruption("record: an invalid encoding for a hash");
  }
  fields_left_ = size();
  return fields_left_ == 0 ? Status::Corruption("record: a hash without fields") : Ok();
}

Status Hash::OpenSpreadDeadlines(std::string_view rest) {
  uint64_t count;
  if (!ReadVarint(rest, count)) return Status::Corruption("spread hash: the count of deadlines is cut short");
  deadlines_ = FieldDeadlines(keyspace_->txn(), spread_.id(), count, key_->stripe());
  return Ok();
}

Result<bool> Hash::IsDue(std::string_view field) const {
  if (!MayHaveDue()) return false;
  const int64_t when_ms = TRY(DeadlineOf(field));
  return when_ms != kNoExpiry && keyspace_->txn().command().HasPassed(when_ms);
}

// Emits events and replicates an HDEL for expired fields that are deleted. A replica keeps the fields until then, so
// this must precede what the command replicates. Fields of a keyspace without a database number are not replicated.
void Hash::EmitExpired(std::span<const std::string> fields) {
  Transaction& txn = keyspace_->txn();
  if (fields.empty() || txn.replicated_commands().interest() == 0) return;
  const int db = keyspace_->db() >= 0 ? keyspace_->db() : txn.databases().DatabaseOf(keyspace_->id());
  if (db < 0) return;
  if (WantsEvent(txn, kHashEvent)) EmitEvent(txn, db, "hexpired", key_->bytes());
  if (txn.replicated_commands().interest() & kInterestInKeys) {
    txn.notifications().Add({NotificationKind::kKeyChanged, std::string(key_->bytes()), {}});
  }
  if (!(txn.replicated_commands().interest() & kInterestInReplication)) return;
  std::vector<std::string_view> words = {"HDEL", key_->bytes()};
  words.insert(words.end(), fields.begin(), fields.end());
  txn.replicated_commands().Add(db, words);
}

// Prepares a change of a field. Returns true if it is expired but not deleted yet, and then emits its expiry. If it was
// the last live field, its key ends with its time to live, and a Set makes a new key, as in Redis.
Result<bool> Hash::EndDue(std::string_view field) {
  if (!TRY(IsDue(field))) return false;
  is_new_ = is_new_ || --fields_left_ == 0;
  const std::string name(field);
  EmitExpired(std::span(&name, 1));
  return true;
}

// Finds a field of the packed hash, and charges the walk.
Result<std::optional<PackedEntries::Entry>> Hash::FindPacked(const Item& field) const {
  TRY(keyspace_->txn().command().SpendOnPacked(packed_.count()));
  return packed_.Find(field);
}

// Charges a walk over the deadlines of a packed hash. Rows are charged by the transaction.
Status Hash::SpendOnDeadlines() const {
  return is_spread_ ? Ok() : keyspace_->txn().command().SpendOnPacked(deadlines_.count());
}

Result<FieldValue> Hash::Get(std::string_view field) const {
  if (TRY(IsDue(field))) return FieldValue();
  if (is_spread_) return FieldValue(TRY(spread_.Get(field)));
  const auto entry = TRY(FindPacked(Item::FromText(field)));
  return entry ? FieldValue(entry->value) : FieldValue();
}

// Decides whether the packed hash has room for this field.
bool Hash::FitsPacked(std::string_view field, std::string_view value) {
  const Limits& limits = keyspace_->limits();
  const uint64_t longest = ReadLimit(limits.hash_max_listpack_value);
  is_large_ = is_large_ || field.size() > longest || value.size() > longest;
  return packed_.payload().size() + deadlines_.packed_bytes() + field.size() + value.size() <=
         MostPackedBytes(limits, is_large_, packed_.count() + 1);
}

Result<bool> Hash::Set(std::string_view field, std::string_view value, Deadline deadline) {
  if (!has_deadlines_) return SetStored(field, value);
  const bool was_due = TRY(EndDue(field));
  if (was_due || deadline == Deadline::kClear) TRY(EraseDeadline(field));
  return TRY(SetStored(field, value)) || was_due;
}

Result<bool> Hash::SetStored(std::string_view field, std::string_view value) {
  if (!is_spread_ && !FitsPacked(field, value)) TRY(Spread());
  if (is_spread_) {
    const bool is_new = TRY(spread_.Put(field, value));
    record_changed_ |= is_new;
    return is_new;
  }
  record_changed_ = true;
  const Item name = Item::FromText(field);
  const auto entry = TRY(FindPacked(name));
  if (entry) {
    packed_.ReplaceValue(*entry, value);
    return false;
  }
  packed_.Append(name, value);
  is_large_ = is_large_ || packed_.count() > ReadLimit(keyspace_->limits().hash_max_listpack_entries);
  const uint64_t most_bytes = MostPackedBytes(keyspace_->limits(), is_large_, packed_.count());
  if (is_large_ && packed_.payload().size() > most_bytes) TRY(Spread());
  return true;
}

Result<bool> Hash::Remove(std::string_view field) {
  if (!has_deadlines_) return RemoveStored(field);
  const bool was_due = TRY(EndDue(field));
  TRY(EraseDeadline(field));
  return TRY(RemoveStored(field)) && !was_due;
}

Result<bool> Hash::RemoveStored(std::string_view field) {
  bool was_there;
  if (is_spread_) {
    was_there = TRY(spread_.Remove(field));
  } else {
    const auto entry = TRY(FindPacked(Item::FromText(field)));
    if (entry) packed_.Erase(*entry);
    was_there = entry.has_value();
  }
  record_changed_ |= was_there;
  return was_there;
}

Result<int64_t> Hash::DeadlineOf(std::string_view field) const {
  if (!has_deadlines_) return kNoExpiry;
  TRY(SpendOnDeadlines());
  return deadlines_.Of(field);
}

Status Hash::SetDeadline(std::string_view field, int64_t when_ms) {
  if (when_ms == kNoExpiry) return has_deadlines_ ? EraseDeadline(field) : Ok();
  if (!is_spread_ && !FitsPacked(field, {})) TRY(Spread());
  if (!has_deadlines_) {
    has_deadlines_ = true;
    next_ms_ = when_ms;
    if (is_spread_) deadlines_ = FieldDeadlines(keyspace_->txn(), spread_.id(), 0, key_->stripe());
  }
  TRY(SpendOnDeadlines());
  TRY(deadlines_.Put(field, when_ms));
  next_ms_ = std::min(next_ms_, when_ms);
  next_is_stale_ |= !is_spread_;
  record_changed_ = true;
  return Ok();
}

Status Hash::EraseDeadline(std::string_view field) {
  const uint64_t before = deadlines_.count();
  TRY(SpendOnDeadlines());
  TRY(deadlines_.Erase(field));
  if (deadlines_.count() == before) return Ok();
  next_is_stale_ |= !is_spread_;  // for a spread hash this costs a read; RemoveDue pays it if this was the earliest
  record_changed_ = true;
  return Ok();
}

Result<uint64_t> Hash::RemoveDue(uint64_t most, FieldPlace& left) {
  if (!MayHaveDue()) return uint64_t{0};
  if (left.when_ms < next_ms_) left = {next_ms_, {}};
  const std::vector<std::string> due = TRY(deadlines_.Due(left, keyspace_->now_ms(), most));
  for (const std::string& field : due) {
    TRY(EraseDeadline(field));
    TRY(RemoveStored(field));
  }
  if (due.size() < most) left = {};
  next_is_stale_ |= !is_spread_ || due.size() < most;  // otherwise more fields are due
  record_changed_ = true;
  EmitExpired(due);
  return due.size();
}

// Updates next_ms_ from the deadlines.
Status Hash::UpdateNext() {
  if (!has_deadlines_) return Ok();
  has_deadlines_ = deadlines_.count() > 0;
  if (has_deadlines_ && next_is_stale_) next_ms_ = TRY(deadlines_.Earliest(next_ms_));
  next_is_stale_ = false;
  return Ok();
}

Status Hash::Spread() {
  spread_ = SpreadElements(keyspace_->txn(), keyspace_->id(), key_->stripe());
  is_spread_ = true;
  record_changed_ = true;
  if (has_deadlines_) TRY(deadlines_.Spread(keyspace_->txn(), spread_.id(), key_->stripe()));
  TRY(VisitPacked(packed_, [this](std::string_view field, std::string_view value) -> Result<bool> {
    spread_.PutNew(field, value);
    return true;
  }));
  return Ok();
}

RecordHeader Hash::NewHeader() const {
  RecordHeader header;
  if (entry_.exists()) header = entry_.header();
  if (is_new_) header.expire_ms = kNoExpiry;
  header.type = Type::kHash;
  header.encoding = is_spread_ ? Encoding::kSpread : Encoding::kPacked;
  header.grown = is_large_ && !is_spread_;
  header.fields_expire_ms = has_deadlines_ ? next_ms_ : kNoExpiry;
  return header;
}

Status Hash::Save() {
  if (!record_changed_) return Ok();
  record_changed_ = false;
  if (size() == 0) return exists() ? keyspace_->Remove(*key_, entry_) : Ok();
  TRY(UpdateNext());
  if (!is_spread_ && !has_deadlines_) {
    return keyspace_->Write(*key_, entry_, NewHeader(), packed_.payload());
  }
  std::string payload;
  if (is_spread_) {
    AppendSpreadPayload(payload, spread_.id(), spread_.count());
    if (has_deadlines_) AppendVarint(payload, deadlines_.count());
  } else {
    deadlines_.AppendPacked(payload);
    payload.append(packed_.payload());
  }
  return keyspace_->Write(*key_, entry_, NewHeader(), payload);
}

Status Hash::ForEach(ElementVisitor visit) const {
  if (!MayHaveDue()) return ForEachStored(visit);
  return ForEachStored([&](std::string_view field, std::string_view value) -> Result<bool> {
    return TRY(IsDue(field)) || TRY(visit(field, value));
  });
}

Status Hash::ForEachStored(ElementVisitor visit) const {
  if (is_spread_) return spread_.ForEach(visit);
  TRY(VisitPacked(packed_, visit));
  return Ok();
}

Result<FieldPair> Hash::At(uint64_t rank, bool with_value) const {
  FieldPair pair;
  if (is_spread_) {
    const std::string suffix = TRY(spread_.SuffixAt(rank));
    pair.field = SpreadElements::MemberOf(suffix);
    if (with_value) pair.value = TRY(spread_.GetBySuffix(suffix)).bytes();
    return pair;
  }
  PackedEntries::Entry entry;
  Item field;
  TRY(packed_.At(rank, entry, field));
  pair.field = field.ToString();
  if (with_value) pair.value = entry.value.ToString();
  return pair;
}

Status Hash::ForEachRank(std::span<const uint64_t> ranks, bool with_values, ElementVisitor visit) const {
  if (is_spread_) return spread_.ForEachRank(ranks, with_values, visit);
  RankPicker picker(ranks, visit);
  TRY(VisitPacked(packed_, std::ref(picker)));
  return Ok();
}

Result<uint64_t> Hash::Scan(uint64_t position, uint64_t count, ElementVisitor visit) const {
  const auto visit_live = [&](std::string_view field, std::string_view value) -> Result<bool> {
    return TRY(IsDue(field)) || TRY(visit(field, value));
  };
  if (is_spread_) return spread_.Scan(position, count, visit_live);
  TRY(VisitPacked(packed_, visit_live));
  return uint64_t{0};
}

}  // namespace cairn
