// SPDX-License-Identifier: BSD-3-Clause
#include "types/expiry.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "storage/store.h"
#include "types/events.h"
#include "types/hash.h"
#include "types/keyspace.h"

namespace cairn {
namespace {

constexpr size_t kKeysPerCommit = 64;
constexpr size_t kMostPlaces = 1000;         // of hashes with due fields left
constexpr uint64_t kFieldsPerCommit = 2000;  // of one hash; the next round continues

// Data that is being loaded expires after its adoption: until then only the loader writes it.
bool IsStaged(Store& store, KeyspaceId keyspace) {
  if (!store.databases().is_staging()) return false;
  for (int db = 0; db < store.databases().size(); ++db) {
    if (store.databases().staged(db) == keyspace) return true;
  }
  return false;
}

// Another node decides when the key expires, or it is being deleted with its slot.
bool IsHidden(Store& store, const KeyRowParts& parts) {
  return store.staging().hidden_slots().Has(SlotOfPosition(parts.position));
}

// Reads up to `most` due rows. `next` becomes the first row not read, or the end of time. The next round begins there,
// so the caller must delete all rows it was given. Rows of staged keyspaces are left out. After an error, `due` has the
// rows before it.
Status ReadDue(Transaction& txn, const RowKey& from, int64_t now_ms, size_t most, std::vector<DueRow>& due,
               DueRow& next) {
  next = {INT64_MAX, {}};
  Cursor cursor = txn.Scan(from, MakeExpiryRow(INT64_MAX, {}, 0));
  for (; cursor.Valid(); cursor.Next()) {
    int64_t when_ms;
    std::string_view key_row;
    if (!ParseExpiryRow(cursor.row(), when_ms, key_row)) return Status::Corruption("expiry row: cut short");
    if (when_ms > now_ms || due.size() == most) {
      next = {when_ms, std::string(key_row)};
      break;
    }
    KeyRowParts parts;
    if (!ParseKeyRow(key_row, parts) || IsStaged(txn.store(), parts.keyspace)) continue;
    due.push_back({when_ms, std::string(key_row), cursor.value() == kExpiresOneRow});
  }
  return cursor.TakeStatus();
}

// Deletes expired fields of a hash, and the key with its last field.
Status DeleteDueFields(Keyspace& keyspace, const Key& key, KeyEntry entry) {
  Hash hash(keyspace, key);
  TRY(hash.Open(std::move(entry)));
  auto& places = keyspace.txn().store().expiry_start(ModeOfKeyspace(keyspace.id())).fields_left();
  FieldPlace& left = places[std::string(key.row().row())];
  const uint64_t removed = TRY(hash.RemoveDue(kFieldsPerCommit, left));
  const bool is_gone = removed > 0 && hash.size() == 0;
  TRY(hash.Save());
  if (is_gone || !hash.MayHaveDue() || places.size() > kMostPlaces) places.erase(std::string(key.row().row()));
  Transaction& txn = keyspace.txn();
  if (hash.MayHaveDue()) {  // its expiry row exists already
    txn.on_commit().NoteExpiry(hash.next_deadline_ms());
    keyspace.NotifyExpiry(key, hash.next_deadline_ms(), NotificationKind::kFieldsExpire);
  }
  const int db = txn.databases().DatabaseOf(keyspace.id());  // -1: not a database of this run
  if (is_gone && db >= 0 && WantsEvent(txn, kGenericEvent)) EmitEvent(txn, db, "del", key.bytes());
  return Ok();
}

// What has become of a due row since it was read.
enum class DueState : unsigned char { kGone, kOneRow, kOther };

// The states of these rows, which are in order and of one engine: one walk costs less than a look-up for each. Those
// whose values must be read anyway are kOther. REQUIRES: the stripes of their keys are held, and no changes of them.
Result<std::vector<DueState>> StatesOf(Transaction& txn, std::span<const DueRow> due) {
  std::vector<DueState> states(due.size(), DueState::kOther);
  if (std::ranges::none_of(due, &DueRow::is_one_row)) return states;  // they may be in any order
  Cursor cursor = txn.Scan(MakeExpiryRow(due.front().when_ms, due.front().key_row, 0),
                           MakeExpiryRow(due.back().when_ms + 1, {}, 0));
  for (size_t i = 0; i < due.size(); ++i) {
    if (!due[i].is_one_row) continue;
    const RowKey row = MakeExpiryRow(due[i].when_ms, due[i].key_row, 0);
    while (cursor.Valid() && cursor.row() < row.row()) cursor.Next();
    if (!cursor.Valid() || cursor.row() != row.row()) {
      states[i] = DueState::kGone;
    } else if (cursor.value() == kExpiresOneRow) {
      states[i] = DueState::kOneRow;
    }
  }
  TRY(cursor.TakeStatus());
  return states;
}

// Deletes a key by its expiry row alone, which is as long there as the key has this expiry. Returns false if the value
// must be read first.
bool DeleteOneRow(Keyspace& keyspace, const Key& key, const DueRow& row, DueState state) {
  Transaction& txn = keyspace.txn();
  if (state == DueState::kOther) return false;
  if (!txn.command().HasPassed(row.when_ms) || !txn.store().databases().IsLive(keyspace.id())) return false;
  if (state == DueState::kOneRow) keyspace.RemoveExpiredRow(key, row.when_ms);
  return true;
}

// Deletes the key or the hash fields of an expiry row that are still due. The expiry row is deleted with its key or
// field; a stale row, or one of a dropped keyspace, is deleted alone. (Snapshots still see it: unlike a compaction
// filter's removal, this is an ordinary delete.)
Status DeleteDueRow(Transaction& txn, const Limits& limits, int64_t now_ms, const DueRow& row, DueState state,
                    const KeyRowParts& parts) {
  Keyspace keyspace = Keyspace::ById(txn, parts.keyspace, limits);
  const Key key = keyspace.Name(parts.key);
  if (IsHidden(txn.store(), parts)) return Ok();  // its row is read again when the slot is shown
  if (DeleteOneRow(keyspace, key, row, state)) return Ok();
  KeyEntry entry;
  if (txn.store().databases().IsLive(parts.keyspace)) entry = TRY(keyspace.Find(key, Access::kPeek));
  if (entry.IsStoredExpired()) return keyspace.Remove(key, entry);
  if (entry.fields_expire_ms() != kNoExpiry && entry.fields_expire_ms() <= now_ms) {
    return DeleteDueFields(keyspace, key, std::move(entry));
  }
  txn.Delete(MakeExpiryRow(row.when_ms, row.key_row, key.stripe()));
  return Ok();
}

// Deletes what is due of these rows, without a commit.
Status DeleteDue(Transaction& txn, const Limits& limits, int64_t now_ms, std::span<const DueRow> due,
                 absl::FunctionRef<bool()> may_expire) {
  txn.BeginCommand(Lane::kSlow, now_ms, false);
  txn.replicated_commands().SetApart();
  std::vector<uint32_t> stripes;
  for (const DueRow& row : due) {
    KeyRowParts parts;
    if (ParseKeyRow(row.key_row, parts)) stripes.push_back(StripeOf(parts.key));
  }
  TRY(txn.Lock(stripes));
  if (!may_expire()) return Status::WouldWait();
  const std::vector<DueState> states = TRY(StatesOf(txn, due));
  for (size_t i = 0; i < due.size(); ++i) {
    KeyRowParts parts;
    if (ParseKeyRow(due[i].key_row, parts)) TRY(DeleteDueRow(txn, limits, now_ms, due[i], states[i], parts));
  }
  return txn.FinishCommand();
}

void EmitMiss(Transaction& txn, const KeyRowParts& parts) {
  EmitEvent(txn, txn.databases().DatabaseOf(parts.keyspace), "keymiss", parts.key);
}

}  // namespace

void EmitMisses(Transaction& txn, std::span<const StaleKey> found) {
  for (const StaleKey& stale : found) {
    KeyRowParts parts;
    if (stale.missed && ParseKeyRow(stale.row, parts) && txn.databases().Has(parts.keyspace)) EmitMiss(txn, parts);
  }
}

Status ExpireKeys(Transaction& txn, const Limits& limits, std::span<const StaleKey> found) {
  txn.replicated_commands().SetApart();
  for (const StaleKey& stale : found) {
    KeyRowParts parts;
    if (!ParseKeyRow(stale.row, parts) || !txn.databases().Has(parts.keyspace)) continue;
    Keyspace keyspace = Keyspace::ById(txn, parts.keyspace, limits);
    const Key key = keyspace.Name(parts.key);
    const uint32_t stripes[] = {key.stripe()};
    TRY(txn.Lock(stripes));
    const KeyEntry entry = TRY(keyspace.Find(key, Access::kPeek));
    if (entry.IsStoredExpired()) TRY(keyspace.Remove(key, entry));
    if (stale.missed) EmitMiss(txn, parts);
  }
  return Ok();
}

ExpiredRows ExpireRows(Transaction& txn, const Limits& limits, int64_t now_ms, std::span<const DueRow> rows,
                       absl::FunctionRef<bool()> may_expire) {
  ExpiredRows expired;
  size_t one_by_one_to = 0;  // the end of a batch with a row that cannot be read
  while (expired.done < rows.size()) {
    const bool is_single = expired.done < one_by_one_to;
    const size_t count = is_single ? 1 : std::min<size_t>(kKeysPerCommit, rows.size() - expired.done);
    Status status = DeleteDue(txn, limits, now_ms, rows.subspan(expired.done, count), may_expire);
    const bool is_unreadable = status.Is(Code::kIo) || status.Is(Code::kCorruption);
    if (status.ok()) status = txn.Commit(CommitMode::kWait);
    if (!status.ok()) {
      txn.AbandonCommand();
      txn.Discard();
      expired.status = std::move(status);
      if (!is_unreadable) break;
      if (count > 1) {
        one_by_one_to = expired.done + count;
        continue;
      }
      expired.unreadable.push_back(rows[expired.done]);
    }
    expired.done += count;
  }
  return expired;
}

namespace {

// ExpireDue for the rows of one engine.
Result<uint64_t> ExpireDueIn(StorageMode mode, Transaction& txn, const Limits& limits, int64_t now_ms, uint64_t most,
                             absl::FunctionRef<bool()> may_expire) {
  ExpiryStart& start = txn.store().expiry_start(mode);
  start.RetrySkipped(MonotonicMs());
  if (!start.IsDue(now_ms)) return uint64_t{0};
  const RowKey from = start.Take();
  txn.BeginCommand(Lane::kSlow, now_ms, false);
  std::vector<DueRow> due;
  DueRow next;
  Status read = ReadDue(txn, from, now_ms, most, due, next);
  ExpiredRows expired = ExpireRows(txn, limits, now_ms, due, may_expire);
  const bool has_ended = expired.done == due.size();
  if (!has_ended) next = due[expired.done];
  bool is_news = false;
  if (has_ended && !read.ok()) {
    is_news = start.Skip(due.empty() ? start.left_ms() : due.back().when_ms, MonotonicMs());
    next = {now_ms + 1, {}};  // the rows of later times may be readable
  }
  for (const DueRow& row : expired.unreadable) is_news = start.Skip(row.when_ms, MonotonicMs()) || is_news;
  start.Leave(next.when_ms, next.key_row);
  if (expired.status.Is(Code::kWouldWait)) return expired.done;
  if (!has_ended) return std::move(expired.status);
  if (is_news) return read.ok() ? std::move(expired.status) : std::move(read);
  return expired.done;
}

}  // namespace

Result<uint64_t> ExpireDue(Transaction& txn, const Limits& limits, int64_t now_ms, uint64_t most,
                           absl::FunctionRef<bool()> may_expire) {
  Result<uint64_t> on_disk = ExpireDueIn(StorageMode::kSsd, txn, limits, now_ms, most, may_expire);
  if (txn.store().engines().memory() == nullptr) return on_disk;
  const uint64_t in_memory = TRY(ExpireDueIn(StorageMode::kMemory, txn, limits, now_ms, most, may_expire));
  return TRY(std::move(on_disk)) + in_memory;
}

}  // namespace cairn
