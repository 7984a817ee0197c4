// SPDX-License-Identifier: BSD-3-Clause
#include "types/keyspace.h"

#include <algorithm>

#include "storage/rank_index.h"
#include "storage/store.h"
#include "types/events.h"

namespace cairn {
namespace {

constexpr uint64_t kMostSkippedSlots = 16;
// The most expired keys that a command deletes because it passed them in a Scan, so that it does not hold its thread
// for long. The expiry thread deletes the others.
constexpr int kMostNotedKeys = 256;

// The slot of the first live key from this slot on.
Result<std::optional<uint64_t>> NextSlot(Keyspace& keys, uint64_t slot) {
  std::optional<uint64_t> found;
  const auto take = [&](std::string_view key, const Record&) {
    found = KeyPosition(key) >> 32;
    return false;
  };
  TRY(keys.Scan(slot << 32, take));
  return found;
}

// A random slot with live keys, or none. A node of a cluster has keys in a part of the slots only, so the draw is
// repeated below a slot with none behind it. A slot behind a long gap would be drawn more often than others, so a draw
// that falls into a gap skips some slots.
Result<std::optional<uint64_t>> RandomSlot(Keyspace& keys, Random& random) {
  const std::optional<uint64_t> first = TRY(NextSlot(keys, 0));
  if (!first) return first;
  uint64_t end = uint64_t{1} << 14;
  while (end > *first) {
    const uint64_t start = *first + random.Below(end - *first);
    std::optional<uint64_t> slot = TRY(NextSlot(keys, start));
    if (!slot) {
      end = start;
      continue;
    }
    if (*slot == start) return slot;
    for (uint64_t skips = random.Below(kMostSkippedSlots); skips > 0; --skips) {
      slot = TRY(NextSlot(keys, *slot + 1));
      if (!slot) slot = first;
    }
    return slot;
  }
  return std::optional<uint64_t>();
}

}  // namespace

Result<KeyEntry> Keyspace::Find(const Key& key, Access access) {
  KeyEntry entry;
  entry.row_ = TRY(txn_.Get(key.row(), access));
  const bool emits_miss = emits_misses_ && WantsEvent(txn_, kMissEvent);
  if (!entry.row_) {
    txn_.command().CountLookup(false);
    if (emits_miss) EmitEvent(txn_, db_, "keymiss", key.bytes());
    return entry;
  }
  const Record record = TRY(DecodeRecord(entry.row_.bytes()));
  entry.stored_ = true;
  entry.stored_expire_ms_ = record.header.expire_ms;
  entry.stored_fields_expire_ms_ = record.header.fields_expire_ms;
  if (record.header.encoding == Encoding::kSpread) {
    entry.stored_collection_ = TRY(DecodeSpreadPayload(record.payload)).id;
  }
  entry.exists_ = !IsExpired(record.header);
  if (entry.exists_) {
    entry.record_ = record;
  } else {
    txn_.replicated_commands().NoteStaleKey(key.row().row(), txn_.databases().DatabaseOf(id_), emits_miss);
  }
  txn_.command().CountLookup(entry.exists_);
  return entry;
}

Result<KeyEntry> Keyspace::FindReplaced(const Key& key, size_t new_bytes) {
  if (new_bytes >= kLargeValueBytes && txn_.command().lane() == Lane::kFast) return Status::WouldWait();
  KeyEntry entry = TRY(Find(key, Access::kPeek));
  if (entry.payload().size() >= kLargeValueBytes) {
    entry.record_.payload = {};
    entry.row_ = RowRef();
  }
  return entry;
}

Result<KeyEntry> Keyspace::EntryOf(const Record& record) {
  KeyEntry entry;
  entry.record_ = record;
  entry.exists_ = entry.stored_ = true;
  entry.stored_expire_ms_ = record.header.expire_ms;
  entry.stored_fields_expire_ms_ = record.header.fields_expire_ms;
  if (record.header.encoding == Encoding::kSpread) {
    entry.stored_collection_ = TRY(DecodeSpreadPayload(record.payload)).id;
  }
  return entry;
}

Result<KeyEntry> Keyspace::FindTyped(const Key& key, Type type) {
  KeyEntry entry = TRY(Find(key));
  if (entry.exists() && entry.type() != type) return Status::Error(Code::kReply, std::string(kWrongType));
  return entry;
}

bool Keyspace::IsExpired(const RecordHeader& header) const {
  return header.expire_ms != kNoExpiry && txn_.command().HasPassed(header.expire_ms);
}

// Deletes what the stored value has in other spaces, except the collection `kept` and unchanged expiry rows.
void Keyspace::DropOld(const Key& key, const KeyEntry& entry, CollectionId kept, const RecordHeader& header) {
  if (!entry.stored_) return;
  for (const int64_t old_ms : {entry.stored_expire_ms_, entry.stored_fields_expire_ms_}) {
    if (old_ms == kNoExpiry || old_ms == header.expire_ms || old_ms == header.fields_expire_ms) continue;
    txn_.Delete(MakeExpiryRow(old_ms, key.row().row(), key.stripe()));
  }
  if (entry.stored_collection_ != 0 && entry.stored_collection_ != kept) {
    txn_.Delete(MakeOwnerRow(entry.stored_collection_, key.stripe()));
    txn_.ranks().Drop(entry.stored_collection_, key.stripe());
    txn_.on_commit().NoteDeadCollection(entry.stored_collection_);
  }
}

// Writes the expiry rows of times that the stored value did not have, and those of a value that was one row and no
// longer is, or the other way round.
void Keyspace::PutExpiryRows(const Key& key, const KeyEntry& entry, const RecordHeader& header) {
  const bool is_one_row = header.encoding != Encoding::kSpread && header.fields_expire_ms == kNoExpiry;
  const bool was_one_row = entry.stored_collection_ == 0 && entry.stored_fields_expire_ms_ == kNoExpiry;
  const auto put = [&](int64_t when_ms, NotificationKind kind) {
    if (when_ms == kNoExpiry) return;
    const bool has_row =
        entry.stored_ && (when_ms == entry.stored_expire_ms_ || when_ms == entry.stored_fields_expire_ms_);
    if (has_row && is_one_row == was_one_row) return;
    txn_.Put(MakeExpiryRow(when_ms, key.row().row(), key.stripe()), is_one_row ? kExpiresOneRow : "");
    if (has_row) return;
    txn_.on_commit().NoteExpiry(when_ms);
    NotifyExpiry(key, when_ms, kind);
  };
  put(header.expire_ms, NotificationKind::kKeyExpires);
  put(header.fields_expire_ms, NotificationKind::kFieldsExpire);
}

void Keyspace::NotifyExpiry(const Key& key, int64_t when_ms, NotificationKind kind) {
  if (!(txn_.replicated_commands().interest() & kInterestInExpiries) || txn_.command().keeps_expired()) return;
  txn_.notifications().Add({kind, std::string(key.row().row()), {}, static_cast<uint64_t>(when_ms)});
}

// Emits the expiry of a key that is being deleted. A key of a keyspace without a database number, or of one that is
// being loaded, was never visible, so nothing is emitted.
void Keyspace::EmitExpired(const Key& key) {
  txn_.command().CountExpired();
  if (txn_.replicated_commands().interest() == 0) return;
  const int db = db_ >= 0 ? db_ : txn_.databases().DatabaseOf(id_);
  if (db < 0) return;
  if (WantsEvent(txn_, kExpiredEvent)) EmitEvent(txn_, db, "expired", key.bytes());
  if (txn_.replicated_commands().interest() & kInterestInKeys) {
    txn_.notifications().Add({NotificationKind::kKeyChanged, std::string(key.bytes()), {}});
  }
  txn_.replicated_commands().ReplicateStaleKeys();
}

void Keyspace::EmitNew(const Key& key) {
  if (emits_new_ && WantsEvent(txn_, kNewEvent)) EmitEvent(txn_, db_, "new", key.bytes());
}

Status Keyspace::Write(const Key& key, const KeyEntry& entry, const RecordHeader& header, std::string_view payload) {
  CollectionId collection = 0;
  if (header.encoding == Encoding::kSpread) collection = TRY(DecodeSpreadPayload(payload)).id;
  DropOld(key, entry, collection, header);
  PutExpiryRows(key, entry, header);
  if (collection != 0 && (!entry.stored_ || entry.stored_collection_ != collection)) {
    txn_.Put(MakeOwnerRow(collection, key.stripe()), key.row().row());
  }
  if (!entry.stored_) txn_.databases().AddKeys(id_, 1);
  if (entry.stored_ && !entry.exists_) EmitExpired(key);
  if (!entry.exists_) EmitNew(key);
  scratch_.clear();
  AppendRecordHeader(scratch_, header);
  txn_.Put(key.row(), scratch_, payload);
  return Ok();
}

Status Keyspace::Remove(const Key& key, const KeyEntry& entry) {
  if (!entry.stored_) return Ok();
  DropOld(key, entry, 0, RecordHeader());
  txn_.Delete(key.row());
  txn_.databases().AddKeys(id_, -1);
  if (!entry.exists_) EmitExpired(key);
  return Ok();
}

void Keyspace::RemoveExpiredRow(const Key& key, int64_t when_ms) {
  txn_.replicated_commands().NoteStaleKey(key.row().row(), txn_.databases().DatabaseOf(id_), false);
  txn_.Delete(MakeExpiryRow(when_ms, key.row().row(), key.stripe()));
  txn_.Delete(key.row());
  txn_.databases().AddKeys(id_, -1);
  EmitExpired(key);
}

Status Keyspace::SetExpiry(const Key& key, const KeyEntry& entry, int64_t expire_ms) {
  RecordHeader header = entry.header();
  header.expire_ms = expire_ms;
  return Write(key, entry, header, entry.payload());
}

Status Keyspace::Move(Keyspace& from, const Key& source, const KeyEntry& entry, Keyspace& to, const Key& target) {
  const KeyEntry old = TRY(to.Find(target, Access::kPeek));
  Transaction& txn = from.txn_;
  if (entry.stored_collection_ != 0) {
    for (const Key* key : {&source, &target}) txn.ranks().Drop(entry.stored_collection_, key->stripe());
  }
  if (old.exists()) to.EmitNew(target);
  TRY(to.Write(target, old, entry.header(), entry.payload()));
  for (const int64_t when_ms : {entry.stored_expire_ms_, entry.stored_fields_expire_ms_}) {
    if (when_ms != kNoExpiry) txn.Delete(MakeExpiryRow(when_ms, source.row().row(), source.stripe()));
  }
  txn.Delete(source.row());
  txn.databases().AddKeys(from.id_, -1);
  return Ok();
}

Result<uint64_t> Keyspace::Scan(uint64_t position, const std::function<bool(std::string_view, const Record&)>& visit) {
  constexpr uint64_t kEnd = uint64_t{1} << kPositionBits;
  bool wants_more = true;
  int notes_left = kMostNotedKeys;
  // Visits the keys below `end`; 0: it has reached the end.
  const auto scan_to = [&](uint64_t end) -> Result<uint64_t> {
    Cursor cursor = txn_.Scan(MakeKeyBound(id_, position), MakeKeyBound(id_, end));
    uint64_t last = 0;
    for (; cursor.Valid(); cursor.Next()) {
      KeyRowParts parts;
      if (!ParseKeyRow(cursor.row(), parts)) return Status::Corruption("key row: shorter than its head");
      if (!wants_more && parts.position != last) return last + 1;
      const Record record = TRY(DecodeRecord(cursor.value()));
      if (IsExpired(record.header)) {
        if (notes_left-- > 0) {
          txn_.replicated_commands().NoteStaleKey(cursor.row(), txn_.databases().DatabaseOf(id_), false);
        }
        continue;
      }
      last = parts.position;
      wants_more = visit(parts.key, record) && wants_more;
    }
    TRY(cursor.TakeStatus());
    return uint64_t{0};
  };
  const HiddenSlots& hidden = txn_.store().staging().hidden_slots();
  if (!hidden.any() || txn_.reads_snapshot()) return scan_to(kEnd);
  while (position < kEnd && wants_more) {
    const int shown = hidden.Next(SlotOfPosition(position), false);
    position = std::max(position, PositionOfSlot(shown));
    const uint64_t end = PositionOfSlot(hidden.Next(shown, true));
    if (const uint64_t next = position < kEnd ? TRY(scan_to(end)) : 0; next != 0) return next;
    position = end;
  }
  return position < kEnd ? position : 0;
}

// Picks a random slot, then a random position in it. Keys that share a hash tag are all in one slot; with a single
// choice only the first of them would ever be returned.
Result<std::optional<std::string>> Keyspace::RandomKey(Random& random) {
  const std::optional<uint64_t> slot = TRY(RandomSlot(*this, random));
  if (!slot) return std::optional<std::string>();
  std::vector<std::string> keys;
  const auto take = [&](std::string_view key, const Record&) {
    if (KeyPosition(key) >> 32 == *slot) keys.emplace_back(key);
    return false;
  };
  TRY(Scan(*slot << 32 | (random.Next() & 0xffffffff), take));
  if (keys.empty()) TRY(Scan(*slot << 32, take));
  if (keys.empty()) return std::optional<std::string>();
  return std::optional<std::string>(keys[random.Below(keys.size())]);
}

}  // namespace cairn
